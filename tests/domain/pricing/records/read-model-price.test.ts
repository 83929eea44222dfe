import { describe, expect, test } from 'vitest';
import { Failure } from '../../../../src/domain/kernel/failure.js';
import { readPricePeriods } from '../../../../src/domain/pricing/records/read-model-price.js';

const input = { input: { usd: '2' } };

const refusal = (value: unknown): string => {
  try {
    readPricePeriods('periods', value);
  } catch (error) {
    if (error instanceof Failure) return `${error.details.field}: ${error.details.allowed}`;
    throw error;
  }
  throw new Error('nothing was refused');
};

describe('a record as JSON', () => {
  test('is read with each member, numbers as exact texts', () =>
    expect(
      readPricePeriods('periods', [
        {
          tokens: { input: { usd: 2.5 }, output: { ratio: '6.0' } },
          pieces: { seconds: 0.0001 },
          pictures: [{ size: '1024x1024', quality: 'high', usd: 0.167 }, { usd: '1e-2' }],
          contextTiers: [{ over: 272_000, factors: { input: 2, output: '1.5' } }],
          serviceTiers: { priority: 2 },
          purchase: { call: '0.01' },
        },
        { from: '2026-12-01', until: '2027-01-01', call: 0 },
      ]),
    ).toEqual([
      {
        tokens: { input: { usd: '2.5' }, output: { ratio: '6' } },
        pieces: { seconds: '0.0001' },
        pictures: [{ size: '1024x1024', quality: 'high', usd: '0.167' }, { usd: '0.01' }],
        contextTiers: [{ over: 272_000, factors: { input: '2', output: '1.5' } }],
        serviceTiers: { priority: '2' },
        purchase: { call: '0.01' },
      },
      { from: '2026-12-01', until: '2027-01-01', call: '0' },
    ]));

  test.each<[string, unknown, RegExp]>([
    ['not a list', { tokens: input }, /^periods: a list/],
    ['an empty list', [], /^periods: a list/],
    ['17 periods', Array.from({ length: 17 }, () => ({})), /^periods: a list/],
    ['null', [null], /^periods\[0\]: an object/],
    ['an unknown member', [{ tokns: input }], /^periods\[0\]\.tokns: one of call, tokens/],
    ['an unknown kind of token', [{ tokens: { words: { usd: 1 } } }], /^periods\[0\]\.tokens\.words: one of input/],
    ['a negative price', [{ call: -1 }], /^periods\[0\]\.call: a number from 0 to 2000000/],
    ['a price that is not a number', [{ call: 'free' }], /^periods\[0\]\.call: a number/],
    ['NaN', [{ call: Number.NaN }], /^periods\[0\]\.call: a number/],
    ['10^308', [{ call: 1e308 }], /^periods\[0\]\.call: a number/],
    ['more digits than the limit', [{ call: '1e-40' }], /^periods\[0\]\.call: a number/],
    [
      'input as a ratio of itself',
      [{ tokens: { input: { ratio: 1 } } }],
      /^periods\[0\]\.tokens\.input: a price in usd/,
    ],
    [
      'both price and ratio',
      [{ tokens: { output: { usd: 1, ratio: 1 } } }],
      /tokens\.output: an object with either usd or ratio/,
    ],
    [
      'tiers that do not ascend',
      [
        {
          contextTiers: [
            { over: 2, factors: {} },
            { over: 2, factors: {} },
          ],
        },
      ],
      /\[1\]\.over: more/,
    ],
    ['a tier called default', [{ serviceTiers: { default: 2 } }], /serviceTiers\.default: a tier other/],
    ['a day that does not exist', [{ from: '2026-02-31' }], /^periods\[0\]\.from: a day/],
    ['a thirteenth month', [{ from: '2026-13-01' }], /^periods\[0\]\.from: a day/],
    ['an end before the beginning', [{ from: '2026-12-01', until: '2026-12-01' }], /\.until: a day after/],
    ['periods that do not ascend', [{ from: '2026-12-01' }, { call: 1 }], /^periods\[1\]\.from: a day after/],
    ['two prices of one picture', [{ pictures: [{ usd: 1 }, { usd: 2 }] }], /pictures\[1\]: one price for each/],
    ['a purchase within a purchase', [{ purchase: { purchase: {} } }], /purchase\.purchase: one of call/],
  ])('is refused with %s, by its path and the allowed values', (_, value, expected) =>
    expect(refusal(value)).toMatch(expected),
  );
});
