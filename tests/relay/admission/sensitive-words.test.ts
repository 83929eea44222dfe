import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { searchFor, searchWords, sliceLength } from '../../../src/relay/admission/sensitive-words.js';
import { WordSearch } from '../../../src/relay/admission/word-search.js';
import { atOnce } from '../../../src/relay/text/large-work.js';

const holds = (text: string, words: readonly string[]): boolean => atOnce(searchWords([text], words));

describe('a text with sensitive words', () => {
  test('is matched wherever the word is, also inside another partial match', () => {
    expect(holds('a ledger of debts', ['ledge'])).toBe(true);
    expect(holds('ababac', ['abac'])).toBe(true);
    expect(holds('she', ['sherry', 'he'])).toBe(true);
    expect(holds('账单必须', ['账本', '必须'])).toBe(true);
    expect(holds('ledg', ['ledge'])).toBe(false);
    expect(holds('anything', ['', 'x'])).toBe(false);
    expect(holds('anything', [])).toBe(false);
  });

  test('is matched in any letter case, with letters of one or two units, and with either small sigma', () => {
    expect(holds('A LEDGER', ['ledger'])).toBe(true);
    expect(holds('ÄRGER', ['ärger'])).toBe(true);
    expect(holds('𐐀𐐁', ['𐐨𐐩'])).toBe(true);
    expect(holds('ΟΔΟΣ', ['οδος'])).toBe(true);
    expect(holds('ΟΔΟΣΑ', ['οδος'])).toBe(true);
    expect(holds('a 😀 b', ['😀'])).toBe(true);
    expect(holds('a 😀 b', ['😁'])).toBe(false);
  });

  test('is matched exactly when a search for each word finds one', () => {
    const unit = fc.constantFrom('a', 'b', 'c', '账', '😀');
    const letters = fc.string({ unit, maxLength: 40 });
    const word = fc.string({ unit, minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(letters, fc.array(word, { maxLength: 12 }), (text, words) => {
        const expected = words.some((one) => text.includes(one));
        expect(holds(text, words)).toBe(expected);
        // Few words are searched for in another way than many.
        const many = [...words, ...['1', '2', '3', '4', '5']];
        expect(holds(text, many)).toBe(expected);
      }),
      { numRuns: 2000 },
    );
  });

  test('is matched across texts and slices alike, by few words and by many', () => {
    const unit = fc.constantFrom('a', 'B', 'ς', 'İ', '𐐀', '\n');
    const texts = fc.array(fc.string({ unit, maxLength: 6 }), { maxLength: 6 });
    const words = fc.array(fc.string({ unit, maxLength: 4 }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(texts, words, (parts, few) => {
        const many = [...few, ...['1', '2', '3', '4', '5']];
        expect(atOnce(searchWords(parts, few))).toBe(atOnce(searchWords(parts, many)));
      }),
      { numRuns: 2000 },
    );
  });

  test('is matched across slices, wherever they are cut', () => {
    for (const word of ['ledger', '账单必须', '𐐨𐐩𐐨']) {
      for (let before = sliceLength - word.length - 1; before <= sliceLength + 1; before++)
        expect(holds(`${'x'.repeat(before)}${word.toUpperCase()} `, [word]), `${word} after ${before}`).toBe(true);
    }
  });

  test('is read to its end in slices of equal length, and not beyond a match', () => {
    const yields = (text: string): number => [...searchWords([text], ['ledger'])].length;
    expect(yields('x'.repeat(sliceLength * 8))).toBe(8);
    expect(yields(`${'x'.repeat(sliceLength * 3)}ledger${'x'.repeat(sliceLength * 5)}`)).toBe(3);
    expect(yields('short')).toBe(0);
  });
});

test('many short texts yield as often as one long one, and a word may continue in the next line', () => {
  const texts = Array.from({ length: sliceLength / 8 }, () => 'x'.repeat(32));
  expect([...searchWords(texts, ['ledger'])]).toHaveLength(4);
  expect(atOnce(searchWords(['one', 'two'], ['e\nt']))).toBe(true);
  expect(atOnce(searchWords(['one', 'two'], ['et']))).toBe(false);
});

test('texts that are empty or short yield too, as do long words that are looked for across them', () => {
  const few = ['ledger'];
  const many = ['1', '2', '3', '4', 'ledger'];
  const yields = (texts: readonly string[], words: readonly string[]): number => [...searchWords(texts, words)].length;
  const empty = Array.from({ length: sliceLength * 4 + 1 }, () => '');
  expect(yields(empty, many)).toBe(4);
  expect(yields(empty, few)).toBeGreaterThanOrEqual(4);
  const short = Array.from({ length: 1_000 }, () => 'x');
  expect(yields(short, ['y'.repeat(1_000)])).toBeGreaterThanOrEqual(Math.floor((1_000 * 1_000) / sliceLength));
  expect(yields(short, many)).toBe(0);
});

test('the word list is compiled once while it is unchanged, also when settings are loaded again', () => {
  const words = ['one', 'two'];
  expect(searchFor([...words])).toBe(searchFor([...words]));
  expect(searchFor(words)).not.toBe(searchFor(['one', 'three']));
});

test('a text read in any two parts ends in the state of the whole', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 30 });
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(letters, letters, fc.array(word, { maxLength: 8 }), (one, other, words) => {
      const search = new WordSearch(words);
      expect(search.read(other, search.read(one))).toBe(search.read(one + other));
    }),
  );
});
