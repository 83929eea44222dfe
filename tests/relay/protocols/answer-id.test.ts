import { describe, expect, test } from 'vitest';
import { byteByByte, type Golden, goldens } from '../providers/golden.js';
import { answerSentTo } from '../providers/received-answer.js';

/* By which upstream names its answer, read of each wire: what a provider's export of usage may list it by. */

function idRead({ provider, channel, caller, info, upstream, stream }: Golden): string | undefined {
  if (!stream) {
    const answer = provider.protocol.answer({
      ...{ provider, channel, caller, info },
      ...{ status: 200, headers: {}, body: upstream },
    });
    if (!answer.ok) throw new Error(answer.error.message);
    return answer.generated.answerId;
  }
  const decoder = provider.protocol.stream({ provider, channel, caller, info });
  for (const piece of byteByByte(upstream)) decoder.push(piece);
  return decoder.generated.answerId;
}

const recorded = (name: string): Golden => {
  const golden = goldens.find((one) => one.name === name);
  if (golden === undefined) throw new Error('The recorded answer is missing');
  return golden;
};

describe('an answer is known by the id that upstream has given it', () => {
  test.each([
    ['openai/answer-with-byte-order-mark', 'chatcmpl-r1'],
    ['openai/messages-stream', 'chatcmpl-B9'],
    ['openai/chat-by-responses', 'resp_1'],
    ['openai/stream-chat-by-responses', 'resp_1'],
    ['openai/moderation-of-parts', 'modr-970d409ef3bef3b70c73d8232df86e7d'],
    ['azure/stream-content-filter', 'chatcmpl-az1'],
    ['openrouter/stream-comments-and-reasoning', 'gen-175'],
    ['anthropic/conversation', 'msg_01Rk'],
    ['anthropic/own-stream', 'msg_01Rk'],
    ['google-gemini/conversation', 'resp-1'],
    ['google-gemini/stream-thoughts-and-calls', 'resp-2'],
    ['cohere/conversation', 'c0ffee'],
    ['cohere/stream-tools', 'm1'],
    ['cohere/rerank-search-units', '07734bd2-2473-4f07-94e1-0d9f0e6843cf'],
    ['dashscope/embeddings-of-pictures', '1fff9502-a6c5-9472-9ee1-73930fdd04c5'],
    ['dify/stream-agent', 'm-1'],
  ])('%s: %s', (name, id) => {
    expect(idRead(recorded(name))).toBe(id);
  });

  test.each([
    'ollama/conversation',
    'ollama/stream-tools',
    'aws-claude/converse-answer',
    'cloudflare/completion-stream',
  ])('and by none where it was made here: %s', (name) => {
    expect(idRead(recorded(name))).toBeUndefined();
  });

  const odd = ['', 'a b', 'a\nb', 'ünreadable', 'x'.repeat(129), 7, null, {}, ['a'], true];
  test.each(odd.map((id) => [JSON.stringify(id), id] as const))('and by none where that is %s', (_, id) => {
    const choice = { index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' };
    const body = Buffer.from(JSON.stringify({ id, object: 'chat.completion', created: 1, choices: [choice] }));
    expect(idRead(answerSentTo('openai', 1, false, body))).toBeUndefined();
  });
});
