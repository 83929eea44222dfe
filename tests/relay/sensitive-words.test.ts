import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { holdsWord } from '../../src/relay/call/sensitive-words.js';

describe('a text', () => {
  test('holds a word wherever it stands, also inside another that breaks off', () => {
    expect(holdsWord('a ledger of debts', ['ledge'])).toBe(true);
    expect(holdsWord('ababac', ['abac'])).toBe(true);
    expect(holdsWord('she', ['sherry', 'he'])).toBe(true);
    expect(holdsWord('账单必须', ['账本', '必须'])).toBe(true);
    expect(holdsWord('ledg', ['ledge'])).toBe(false);
    expect(holdsWord('anything', ['', 'x'])).toBe(false);
    expect(holdsWord('anything', [])).toBe(false);
  });

  test('holds a word exactly when looking for each finds one', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '账'), maxLength: 40 });
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '账'), minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(letters, fc.array(word, { maxLength: 12 }), (text, words) => {
        expect(holdsWord(text, words)).toBe(words.some((one) => text.includes(one)));
      }),
      { numRuns: 2000 },
    );
  });

  /** Milliseconds, at its best: what else runs on the machine only ever adds to it. */
  const timeOf = (work: () => void): number =>
    Math.min(
      ...Array.from({ length: 5 }, () => {
        const started = performance.now();
        work();
        return performance.now() - started;
      }),
    );

  test('is not read again for each of many words', () => {
    const text = 'every charge can be proved, '.repeat(4_000);
    const words = Array.from({ length: 5_000 }, (_, number) => `char${number}`);
    const one = words.slice(0, 1);
    expect(timeOf(() => holdsWord(text, words)) / timeOf(() => holdsWord(text, one))).toBeLessThan(100);
  });
});
