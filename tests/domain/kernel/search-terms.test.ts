import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { searchTermFor, searchTermsOf } from '../../../src/domain/kernel/search-terms.js';

const finds = (keyword: string, text: string): boolean => {
  const term = searchTermFor(keyword);
  return term !== null && searchTermsOf(text).includes(term);
};

describe('a text that is searchable without being stored', () => {
  test.each([
    ['Ada Lovelace', 'ada'],
    ['Ada Lovelace', 'LOVE'],
    ['Ada Lovelace', 'ada lo'],
    ['ada.lovelace@example.org', 'lovelace@ex'],
    ['ada.lovelace@example.org', 'example.org'],
    ['Ｆｕｌｌ width', 'full'],
    ['王小明', '王'],
    ['王小明', '小明'],
    ['Björk Guðmundsdóttir', 'guð'],
  ])('%j is found by %j', (text, keyword) => expect(finds(keyword, text)).toBe(true));

  test.each([
    ['Ada Lovelace', 'lace'],
    ['Ada Lovelace', 'a'],
    ['Ada Lovelace', ''],
    ['Ada Lovelace', 'bob'],
  ])('%j is not found by %j', (text, keyword) => expect(finds(keyword, text)).toBe(false));

  test('is found by its whole and by its beginning, whatever it is, and has a bounded number of terms', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 2, maxLength: 60 }), (text) => {
        expect(searchTermsOf(text).length).toBeLessThanOrEqual(500);
        if ([...text.normalize('NFKC').toLowerCase().trim()].length >= 2) expect(finds(text, text)).toBe(true);
      }),
    );
  });
});
