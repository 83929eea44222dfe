import { describe, expect, test } from 'vitest';
import { optionTable } from '../../../src/domain/options/option-table.js';
import { readRatios } from '../../../src/domain/options/option-values.js';
import { billingOf, piecePricesOf } from '../../../src/domain/pricing/billing.js';
import { chargeOf, type Price, reservationOf } from '../../../src/domain/pricing/pricing.js';
import { toolsSoldWith } from '../../../src/domain/pricing/provider-tools.js';
import { withTools } from '../../../src/domain/pricing/tool-prices.js';

const tables = (entries: Record<string, string>) => ({
  records: new Map(),
  toolPrice: new Map(Object.entries(entries)),
  quotaPerUnit: '500000',
});
const price: Price = { per: 'token', model: '1', ratios: {}, group: '0.5' };
const searching = { 'calls:web_search': 1 };
const dollarsOf = (model: string, entries: Record<string, string>) =>
  withTools(price, tables(entries), model, searching).pieces?.dollars['calls:web_search'];

describe('the price of a search', () => {
  test('is stated for a thousand, by a thousand', () => expect(dollarsOf('any', { web_search: '10' })).toBe('0.01'));

  test('is the one for the model, else for the longest beginning of its name, else the general one', () => {
    const entries = { web_search: '1', 'web_search:gpt-*': '2', 'web_search:gpt-4o*': '3', 'web_search:gpt-4o': '4' };
    expect(['o3', 'gpt-5', 'gpt-4o-mini', 'gpt-4o'].map((model) => dollarsOf(model, entries))).toEqual([
      '0.001',
      '0.002',
      '0.003',
      '0.004',
    ]);
  });

  test('is no factor of the price where the tool has none', () =>
    expect(withTools(price, tables({ other: '1' }), 'any', searching)).toBe(price));

  test('is listed at first for the offered tools', () => {
    const listed = readRatios('ToolPrice', optionTable.ToolPrice.initial);
    const google = (model: string) =>
      withTools(price, { records: new Map(), toolPrice: listed, quotaPerUnit: '1' }, model, {
        'calls:google_search': 1,
      }).pieces?.dollars;
    expect(google('gemini-2.5-pro')).toEqual({ 'calls:google_search': '0.035' });
    expect(google('gemini-3-pro-preview')).toEqual({ 'calls:google_search': '0.014' });
  });
});

describe('a priced search', () => {
  const used = { input: 1_000, 'calls:web_search': 2 };

  test('is charged beside tokens, by the group, and reserved for', () => {
    const priced = withTools(price, tables({ web_search: '10' }), 'any', searching);
    // (1000 + 2 × 0.01 × 500000) × 0.5
    expect(chargeOf(used, priced)).toBe(5_500);
    expect(reservationOf(used, priced)).toBe(5_500);
  });

  test('is charged beside the price of a call, with a line of its own', () => {
    const perCall: Price = { per: 'call', price: '0.02', quotaPerUnit: '500000', group: '0.5' };
    const priced = withTools(perCall, tables({ web_search: '10' }), 'any', searching);
    expect(chargeOf(used, priced)).toBe(10_000);
    expect(reservationOf({ ...used, seconds: 9 }, priced)).toBe(10_000);
    expect(billingOf({ ...used, seconds: 9 }, priced)).toEqual({
      lines: [
        { quantity: 'call', count: 1, ratio: null, unitPrice: '5000', amount: '5000' },
        { quantity: 'calls:web_search', count: 2, ratio: null, unitPrice: '2500', amount: '5000' },
      ],
      exact: '10000',
      total: 10_000,
    });
  });
});

describe('the tools that a price list names beside a model', () => {
  test.each([
    ['gpt-5.4', ['calls:web_search', 'calls:code_interpreter']],
    ['deepseek-chat', ['calls:web_search', 'calls:code_interpreter']],
    ['claude-opus-5', ['calls:web_search', 'calls:code_execution']],
    ['anthropic/claude-opus-5', ['calls:web_search', 'calls:code_execution']],
    ['gemini-3.8-flash', ['calls:google_search', 'calls:google_maps']],
    ['google/gemini-3.8-flash', ['calls:google_search', 'calls:google_maps']],
    ['gemini-embedding-2', []],
    ['text-embedding-3-small', []],
    ['gpt-4o-mini-tts', []],
    ['whisper-1', []],
    ['gpt-image-2', []],
    ['dall-e-3', []],
  ])('are for %s %j', (model, tools) => expect(toolsSoldWith(model)).toEqual(tools));

  test('have the price on a line of a bill, with the group and without the service tier', () => {
    const priced = withTools(price, tables({ web_search: '10' }), 'any', searching);
    const served = { ...priced, service: { tier: 'priority', factor: '2' } };
    expect(piecePricesOf(served)).toEqual([{ quantity: 'calls:web_search', unitPrice: '2500' }]);
    expect(billingOf({ 'calls:web_search': 1 }, served).lines).toMatchObject(piecePricesOf(served));
  });
});
