import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { callerOf, plainChannel, providerOfType } from './golden.js';

/* Thinking of MiniMax comes in pieces, or each time from its beginning. */

const provider = providerOfType(35);

/** What callers can put together of one choice. */
function received(chunks: readonly (readonly JsonObject[])[], choice: number) {
  const caller = callerOf('chat', { model: 'MiniMax-M2', messages: [], stream: true });
  const info = { callId: 'c', model: 'MiniMax-M2', createdAt: 0 };
  const stream = provider.protocol.stream({ provider, channel: plainChannel, caller, info });
  const all = { named: '', details: '' };
  for (const choices of chunks) {
    const { bytes } = stream.push(
      Buffer.from(`data: ${JSON.stringify({ object: 'chat.completion.chunk', choices })}\n\n`),
    );
    const line =
      bytes
        ?.toString()
        .replace(/^data: /, '')
        .trim() ?? '';
    for (const { index, delta } of line === '' ? [] : JSON.parse(line).choices)
      if (index === choice) {
        all.named += delta.reasoning_content ?? '';
        for (const { text } of delta.reasoning_details ?? []) all.details += text;
      }
  }
  return all;
}
const thought = (text: string, index = 0): JsonObject => ({
  index,
  delta: { reasoning_details: [{ type: 'reasoning.text', id: 'r', index: 0, text }] },
});

test.each([
  ['in pieces', ['1', '. First', ' a. 1'], '1. First a. 1'],
  ['from its beginning', ['1', '1. First', '1. First a.'], '1. First a.'],
  ['from its beginning, one piece of which says nothing new', ['1', '1', '1. First', '1. First a'], '1. First a'],
  ['in pieces, one of which is as the first', ['A', ' b', 'A', ' b'], 'A bA b'],
] as const)('thinking that comes %s reaches the caller once', (_how, texts, whole) => {
  const heard = received(
    texts.map((text) => [thought(text)]),
    0,
  );
  expect(heard).toEqual({ named: whole, details: whole });
});

test('thinking of several choices is separated by choice', () => {
  const chunks = [[thought('One', 0)], [thought('Two', 1)], [thought('One, more', 0), thought('Two, too', 1)]];
  expect([received(chunks, 0).named, received(chunks, 1).named]).toEqual(['One, more', 'Two, too']);
});
