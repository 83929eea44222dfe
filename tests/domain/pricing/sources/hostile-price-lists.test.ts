import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decimal } from '../../../../src/domain/kernel/decimal.js';
import { Failure } from '../../../../src/domain/kernel/failure.js';
import type { ModelPrice, TokenRate } from '../../../../src/domain/pricing/records/model-price.js';
import { readPricePeriods } from '../../../../src/domain/pricing/records/read-model-price.js';
import type { PublishedPrices } from '../../../../src/domain/pricing/sources/published-price.js';
import { readPublishedPrices } from '../../../../src/domain/pricing/sources/read-published-prices.js';

/* Whatever a list holds: it is refused as a whole, or each price that is read is a valid record and none is 0. */

function read(text: string): PublishedPrices | null {
  try {
    const steps = readPublishedPrices(text, { today: '2026-11-28', bareNames: false });
    for (;;) {
      const { done, value } = steps.next();
      if (done === true) return value;
    }
  } catch (error) {
    if (error instanceof Failure && error.code === 'price-list-unreadable') return null;
    throw error;
  }
}

const amountsOf = ({ call, tokens = {}, pieces = {}, pictures = [] }: ModelPrice): string[] => [
  ...(call === undefined ? [] : [call]),
  ...Object.values(tokens).map((rate: TokenRate) => ('usd' in rate ? rate.usd : rate.ratio)),
  ...Object.values(pieces),
  ...pictures.map(({ usd }) => usd),
];

function expectSound(prices: PublishedPrices | null): void {
  for (const { periods, isFree } of prices?.models ?? []) {
    expect(() => readPricePeriods('periods', periods)).not.toThrow();
    if (isFree) continue;
    for (const amount of periods.flatMap(amountsOf)) expect(decimal(amount).digits > 0n, amount).toBe(true);
  }
}

const figure = fc.oneof(
  fc.double(),
  fc.double({ min: 0, max: 1e-3 }),
  fc.constantFrom(
    0,
    -1,
    1e308,
    5e-324,
    '0',
    '-1',
    'NaN',
    'Infinity',
    '1e308',
    '1e-400',
    '1e999999999',
    '0x10',
    '',
    null,
    true,
    [],
    {},
  ),
  fc.string(),
);
const name = fc.oneof(
  fc.constantFrom('m', 'm:free', '__proto__', 'constructor', 'a/b', '1024-x-1024/m', 'sample_spec', ''),
  fc.string(),
);
const members = (names: string) => fc.dictionary(fc.constantFrom(...names.split(' ')), figure, { maxKeys: 12 });

const litellm = members(
  'input_cost_per_token output_cost_per_token cache_read_input_token_cost input_cost_per_token_above_200k_tokens output_cost_per_token_above_0k_tokens input_cost_per_token_priority input_cost_per_second output_cost_per_image search_context_cost_per_query tiered_pricing mode currency',
);
const genai = fc.record({
  id: name,
  prices: fc.oneof(
    members('input_mtok output_mtok cache_read_mtok web_searches_kcount requests_kcount'),
    fc.array(
      fc.record({
        constraint: fc.record({
          type: fc.constant('start_date'),
          start_date: fc.oneof(fc.constant('2027-01-01'), fc.string()),
        }),
        prices: members('input_mtok output_mtok'),
      }),
    ),
    fc.record({
      input_mtok: fc.record({ base: figure, tiers: fc.array(fc.record({ start: figure, price: figure })) }),
    }),
  ),
});
const openRouter = fc.record({
  id: name,
  pricing: members('prompt completion request image web_search input_cache_read currency'),
});
const listed = fc.record({
  model_name: name,
  quota_type: fc.constantFrom(0, 1, 2, '0'),
  model_ratio: figure,
  model_price: figure,
  completion_ratio: figure,
});
const tables = fc.dictionary(
  fc.constantFrom('model_ratio', 'model_price', 'completion_ratio', 'cache_ratio'),
  fc.dictionary(name, figure),
);

const lists: readonly (readonly [string, fc.Arbitrary<unknown>])[] = [
  ["LiteLLM's map", fc.dictionary(name, litellm)],
  ['data of genai-prices', fc.array(genai).map((models) => [{ id: 'openai', models }])],
  ["OpenRouter's list", fc.array(openRouter).map((data) => ({ data }))],
  ['a list of ratios', fc.array(listed).map((data) => ({ data }))],
  ['tables of ratios', tables.map((data) => ({ data }))],
  ['any JSON', fc.jsonValue()],
];

describe('a hostile price list', () => {
  test.each(lists)('in the form of %s yields sound prices or none', (_, list) => {
    fc.assert(
      fc.property(list, (value) => expectSound(read(JSON.stringify(value)))),
      { numRuns: 300 },
    );
  });

  test('that is any text is refused or read, and fails in no other way', () => {
    fc.assert(
      fc.property(fc.string(), (text) => expectSound(read(text))),
      { numRuns: 300 },
    );
  });
});
