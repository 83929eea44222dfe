import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  asDollars,
  nothing,
  priceRows,
  ratioKeys,
  ratiosFrom,
  tablesIn,
  tableText,
  typedNumber,
  withPrices,
} from '../../web/src/settings/modelPrices.js';
import { formOf, inBilling, judge, type PriceForm } from '../../web/src/settings/priceForm.js';

const texts = {
  ModelPrice: '{"draws": 0.04}',
  ModelRatio: '{"gpt": 1.25, "old": 15}',
  CompletionRatio: '{"gpt": 4}',
  CacheRatio: '{}',
  ReasoningRatio: '{}',
};
const tables = tablesIn((key) => texts[key]) ?? expect.fail('they are tables');
const row = (name: string) => priceRows(tables).find((one) => one.name === name) ?? expect.fail(name);

describe('the tables of prices', () => {
  test('are one row for each model', () => {
    expect(priceRows(tables).map(({ name }) => name)).toEqual(['draws', 'gpt', 'old']);
    expect(row('gpt').prices).toEqual({ ...nothing, ModelRatio: 1.25, CompletionRatio: 4 });
    expect(row('draws').prices).toEqual({ ...nothing, ModelPrice: 0.04 });
  });

  test('are changed by model: an absent member stays, null removes it', () => {
    const changed = withPrices(tables, ['gpt', 'new'], { ModelRatio: 2, CompletionRatio: null });
    expect(JSON.parse(tableText(changed.ModelRatio))).toEqual({ gpt: 2, old: 15, new: 2 });
    expect(JSON.parse(tableText(changed.CompletionRatio))).toEqual({});
    expect(changed.ModelPrice).toEqual(tables.ModelPrice);
    expect(tables.ModelRatio.get('gpt')).toBe(1.25);
  });

  test.each(['{', '[]', '{"a": "1"}', 'null', ''])('are not read from %j', (text) =>
    expect(tablesIn((key) => (key === 'CacheRatio' ? text : texts[key]))).toBeNull(),
  );
});

describe('the dollars for a million tokens', () => {
  test('are the ratio times two, and for output times the other ratio', () => {
    expect(ratioKeys.map((key) => asDollars(row('gpt').prices, key))).toEqual([2.5, 10, null, null]);
  });

  test('are converted to ratios: the input’s half, and the others relative to it', () => {
    const dollars = { ModelRatio: 0.05, CompletionRatio: 0.15, CacheRatio: null, ReasoningRatio: 0 };
    expect(ratiosFrom(dollars)).toEqual({ ...nothing, ModelRatio: 0.025, CompletionRatio: 3, ReasoningRatio: 0 });
  });

  test('of zero have no multiples', () => {
    expect(ratiosFrom({ ...nothing, ModelRatio: 0, CompletionRatio: 3 })).toBeNull();
    expect(ratiosFrom({ ...nothing, ModelRatio: 0 })).toEqual({ ...nothing, ModelRatio: 0 });
  });

  test('are the same after a conversion and back', () => {
    const price = fc.integer({ min: 1, max: 10_000_000 }).map((millionths) => millionths / 1_000);
    fc.assert(
      fc.property(price, price, (input, output) => {
        const ratios = ratiosFrom({ ...nothing, ModelRatio: input, CompletionRatio: output }) ?? expect.fail();
        expect(asDollars(ratios, 'ModelRatio')).toBeCloseTo(input, 9);
        expect(asDollars(ratios, 'CompletionRatio')).toBeCloseTo(output, 6);
      }),
    );
  });
});

describe('the form of a price', () => {
  const free = (): boolean => false;
  const form = (change: Partial<PriceForm> = {}): PriceForm => ({ ...formOf('gpt', row('gpt').prices), ...change });

  test('is either by call or by token: one removes the other', () => {
    expect(judge(form(), free).prices).toEqual({ ...nothing, ModelRatio: 1.25, CompletionRatio: 4 });
    expect(judge(form({ billing: 'call', call: '0.5' }), free).prices).toEqual({ ...nothing, ModelPrice: 0.5 });
  });

  test('has the same value in dollars and in ratios', () => {
    const dollars = inBilling(form(), 'dollars');
    expect(dollars.token).toMatchObject({ ModelRatio: '2.5', CompletionRatio: '10' });
    expect(inBilling(dollars, 'ratio').token).toEqual(form().token);
  });

  const token = form().token;
  test.each([
    [form({ name: ' ' }), 'name', 'nameMissing'],
    [form({ name: 'old' }), 'name', 'nameTaken'],
    [form({ billing: 'call', call: '' }), 'call', 'number'],
    [form({ billing: 'call', call: '0' }), 'call', 'zero'],
    [form({ token: { ...token, ModelRatio: '' } }), 'ModelRatio', 'needed'],
    [form({ token: { ...token, CacheRatio: 'half' } }), 'CacheRatio', 'number'],
    [form({ billing: 'dollars', token: { ...token, ModelRatio: '0' } }), 'ModelRatio', 'free'],
  ] as const)('is refused with an error in it: %#', (given, field, problem) => {
    const judged = judge(given, (name) => name === 'old');
    expect([judged.prices, judged.problems.get(field)]).toEqual([null, problem]);
  });
});

test.each([
  ['', null],
  [' 1.5 ', 1.5],
  ['.5', 0.5],
  ['-1', undefined],
  ['1e3', undefined],
  ['NaN', undefined],
])('%j is recognised as a number or not', (text, value) => expect(typedNumber(text)).toBe(value));
