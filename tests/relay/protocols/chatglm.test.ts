import { describe, expect, test } from 'vitest';
import { NotConvertible } from '../../../src/relay/contracts/protocol.js';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { chatglmFailure } from '../../../src/relay/protocols/chatglm/answer.js';
import { maxLineLength } from '../../../src/relay/upstream/sse.js';
import {
  byteByByte,
  callerOf,
  type Golden,
  goldens,
  plainChannel,
  play,
  providerOfType,
  usualOptions,
} from '../providers/golden.js';

/* What the golden cases of the wire do not show: events of another kind, and what is refused. */

const provider = providerOfType(16);
const user = { role: 'user', content: 'hi' };
const golden = goldens.find(({ name }) => name.endsWith('zhipu-chatglm/stream')) as Golden;
const event = (name: string, data: string, more = ''): Buffer =>
  Buffer.from(`event: ${name}\nid: 1\ndata: ${data}\n${more}\n`);

const request = (body: JsonObject, key = 'id.secret') =>
  provider.protocol.request({
    provider,
    channel: { ...plainChannel, key },
    caller: callerOf('chat', { model: 'chatglm_pro', messages: [user], ...body }),
    model: 'chatglm_pro',
    options: usualOptions,
  });

describe('a stream of ChatGLM', () => {
  test.each([
    ['{"code":1302,"msg":"too many at once"}', 429, 'too many at once'],
    ['{"error":{"code":"1002","message":"bad token"}}', 401, 'bad token'],
    ['something broke', 502, 'something broke'],
  ])('that reports the failure %s ends with it after what precedes it', (data, status, message) => {
    const chunks = [event('add', 'A'), event('error', data), event('add', 'B')];
    for (const cut of [chunks, byteByByte(Buffer.concat(chunks))]) {
      const { error, generated } = play(golden, cut);
      expect(error).toMatchObject({ status, message });
      expect(generated.text).toBe('A');
    }
  });

  test('keeps the lines and blanks of a text that comes in several lines of data', () => {
    const lines = event('add', ' A', 'data: \ndata:  B\n');
    for (const cut of [[lines], byteByByte(lines)]) expect(play(golden, cut).generated.text).toBe(' A\n\n B');
  });

  test('that is interrupted for its content ends as filtered', () => {
    const { generated, finished } = play(golden, [event('add', 'A'), event('interrupted', '')]);
    expect(generated).toMatchObject({ text: 'A', finishReason: 'content_filter' });
    expect(finished).toBe(true);
  });

  test('ends at a finish that says nothing of its usage', () => {
    const { generated, usage, finished } = play(golden, [event('add', 'A'), event('finish', 'B'), event('add', 'C')]);
    expect(generated).toMatchObject({ text: 'AB', finishReason: 'stop' });
    expect(usage).toBeNull();
    expect(finished).toBe(true);
  });

  test('that finishes without a word has not answered', () => {
    const { generated } = play(golden, [event('finish', '')]);
    expect(generated).toMatchObject({ text: '', finishReason: null });
  });

  test('without an end within an event is given up', () => {
    const endless = [Buffer.from('event: add\ndata: '), Buffer.alloc(maxLineLength + 1, 97)];
    const stream = provider.protocol.stream({ ...golden, provider });
    const steps = endless.map((chunk) => stream.push(chunk));
    expect(steps.at(-1)?.error).toMatchObject({ status: 502, code: 'bad_response_body' });
    expect(stream.unfinished).toBeGreaterThan(0);
  });
});

describe('a request to ChatGLM', () => {
  const called = { role: 'assistant', tool_calls: [{ id: 'a', function: { name: 'add' } }] };

  test.each([
    [{ n: 2 }, 'n: '],
    [{ stop: ['x'] }, 'stop: '],
    [{ stop: 'x' }, 'stop: '],
    [{ tools: [{ type: 'function', function: { name: 'add' } }] }, 'tools: '],
    [{ messages: [user, called] }, 'messages[1]: '],
    [{ messages: [{ role: 'tool', tool_call_id: 'a', content: 'x' }] }, 'messages[0]: '],
    [{ messages: [{ role: 'user', content: [{ type: 'image_url' }] }] }, 'messages[0].content[0]: '],
    [{ response_format: { type: 'json_object' } }, 'response_format: '],
  ] satisfies [JsonObject, string][])('with %j is refused by name', (body, named) => {
    expect(() => request(body)).toThrow(named);
  });

  test.each(['one', 'a.b.c', '.b', 'a.'])('cannot be signed with the key %s', (wrong) => {
    expect(() => request({}, wrong)).toThrow(NotConvertible);
    expect(provider.keyForm?.pattern.test(wrong)).toBe(false);
  });
});

test.each([
  [
    { success: false, code: 1113, msg: 'm' },
    { status: 402, code: '1113', message: 'm' },
  ],
  [
    { success: false, msg: 'm' },
    { status: 502, code: 'upstream_error', message: 'm' },
  ],
  [
    { code: 500, msg: 'm' },
    { status: 502, code: '500', message: 'm' },
  ],
  [
    { success: true, code: 200, data: { task_status: 'FAIL' } },
    { status: 502, code: '200', message: null },
  ],
  [{ success: true, code: 200, data: { task_status: 'SUCCESS' } }, null],
  [{ event: 'add', text: 'error' }, null],
] satisfies [JsonObject, object | null][])('the answer %j reports the failure %j', (body, failure) => {
  expect(chatglmFailure?.(body)).toEqual(failure);
});
