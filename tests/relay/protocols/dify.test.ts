import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { ThinkingBlock } from '../../../src/relay/protocols/dify/thinking-block.js';
import { wordsOf } from '../../../src/relay/upstream/request-content.js';
import { callerOf, type Golden, plainChannel, play, providerOfType, usualOptions } from '../providers/golden.js';

const provider = providerOfType(37);
const message = { role: 'user', content: 'hi' };

interface Asking {
  readonly other?: string;
  readonly keepsUpstream?: boolean;
}

function requestOf(body: JsonObject, { other = '', keepsUpstream = true }: Asking = {}) {
  const caller = callerOf('chat', { model: 'dify', messages: [message], ...body });
  const options = { ...usualOptions, keepsUpstream };
  return provider.protocol.request({ provider, channel: { ...plainChannel, other }, caller, model: 'dify', options });
}

describe('a question to an app of Dify', () => {
  test.each<readonly [string, JsonObject] | readonly [string, JsonObject, Asking]>([
    ['tools:', { tools: [{ type: 'function', function: { name: 'a' } }] }],
    ['n:', { n: 2 }],
    ['response_format:', { response_format: { type: 'json_object' } }],
    ['conversation_id:', { conversation_id: 'c-1' }, { other: 'workflow' }],
    ['conversation_id:', { conversation_id: 'c-1' }, { keepsUpstream: false }],
    ['messages[0].content[0].image_url:', { messages: [{ role: 'user', content: [{ type: 'image_url' }] }] }],
    ['inputs', { inputs: ['a'] }],
    [
      'inputs.papers[0].upload_file_id',
      { inputs: { papers: [{ transfer_method: 'local_file', upload_file_id: 'f' }] } },
    ],
    ['inputs.paper.transfer_method', { inputs: { paper: { type: 'document', transfer_method: 'local_file' } } }],
    ['inputs.paper.url', { inputs: { paper: { transfer_method: 'remote_url', url: 'file:///etc/hosts' } } }],
    ['inputs:', { inputs: { deep: JSON.parse(`${'['.repeat(80)}${']'.repeat(80)}`) } }],
    ['messages[0].content[0].type:', { messages: [{ role: 'user', content: [{ type: 'video_url' }] }] }],
  ])('is refused with the name of %s, which the app does not take', (name, body, asking?: Asking) => {
    expect(() => requestOf(body, asking)).toThrow(name);
  });

  test('has the files among its inputs that are named by an address, and other values as they are', () => {
    const inputs = { paper: { type: 'document', transfer_method: 'remote_url', url: 'https://a.example/p.pdf' }, n: 3 };
    expect(JSON.parse(wordsOf(requestOf({ inputs }).content)).inputs).toEqual(inputs);
  });

  test('is a fault of the channel where the kind of its app is unknown', () => {
    expect(() => requestOf({}, { other: 'chatbot' })).toThrow(expect.objectContaining({ fault: 'channel' }));
  });

  test.each([
    ['', '/v1/chat-messages', 'blocking', false],
    ['agent', '/v1/chat-messages', 'streaming', true],
    ['completion:topic', '/v1/completion-messages', 'blocking', false],
    ['workflow', '/v1/workflows/run', 'blocking', false],
  ])('of kind %j is sent to %s, %s', (other, path, mode, gathers) => {
    const request = requestOf({}, { other });
    expect(request.url).toBe(`https://api.dify.ai${path}`);
    expect(JSON.parse(wordsOf(request.content)).response_mode).toBe(mode);
    expect(request.gathers ?? false).toBe(gathers);
  });
});

/** Thinking and answer of a text that comes in pieces of this length. */
function separated(text: string, length: number) {
  const block = new ThinkingBlock();
  const all = { thinking: '', answer: '' };
  const add = ({ thinking, answer }: { thinking: string; answer: string }): void => {
    all.thinking += thinking;
    all.answer += answer;
  };
  for (let at = 0; at < text.length; at += length) add(block.push(text.slice(at, at + length)));
  add(block.rest());
  return all;
}

describe('thinking in a block of markup', () => {
  const folded = '<details style="color:gray;" open> <summary> Thinking... </summary>';
  test.each([
    ['<think>a</think>\n\nb', 'a', 'b'],
    [`${folded}\na\n</details>\n\nb`, 'a\n', 'b'],
    ['\n<think> a', 'a', ''],
    ['a <think>b</think>', '', 'a <think>b</think>'],
    ['<details><summary>More</summary>a</details>', '', '<details><summary>More</summary>a</details>'],
    ['<thin', '', '<thin'],
    ['<think>a</thin', 'a</thin', ''],
    [`<details ${'x'.repeat(300)}`, '', `<details ${'x'.repeat(300)}`],
    ['', '', ''],
  ])('is separated from the answer, however it is cut: %j', (text, thinking, answer) => {
    for (let length = 1; length <= text.length; length++) expect(separated(text, length)).toEqual({ thinking, answer });
  });
});

function streamed(...events: readonly JsonObject[]) {
  const caller = callerOf('chat', { model: 'dify', stream: true, messages: [message] });
  const bytes = Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
  const golden = { provider, channel: plainChannel, caller, expected: {} } as unknown as Golden;
  return play({ ...golden, info: { callId: 'c', model: 'dify', createdAt: 0 } }, [bytes]);
}

const words = { event: 'message', message_id: 'm', answer: 'Half' };

describe('a stream of an app', () => {
  test.each<readonly [JsonObject, number]>([
    [{ event: 'error', status: 400, code: 'invalid_param', message: 'bad' }, 400],
    [{ event: 'error', code: 'provider_quota_exceeded', message: 'no quota left' }, 429],
    [{ event: 'workflow_finished', data: { status: 'failed', error: 'node 3 failed' } }, 502],
    [{ event: 'workflow_finished', message_id: 'm', data: { status: 'stopped' } }, 502],
  ])('has failed with %j, and what came before is known', (event, status) => {
    const { error, generated } = streamed(words, event);
    expect(error).toMatchObject({ status });
    expect(generated.text).toBe('Half');
  });

  test('with events that are unknown, or of the wrong types, is read to its end', () => {
    const odd = [
      { event: 'human_input_required', data: null },
      { event: 'message', answer: 7 },
      { event: 'text_chunk', data: [] },
      { event: 'message_file', type: 'image', url: 'javascript:alert(1)' },
      { event: 'message_end', metadata: 'x' },
    ];
    expect(streamed(words, ...odd).generated).toEqual({ text: 'Half', toolCalls: 0, finishReason: 'stop' });
  });

  test('of a workflow without text has its outputs as the answer', () => {
    const finished = (outputs: JsonObject) =>
      streamed({ event: 'workflow_finished', data: { status: 'succeeded', outputs } }).generated.text;
    expect(finished({ summary: 'All is well.' })).toBe('All is well.');
    expect(finished({ a: 1, b: 'x' })).toBe('{"a":1,"b":"x"}');
  });
});
