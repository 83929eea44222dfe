import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SeenText } from '../../../src/relay/text/seen-text.js';
import { countTokens } from '../../../src/relay/text/tokens.js';

const model = 'gpt-4o';

const seen = (pieces: readonly string[]): SeenText => {
  const text = new SeenText();
  for (const piece of pieces) text.add(piece);
  return text;
};

const pieces = fc.array(fc.string({ unit: 'binary', maxLength: 3000 }), { maxLength: 30 });

describe('the output text of a model', () => {
  test('is kept whole and counted exactly while it is short', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 300 }), { maxLength: 50 }), (pieces) => {
        const whole = pieces.join('');
        fc.pre(whole.length <= 16_384);
        const text = seen(pieces);
        expect(text.toString()).toBe(whole);
        expect(text.length).toBe(whole.length);
        expect(text.tokens(model)).toBe(countTokens(model, whole));
      }),
      { numRuns: 50 },
    );
  });

  test('is sampled the same however it was cut, with at most 16,384 characters kept', () => {
    fc.assert(
      fc.property(pieces, (pieces) => {
        const cut = seen(pieces);
        const whole = seen([pieces.join('')]);
        expect(cut.toString()).toBe(whole.toString());
        expect(cut.roughTokens()).toBe(whole.roughTokens());
        expect(cut.toString().length).toBeLessThanOrEqual(16_384);
      }),
      { numRuns: 50 },
    );
  });

  test.each([
    ['words', 'What comes in is written on the left, what goes out on the right. '],
    ['Chinese', '账簿是记录收支的书册，左边记收入，右边记支出。'],
  ])('is estimated close to its real size when it is long: %s', (_, sentence) => {
    const count = 20_000;
    const exact = countTokens(model, sentence) * count;
    const text = seen(Array.from({ length: count }, () => sentence));
    expect(text.toString().length).toBeLessThanOrEqual(16_384);
    expect(Math.abs(text.tokens(model) / exact - 1)).toBeLessThan(0.1);
  });

  test('is estimated by all its parts, not by its beginning', () => {
    const text = seen([
      ...Array<string>(500).fill('hello '.repeat(100)),
      ...Array<string>(500).fill('账簿记录'.repeat(150)),
    ]);
    const expectedTokens =
      500 * (countTokens(model, 'hello '.repeat(100)) + countTokens(model, '账簿记录'.repeat(150)));
    expect(Math.abs(text.tokens(model) / expectedTokens - 1)).toBeLessThan(0.15);
  });

  test('takes little more memory than its length, even if it arrives word by word', () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const memory = (): number => {
      collect();
      return process.memoryUsage().heapUsed;
    };
    const [texts, words, length] = [40, 2500, 6];
    const before = memory();
    // As they are read: each word is a text of its own.
    const kept = Array.from({ length: texts }, (_, text) =>
      seen(Array.from({ length: words }, (_, word) => JSON.parse(`"${String(text * words + word).padStart(length)}"`))),
    );
    expect((memory() - before) / (texts * words * length)).toBeLessThan(4);
    expect(kept.map(({ length }) => length)).toEqual(Array<number>(texts).fill(words * length));
  });
});
