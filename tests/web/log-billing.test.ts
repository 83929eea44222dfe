import { describe, expect, test } from 'vitest';
import {
  type Billing,
  type BillingLine,
  differs,
  factorsOf,
  formulaOf,
  type LogLine,
  priceText,
} from '../../web/src/log/billing.js';

const tokens = (quantity: string, count: number, ratio: string, unitPrice: string, amount: string): BillingLine => ({
  quantity,
  count,
  ratio,
  unitPrice,
  amount,
});

const billing: Billing = {
  lines: [
    tokens('input', 1_200, '1', '1', '1200'),
    tokens('cachedInput', 300, '0.5', '0.5', '150'),
    tokens('output', 400, '4', '4', '1600'),
    tokens('reasoning', 50, '4', '4', '200'),
  ],
  exact: '3150',
  total: 3_150,
  serviceTier: null,
  serviceFactor: null,
};

const line: LogLine = {
  id: '41',
  createdAt: 1_790_000_000,
  type: 'CONSUME',
  quota: 3_150,
  uncovered: 0,
  promptTokens: 1_500,
  completionTokens: 450,
  cachedTokens: 300,
  cacheWriteTokens: 0,
  imageTokens: 0,
  reasoningTokens: 50,
  model: 'gpt-4o',
  upstreamModel: null,
  alias: null,
  apiKeyName: 'demo',
  group: 'vip',
  useTimeMs: 1_200,
  firstTokenMs: 300,
  isStream: true,
  outcome: 'COMPLETED',
  requestId: 'r1',
  path: '/v1/chat/completions',
  reasoningEffort: null,
  usageSource: 'UPSTREAM',
  detail: null,
  price: { __typename: 'TokenPrice', model: '1.25', group: '0.8', like: null },
  billing,
};

const perUnit = '500000';
const read = (shown: LogLine, quotaPerUnit = perUnit): string | null => {
  const factors = factorsOf(shown, quotaPerUnit);
  return factors === null || shown.billing === null ? null : formulaOf(shown.billing, factors);
};

describe('the calculation of a line', () => {
  test('is one formula with the server’s result', () => {
    expect(read(line)).toBe('(1200 + 300 × 0.5 + 400 × 4 + 50 × 4) × 1.25 × 0.8 = 3150');
    expect(read({ ...line, billing: { ...billing, exact: '7' } })).toMatch(/ = 7$/);
  });
  test('has the factor of the service tier', () => {
    const served = { ...billing, serviceTier: 'priority', serviceFactor: '2', exact: '6300', total: 6_300 };
    expect(read({ ...line, billing: served })).toMatch(/ × 1\.25 × 0\.8 × 2 = 6300$/);
  });

  test('has no brackets around a single quantity', () => {
    const lines = [tokens('input', 1, '1', '2.5', '2.5')];
    const price = { __typename: 'TokenPrice' as const, model: '2.5', group: '1', like: null };
    expect(read({ ...line, price, billing: { ...billing, lines, exact: '2.5', total: 3 } })).toBe('1 × 2.5 × 1 = 2.5');
  });

  test('has per-use prices beside the tokens, and beside the price of a call', () => {
    const search = { quantity: 'calls:web_search', count: 2, ratio: null, unitPrice: '5000', amount: '10000' };
    const call = { quantity: 'call', count: 1, ratio: null, unitPrice: '5000', amount: '5000' };
    expect(
      read({
        ...line,
        billing: { ...billing, lines: [tokens('input', 8, '1', '1', '8'), search], exact: '10008', total: 10_008 },
      }),
    ).toBe('8 × 1.25 × 0.8 + 2 × 5000 = 10008');
    const price = { __typename: 'CallPrice' as const, price: '0.01', quotaPerUnit: perUnit, group: '1', like: null };
    expect(
      read({ ...line, price, billing: { ...billing, lines: [call, search], exact: '15000', total: 15_000 } }),
    ).toBe('0.01 × 500000 × 1 + 2 × 5000 = 15000');
  });

  test('is zero times its factors where nothing was used', () =>
    expect(read({ ...line, billing: { ...billing, lines: [], exact: '0', total: 0 } })).toBe('0 × 1.25 × 0.8 = 0'));

  test('adds per-use quantities at their own price', () => {
    const piece = { quantity: 'calls:web_search', count: 2, ratio: null, unitPrice: '4000', amount: '8000' };
    const lines = [...billing.lines.slice(0, 1), piece];
    expect(read({ ...line, billing: { ...billing, lines, exact: '9200', total: 9_200 } })).toBe(
      '1200 × 1.25 × 0.8 + 2 × 4000 = 9200',
    );
    expect(read({ ...line, billing: { ...billing, lines: [piece], exact: '8000', total: 8_000 } })).toBe(
      '2 × 4000 = 8000',
    );
  });

  test('multiplies price, quota per dollar and group where a call has a price of its own', () => {
    const price = { __typename: 'CallPrice' as const, price: '0.01', quotaPerUnit: '500000', group: '1.5', like: null };
    const lines = [{ quantity: 'call', count: 1, ratio: null, unitPrice: '7500', amount: '7500' }];
    expect(read({ ...line, price, billing: { ...billing, lines, exact: '7500', total: 7_500 } }, '7')).toBe(
      '0.01 × 500000 × 1.5 = 7500',
    );
  });

  test('of a channel test names no group, and for a price per call today’s unit', () => {
    const detail = { __typename: 'ChannelTestDetail' as const, modelRatio: '0.075', modelPrice: null };
    const lines = [tokens('input', 5, '1', '0.075', '0.375'), tokens('output', 8, '4', '0.3', '2.4')];
    const tested = { ...line, price: null, detail, billing: { ...billing, lines, exact: '2.775', total: 3 } };
    expect(read(tested)).toBe('(5 + 8 × 4) × 0.075 = 2.775');
    expect(factorsOf({ ...tested, detail: { ...detail, modelPrice: '0.1' } }, '7')).toEqual({
      per: 'call',
      price: '0.1',
      quotaPerUnit: '7',
      group: null,
    });
  });

  test('is missing where nothing is charged', () => {
    const detail = { __typename: 'GrantDetail' as const, quota: 5, grantReason: 'SIGNUP' as const };
    expect(read({ ...line, price: null, detail, billing: null })).toBeNull();
  });

  test('is marked as different from the charge, unless the difference is the uncovered part', () => {
    expect(differs(billing, line)).toBe(false);
    expect(differs(billing, { ...line, quota: 3_000 })).toBe(true);
    expect(differs(billing, { ...line, quota: 3_000, uncovered: 150 })).toBe(false);
  });

  test('shows prices in dollars: of tokens by the million, of all else by the piece', () => {
    expect(priceText(tokens('output', 1, '4', '5', '5'), perUnit)).toBe('$10');
    expect(priceText(tokens('input', 1, '1', '0.075', '0.075'), perUnit)).toBe('$0.15');
    expect(priceText({ ...tokens('images', 1, '1', '20000', '20000'), ratio: null }, perUnit)).toBe('$0.04');
  });
});
