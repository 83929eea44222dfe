import { describe, expect, test } from 'vitest';
import type { CallerDialect } from '../../../src/relay/contracts/caller-dialect.js';
import { anthropicCaller } from '../../../src/relay/dialects/anthropic/dialect.js';
import { openAiCaller } from '../../../src/relay/dialects/openai/dialect.js';
import { isObject, type JsonObject, objectsIn, parseJson } from '../../../src/relay/json/json.js';
import { callerOf, plainChannel, providerOfType } from '../providers/golden.js';

/* Streams that end by their mark alone: whatever the wire, clients get a reason, by which they know a whole answer. */

const info = { callId: 'call-1', model: 'm', createdAt: 1_760_000_000 };
const sse = (...frames: (JsonObject | string)[]): Buffer =>
  Buffer.from(frames.map((frame) => `data: ${typeof frame === 'string' ? frame : JSON.stringify(frame)}\n\n`).join(''));

/** What a client gets of a stream that has come to its end mark. */
function written(type: number, dialect: CallerDialect, stream: Buffer, body: JsonObject = {}): JsonObject[] {
  const caller = { ...callerOf('chat', { model: 'm', ...body }), dialect, stream: true, wantsUsage: true };
  const decoder = providerOfType(type).protocol.stream({
    provider: providerOfType(type),
    channel: plainChannel,
    caller,
    info,
  });
  const step = decoder.push(stream);
  expect([step.error, step.finished]).toEqual([null, true]);
  const bytes = Buffer.concat([step.bytes ?? Buffer.alloc(0), decoder.closing({ input: 3, output: 2 })]);
  return [...bytes.toString('utf8').matchAll(/^data: (.*)$/gm)]
    .map(([, data = '']) => parseJson(data))
    .filter(isObject);
}

const reasonsIn = (chunks: readonly JsonObject[]) =>
  chunks
    .flatMap(({ choices }) => objectsIn(choices))
    .filter(({ finish_reason: reason }) => reason !== null)
    .map(({ index, finish_reason: reason }) => [index, reason]);

const words = { index: 0, delta: { content: 'A ledger.' }, finish_reason: null };
const call = { index: 0, id: 'c1', type: 'function', function: { name: 'read', arguments: '{}' } };
const chunk = (...choices: JsonObject[]): JsonObject => ({
  id: 'c',
  object: 'chat.completion.chunk',
  model: 'm',
  choices,
});

const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null };
const usage = { input_tokens: 3, output_tokens: 1 };
const start = { type: 'message_start', message: { ...message, usage } };
const block = (content: JsonObject): JsonObject => ({ type: 'content_block_start', index: 0, content_block: content });
const text = block({ type: 'text', text: 'A ledger.' });
const toolUse = block({ type: 'tool_use', id: 't1', name: 'read', input: { a: 1 } });
const stop = { type: 'message_stop' };
const noReason = { type: 'message_delta', delta: { stop_reason: null }, usage: { output_tokens: 2 } };

describe('a client of OpenAI, for a stream that ends without a finish reason,', () => {
  test.each([
    ['text from Anthropic', 14, sse(start, text, stop), [[0, 'stop']]],
    ['tool calls from Anthropic', 14, sse(start, toolUse, stop), [[0, 'tool_calls']]],
    ['text from an OpenAI upstream', 1, sse(chunk(words), '[DONE]'), [[0, 'stop']]],
    [
      'tool calls from an OpenAI upstream',
      1,
      sse(chunk({ index: 0, delta: { tool_calls: [call] }, finish_reason: null }), '[DONE]'),
      [[0, 'tool_calls']],
    ],
    [
      'several choices, one of which has a finish reason',
      1,
      sse(
        chunk(words, { ...words, index: 1 }, { ...words, index: 2 }),
        chunk({ ...words, index: 1, finish_reason: 'length' }),
        '[DONE]',
      ),
      [
        [1, 'length'],
        [0, 'stop'],
        [2, 'stop'],
      ],
    ],
  ])('receives one after %s', (_what, type, stream, reasons) => {
    const chunks = written(type, openAiCaller, stream);
    expect(reasonsIn(chunks)).toEqual(reasons);
    // The usage goes last, and what is added belongs to the same answer.
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } });
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  });

  test('receives exactly one reason where the upstream reports it, even twice', () => {
    const twice = chunk({ ...words, finish_reason: 'stop' });
    expect(reasonsIn(written(1, openAiCaller, sse(twice, chunk(words), '[DONE]')))).toEqual([[0, 'stop']]);
  });

  test('receives the end of the thinking before it, where thinking is part of the text', () => {
    const caller = { ...callerOf('chat', { model: 'm' }), dialect: openAiCaller, stream: true };
    const channel = { ...plainChannel, thinkingToContent: true };
    const decoder = providerOfType(1).protocol.stream({ provider: providerOfType(1), channel, caller, info });
    const thought = chunk({ index: 0, delta: { reasoning_content: 'Hm.' }, finish_reason: null });
    const { bytes } = decoder.push(sse(thought, '[DONE]'));
    const all = Buffer.concat([bytes ?? Buffer.alloc(0), decoder.closing({ output: 1 })]).toString('utf8');
    expect(all.indexOf('</think>')).toBeGreaterThan(0);
    expect(all.indexOf('"finish_reason":"stop"')).toBeGreaterThan(all.indexOf('</think>'));
  });
});

describe('a client of Anthropic, for a stream of Anthropic that ends without a stop reason,', () => {
  test.each([
    ['text, and nothing after it', sse(start, text, stop), 'end_turn'],
    ['a tool call, and nothing after it', sse(start, toolUse, stop), 'tool_use'],
    ['a last event that leaves it out', sse(start, text, noReason, stop), 'end_turn'],
  ])('receives one after %s', (_what, stream, reason) => {
    const reasons = written(14, anthropicCaller, stream).flatMap(({ type, delta }) =>
      type === 'message_delta' && isObject(delta) ? [delta.stop_reason] : [],
    );
    expect(reasons).toEqual([reason]);
  });
});
