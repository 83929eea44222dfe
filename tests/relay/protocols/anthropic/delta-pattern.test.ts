import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { messages } from '../../../../src/relay/dialects/anthropic/endpoints/messages.js';
import type { JsonObject } from '../../../../src/relay/json/json.js';
import { DeltaPattern } from '../../../../src/relay/protocols/anthropic/delta-pattern.js';
import { callerOf, plainChannel, providerOfType } from '../../providers/golden.js';

const delta = (text: string, index = 0): JsonObject => ({
  type: 'content_block_delta',
  index,
  delta: { type: 'text_delta', text },
});

const frameOf = (event: JsonObject | string, padding = ''): Buffer =>
  Buffer.from(
    `event: content_block_delta\ndata: ${typeof event === 'string' ? event : `${JSON.stringify(event).slice(0, -1)}${padding}}`}\n\n`,
  );

const framesOf = (...events: (JsonObject | string)[]): Buffer => Buffer.concat(events.map((event) => frameOf(event)));

const dataAt = 'event: content_block_delta\ndata: '.length;

const patternOf = (event: JsonObject | string, member = 'text'): DeltaPattern | null => {
  const bytes = frameOf(event);
  return DeltaPattern.of({ bytes, from: 0, start: dataAt, end: bytes.length - 2 }, member);
};

describe('the text of a delta with the same shape as the previous one', () => {
  const pattern = patternOf(delta('Hi'));

  test('is found in a run of equal shapes with any padding, up to the first different one', () => {
    const texts = ['', ' there', '漢字', 'Ælfred '.repeat(1_000), 'x'.repeat(4_000)];
    const alike = Buffer.concat(texts.map((text, at) => frameOf(delta(text), ' '.repeat(at))));
    const like = { end: alike.length, words: texts.join('') };
    expect(pattern?.framesIn(alike, 0)).toEqual(like);
    expect(pattern?.framesIn(Buffer.concat([alike, frameOf(delta('a', 1)), alike]), 0)).toEqual(like);
    expect(pattern?.framesIn(alike, 7)).toBeNull();
  });

  test('is found in complete frames, wherever they are cut', () => {
    const bytes = framesOf(delta('a'), delta('b'));
    const first = frameOf(delta('a')).length;
    for (let end = 0; end < bytes.length; end++)
      expect(pattern?.framesIn(bytes.subarray(0, end), 0)?.end ?? 0).toBe(end < first ? 0 : first);
  });

  test.each([
    ['another content block', delta('a', 1)],
    ['another type of delta', { ...delta('a'), delta: { type: 'thinking_delta', thinking: 'a' } }],
    ['a delta with more members', { ...delta('a'), delta: { type: 'text_delta', text: 'a', more: 1 } }],
    ['an event with more members', { ...delta('a'), usage: { output_tokens: 9 } }],
    ['text with a quote', delta('a "b"')],
    ['text with an end of line', delta('a\nb')],
    ['a missing bracket', JSON.stringify(delta('a')).slice(0, -1)],
    ['a surplus bracket', `${JSON.stringify(delta('a'))}}`],
  ])('is not read from %s', (_, event) => expect(pattern?.framesIn(framesOf(event), 0)).toBeNull());

  test.each([
    ['has no such member', delta('a'), 'thinking'],
    ['has more members after its text', { ...delta('a'), delta: { text: 'a', type: 'text_delta' } }, 'text'],
    ['is long', delta('x'.repeat(5_000)), 'text'],
    ['is written with escapes', JSON.stringify(delta('a')).replace('text_delta', 't\\u0065xt_delta'), 'text'],
  ])('is not sought where a delta %s', (_, event, member) => expect(patternOf(event, member)).toBeNull());
});

test('a stream read by pattern has the same content and output, cut anywhere, as one with every frame parsed', () => {
  const open = () =>
    providerOfType(14).protocol.stream({
      provider: providerOfType(14),
      channel: plainChannel,
      caller: { ...callerOf('chat', { stream: true }), dialect: messages.dialect },
      info: { callId: 'call-7', model: 'claude', createdAt: 1_760_000_000 },
    });
  const text = fc.oneof(fc.string({ maxLength: 12 }), fc.string({ unit: 'grapheme', maxLength: 6 }));
  const piece = fc.record({ text, index: fc.nat({ max: 1 }), padding: fc.nat({ max: 3 }) });
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), fc.array(fc.nat(), { maxLength: 6 }), (pieces, cuts) => {
      const bytes = Buffer.concat(
        pieces.map(({ text: said, index, padding }) => frameOf(delta(said, index), ' '.repeat(padding))),
      );
      const stream = open();
      const offsets = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
      const out = offsets.slice(1).flatMap((to, at) => {
        const step = stream.push(bytes.subarray(offsets[at], to));
        return step.bytes === null ? [] : [Buffer.from(step.bytes)];
      });
      expect(Buffer.concat(out).toString()).toBe(bytes.toString());
      expect(String(stream.generated.said)).toBe(pieces.map((one) => one.text).join(''));
    }),
  );
});
