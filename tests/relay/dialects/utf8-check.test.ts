import { isUtf8 } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RelayError } from '../../../src/relay/contracts/errors.js';
import { JsonBody } from '../../../src/relay/dialects/json-body.js';
import { Utf8Check } from '../../../src/relay/dialects/utf8-check.js';

const wrongBytes: readonly (readonly [name: string, bytes: readonly number[]])[] = [
  ['a byte that begins nothing', [0xff]],
  ['a byte that continues nothing', [0x80]],
  ['the first byte of two', [0xc3]],
  ['two bytes of three', [0xe6, 0xbc]],
  ['three bytes of four', [0xf0, 0x9f, 0x98]],
  ['a slash in two bytes', [0xc0, 0xaf]],
  ['a surrogate', [0xed, 0xa0, 0x80]],
  ['a pair of surrogates', [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80]],
  ['beyond the last character', [0xf4, 0x90, 0x80, 0x80]],
];

const cases: readonly (readonly [place: string, before: string, after: string])[] = [
  ['in a text', '{"model":"m","messages":[{"role":"user","content":"a', 'b"}]}'],
  ['in the name of a member', '{"model":"m","x', 'y":1}'],
  ['between members', '{"model":"m"', ',"x":1}'],
  ['before the body', '', '{"model":"m"}'],
  ['behind the body', '{"model":"m"}', ''],
];

/** What the body reads as, or why it is refused, when it comes in these pieces. */
function outcome(pieces: readonly Buffer[]): unknown {
  const body = new JsonBody();
  try {
    for (const piece of pieces) {
      const wrong = body.take(Buffer.from(piece));
      if (wrong !== null) throw wrong;
    }
    const steps = body.read();
    for (;;) {
      const step = steps.next();
      if (step.done) return step.value.value;
    }
  } catch (error) {
    const { status, code, message } = error as RelayError;
    return [status, code, message];
  }
}

const refused = [400, 'invalid_request', 'invalid request: the body is not UTF-8 text'];

describe.each(wrongBytes)('a body that is not UTF-8 (%s)', (_name, bytes) => {
  test.each(cases)('%s is refused, wherever the network cuts it', (_place, before, after) => {
    const body = Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)]);
    expect(outcome([body])).toEqual(refused);
    expect(outcome([...body].map((byte) => Buffer.from([byte])))).toEqual(refused);
    for (let at = 1; at < body.length; at++)
      expect([at, outcome([body.subarray(0, at), body.subarray(at)])]).toEqual([at, refused]);
  });
});

test('a body with characters of every length is read the same, wherever the network cuts it', () => {
  const value = { model: 'm', 'ł漢😀\ufffd': 'Zażółć 漢字 😀 \u{10ffff}\ufffd', half: '\ud800' };
  const body = Buffer.from(JSON.stringify(value));
  expect(outcome([...body].map((byte) => Buffer.from([byte])))).toEqual(value);
  for (let at = 0; at <= body.length; at++) expect(outcome([body.subarray(0, at), body.subarray(at)])).toEqual(value);
});

test('chunks cut anywhere are valid UTF-8 if they are valid as a whole', () => {
  const expected = fc.oneof(
    fc.constantFrom(0x80, 0xbf, 0xc3, 0xe0, 0xe6, 0xed, 0xf0, 0xf4, 0xf8, 0xff, 0x41),
    fc.integer({ min: 0, max: 255 }),
  );
  const pieces = fc.array(
    fc.oneof(
      fc.array(expected, { maxLength: 4 }).map((bytes) => Buffer.from(bytes)),
      fc.string({ unit: 'binary', maxLength: 4 }).map((text) => Buffer.from(text)),
    ),
    { maxLength: 6 },
  );
  const cuts = fc.array(fc.nat({ max: 24 }), { maxLength: 5 });
  fc.assert(
    fc.property(pieces, cuts, (parts, at) => {
      const whole = Buffer.concat(parts);
      const check = new Utf8Check();
      let from = 0;
      let taken = true;
      for (const to of [...at.map((one) => Math.min(one, whole.length)).sort((a, b) => a - b), whole.length]) {
        taken &&= check.take(whole.subarray(from, to));
        from = to;
      }
      expect(taken && check.isWhole).toBe(isUtf8(whole));
    }),
    { numRuns: 2_000 },
  );
});
