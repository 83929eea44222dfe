import { describe, expect, test } from 'vitest';
import { messages } from '../../../../src/relay/dialects/anthropic/endpoints/messages.js';
import { generateContent } from '../../../../src/relay/dialects/gemini/endpoints/generate-content.js';
import { isObject, type JsonObject, objectsIn } from '../../../../src/relay/json/json.js';
import { eventText, messageOf } from '../../../support/upstreams/anthropic-upstream.js';
import {
  byteByByte,
  callerOf,
  type Golden,
  plainChannel,
  play,
  providerOfType,
  usualOptions,
} from '../../providers/golden.js';

/* What Anthropic's answers cite, as clients of every dialect are told it. */

const page = (url: string, title?: string): JsonObject => ({
  ...{ type: 'web_search_result_location', url, cited_text: 'x', encrypted_index: 'E==' },
  ...(title !== undefined && { title }),
});
const inDocument = {
  type: 'char_location',
  document_index: 0,
  start_char_index: 0,
  end_char_index: 9,
  cited_text: 'x',
};

const message = messageOf([
  { type: 'text', text: 'Hér: ' },
  {
    type: 'text',
    text: 'rain 🌧.',
    citations: [page('https://a.example/', 'A'), inDocument, page('https://b.example/')],
  },
  { type: 'text', text: ' And no more.' },
]);
const [head, ...blocks] = [message, ...objectsIn(message.content)];

const events: JsonObject[] = [
  { type: 'message_start', message: { ...head, content: [] } },
  ...blocks.flatMap(({ text, citations }, index): JsonObject[] => [
    { type: 'content_block_start', index, content_block: { type: 'text', text: '', citations: [] } },
    ...objectsIn(citations).map((citation) => ({
      type: 'content_block_delta',
      index,
      delta: { type: 'citations_delta', citation },
    })),
    { type: 'content_block_delta', index, delta: { type: 'text_delta', text: text ?? '' } },
    { type: 'content_block_stop', index },
  ]),
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 10 } },
  { type: 'message_stop' },
];
const streamed = Buffer.from(events.map(eventText).join(''));

const goldenOf = (stream: boolean, dialect?: Golden['caller']['dialect']): Golden => {
  const plain = callerOf('chat', { model: 'm', stream });
  return {
    ...{ name: 'citations', provider: providerOfType(14), channel: plainChannel, upstreamModel: 'm' },
    caller: dialect === undefined ? plain : { ...plain, dialect },
    options: usualOptions,
    info: { callId: 'call-1', model: 'm', createdAt: 0 },
    ...{ sent: { url: '', headers: {}, body: {} }, upstream: Buffer.alloc(0), stream, answer: null, expected: {} },
  };
};

function wholeFor(golden: Golden): JsonObject {
  const { provider, channel, caller, info } = golden;
  const body = Buffer.from(JSON.stringify(message));
  const answer = provider.protocol.answer({
    provider,
    channel,
    caller,
    status: 200,
    headers: { 'content-type': 'application/json' },
    body,
    info,
  });
  if (!answer.ok) throw new Error(answer.error.message);
  return JSON.parse(caller.dialect.whole(answer, caller, channel).toString('utf8'));
}

/** Every payload of a stream. */
const payloadsOf = (answer: string): JsonObject[] =>
  answer.split('\n\n').flatMap((frame) => {
    const [, json] = /^data: (\{.*)$/m.exec(frame) ?? [];
    return json === undefined ? [] : [JSON.parse(json)];
  });

const cited = (url: string, title: string) => ({
  type: 'url_citation',
  url_citation: { url, title, start_index: 5, end_index: 13 },
});
const annotations = [cited('https://a.example/', 'A'), cited('https://b.example/', '')];
const groundingChunks = [
  { web: { uri: 'https://a.example/', title: 'A' } },
  { web: { uri: 'https://b.example/', title: '' } },
];

describe('the citations in an answer of Anthropic’s', () => {
  test('are annotations of the cited text for OpenAI’s clients', () => {
    const [choice] = objectsIn(wholeFor(goldenOf(false)).choices);
    expect(choice?.message).toMatchObject({ content: 'Hér: rain 🌧. And no more.', annotations });
  });

  test('are the same in a stream, wherever it is cut', () => {
    for (const pieces of [[streamed], byteByByte(streamed)]) {
      const { answer } = play(goldenOf(true), pieces);
      const deltas = payloadsOf(answer)
        .flatMap(({ choices }) => objectsIn(choices))
        .map(({ delta }) => (isObject(delta) ? delta : {}));
      expect(deltas.flatMap((delta) => objectsIn(delta.annotations))).toEqual(annotations);
    }
  });

  test('are grounding metadata for Gemini’s clients', () => {
    const [candidate] = objectsIn(wholeFor(goldenOf(false, generateContent.dialect)).candidates);
    expect(candidate?.groundingMetadata).toEqual({ groundingChunks });
    const { answer } = play(goldenOf(true, generateContent.dialect), [streamed]);
    const reported = payloadsOf(answer).flatMap(({ candidates }) => objectsIn(candidates));
    expect(reported.flatMap(({ groundingMetadata }) => groundingMetadata ?? [])).toEqual([{ groundingChunks }]);
  });

  test('reach Anthropic’s clients unchanged', () => {
    expect(wholeFor(goldenOf(false, messages.dialect))).toEqual(message);
    expect(play(goldenOf(true, messages.dialect), byteByByte(streamed)).answer).toBe(streamed.toString('utf8'));
  });
});
