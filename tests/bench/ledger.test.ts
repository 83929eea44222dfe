import { describe, expect, test } from 'vitest';
import { type Books, booksLine, differencesIn, type Expected, type Served } from '../../bench/books.js';

/** Three calls of one model and one of another, 10 prompt tokens each. */
const served: Served = {
  calls: 4,
  completed: 4,
  promptTokens: 40,
  completionTokens: 3 * 50 + 7,
  byModel: { short: 1, long: 3 },
  alike: [
    { prompt: 10, completion: 7, calls: 1 },
    { prompt: 10, completion: 50, calls: 3 },
  ],
};
const expected: Expected = {
  sent: 4,
  granted: 10_000,
  price: { ratio: 0.5, completionRatio: 4 },
  tokensPerAnswer: { short: 7, long: 50 },
};
/** (10 + 4 × 50) / 2 each, and (10 + 4 × 7) / 2. */
const charged = 3 * 105 + 19;
const books: Books = {
  requests: 4,
  promptTokens: 40,
  completionTokens: 157,
  charged,
  userBalance: 10_000 - charged,
  apiKeyBalance: 10_000 - charged,
};

describe('the ledger check of a benchmark', () => {
  test('passes when every call was settled once and charged by its tokens', () => {
    expect(differencesIn(books, served, expected)).toEqual([]);
    expect(booksLine(books, [])).toContain('4 calls served, each settled exactly once');
  });
  test.each<[string, Partial<Books>, Partial<Served>, string]>([
    ['a call that never arrived', {}, { calls: 3 }, 'calls that came to the provider, calls sent: 3, 4'],
    ['an interrupted call', {}, { completed: 3 }, 'calls the provider answered whole, calls that came to it: 3, 4'],
    ['a surplus settlement', { requests: 5 }, {}, 'calls settled, calls answered by the provider: 5, 4'],
    [
      'uncounted tokens',
      { completionTokens: 156 },
      {},
      'completion tokens settled, tokens the provider generated: 156, 157',
    ],
    [
      'a wrong price',
      { charged: charged + 1 },
      {},
      `quota charged, the price of the tokens the provider counted: ${charged + 1}, ${charged}`,
    ],
    [
      'a wrong wallet',
      { userBalance: 10_000 },
      {},
      `user balance, quota granted less charges: 10000, ${10_000 - charged}`,
    ],
    [
      'a wrong key',
      { apiKeyBalance: 9_999 },
      {},
      `API key balance, quota granted less charges: 9999, ${10_000 - charged}`,
    ],
  ])('reports %s', (_, wrongBooks, wrongServed, difference) =>
    expect(differencesIn({ ...books, ...wrongBooks }, { ...served, ...wrongServed }, expected)).toContain(difference),
  );
  test('rounds each call by itself, whatever the others requested', () => {
    const alike = [
      { prompt: 3, completion: 50, calls: 3 },
      { prompt: 31, completion: 7, calls: 1 },
    ];
    // 101.5 and 29.5, away from zero.
    const rounded = 3 * 102 + 30;
    const balances = { userBalance: 10_000 - rounded, apiKeyBalance: 10_000 - rounded };
    expect(differencesIn({ ...books, charged: rounded, ...balances }, { ...served, alike }, expected)).toEqual([]);
  });
  test('reports an answer of a model that was not requested', () =>
    expect(differencesIn(books, { ...served, byModel: { other: 4 } }, expected)).not.toEqual([]));
  test('writes its result into the report', () =>
    expect(booksLine(books, ['a: 1, 2'])).toContain('the books do not fit'));
});
