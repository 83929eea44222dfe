import { describe, expect, test } from 'vitest';
import { billingOf, formulaOf, type LogLine, pricePerMillion } from '../../web/src/log/billing.js';
import { exact, exactText, plus, rounded, times } from '../../web/src/log/exactDecimal.js';

const line: LogLine = {
  id: '41',
  createdAt: 1_790_000_000,
  type: 'CONSUME',
  quota: 3_688,
  uncovered: 0,
  promptTokens: 1_500,
  completionTokens: 450,
  cachedTokens: 300,
  cacheWriteTokens: 0,
  imageTokens: 0,
  reasoningTokens: 50,
  model: 'gpt-4o',
  upstreamModel: null,
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
  price: {
    __typename: 'TokenPrice',
    model: '1.25',
    completion: '4',
    cache: '0.5',
    cacheWrite: '1.25',
    image: '1',
    reasoning: '4',
    group: '0.8',
  },
};

const tokenPrice = line.price as Extract<LogLine['price'], { __typename: 'TokenPrice' }>;
const perUnit = '500000';

describe('the billing process of a line', () => {
  test('takes cached tokens out of the input and reasoning tokens out of the output', () => {
    const billing = billingOf(line, perUnit);
    expect(billing).toMatchObject({
      per: 'token',
      parts: [
        { kind: 'input', tokens: 1_200, ratio: '1', cost: '1200' },
        { kind: 'cached', tokens: 300, ratio: '0.5', cost: '150' },
        { kind: 'output', tokens: 400, ratio: '4', cost: '1600' },
        { kind: 'reasoning', tokens: 50, ratio: '4', cost: '200' },
      ],
      product: '3150',
      quota: 3_150,
    });
  });

  test('reads as one calculation', () => {
    const billing = billingOf(line, perUnit);
    expect(billing && formulaOf(billing)).toBe('(1200 + 300 × 0.5 + 400 × 4 + 50 × 4) × 1.25 × 0.8 = 3150');
  });

  test('rounds once, half away from zero', () => {
    const odd = { ...line, promptTokens: 1, completionTokens: 0, cachedTokens: 0, reasoningTokens: 0 };
    const price = { ...tokenPrice, model: '2.5', group: '1' };
    expect(billingOf({ ...odd, price }, perUnit)).toMatchObject({ product: '2.5', quota: 3 });
  });

  test('charges at least 1 for what was used and is not free, and nothing where the price is free', () => {
    const one = { ...line, promptTokens: 1, completionTokens: 0, cachedTokens: 0, reasoningTokens: 0 };
    const cheap = { ...tokenPrice, model: '0.001', group: '1' };
    expect(billingOf({ ...one, price: cheap }, perUnit)).toMatchObject({ product: '0.001', quota: 1 });
    expect(billingOf({ ...one, price: { ...cheap, group: '0' } }, perUnit)).toMatchObject({ quota: 0 });
  });

  test('charges nothing where nothing was used', () => {
    const none = { ...line, promptTokens: 0, completionTokens: 0, cachedTokens: 0, reasoningTokens: 0 };
    const billing = billingOf(none, perUnit);
    expect(billing).toMatchObject({ parts: [], quota: 0 });
    expect(billing && formulaOf(billing)).toBe('0 × 1.25 × 0.8 = 0');
  });

  test('multiplies price, quota per dollar and group where a call has a price of its own', () => {
    const price = { __typename: 'CallPrice' as const, price: '0.01', quotaPerUnit: '500000', group: '1.5' };
    const billing = billingOf({ ...line, price }, '7');
    expect(billing).toMatchObject({ per: 'call', product: '7500', quota: 7_500 });
    expect(billing && formulaOf(billing)).toBe('0.01 × 500000 × 1.5 = 7500');
  });

  test('of a channel test is what a call without a group would have cost', () => {
    const detail = {
      __typename: 'ChannelTestDetail' as const,
      modelRatio: '0.075',
      completionRatio: '4',
      modelPrice: null,
    };
    const tested = { ...line, promptTokens: 5, completionTokens: 8, cachedTokens: 0, reasoningTokens: 0, detail };
    const billing = billingOf({ ...tested, price: null }, perUnit);
    expect(billing).toMatchObject({ group: null, product: '2.775', quota: 3 });
    expect(billing && formulaOf(billing)).toBe('(5 + 8 × 4) × 0.075 = 2.775');
  });

  test('is missing where nothing is charged', () => {
    const detail = { __typename: 'GrantDetail' as const, quota: 5, grantReason: 'SIGNUP' as const };
    expect(billingOf({ ...line, price: null, detail }, perUnit)).toBeNull();
  });

  test('tells prices per million tokens in dollars', () => {
    expect(pricePerMillion('1.25', '4', '1', perUnit)).toBe('10');
    expect(pricePerMillion('0.075', '1', null, perUnit)).toBe('0.15');
  });
});

describe('exact decimals', () => {
  test('keep what floating point would lose', () => {
    expect(exactText(plus(exact('0.1'), exact('0.2')))).toBe('0.3');
    expect(exactText(times(exact('9007199254740993'), exact('1.1')))).toBe('9907919180215092.3');
  });

  test('round half up, and not before half', () => {
    expect(rounded(exact('2.5'))).toBe(3);
    expect(rounded(exact('2.4999'))).toBe(2);
  });
});
