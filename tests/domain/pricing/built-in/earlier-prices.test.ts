import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CallRefunded, CallReserved, CallSettled } from '../../../../src/domain/call/call.js';
import { completionTokens, promptTokens } from '../../../../src/domain/call/usage.js';
import { currentPayloads } from '../../../../src/domain/events/upcast.js';
import { decimal } from '../../../../src/domain/kernel/decimal.js';
import type { EarlierTokenPrice, EarlierUsage } from '../../../../src/domain/pricing/built-in/earlier-prices.js';
import { chargeOf, maxCallPrice, reservationOf } from '../../../../src/domain/pricing/pricing.js';

/* Calls from before quantities had names. */

const ratioText = fc
  .tuple(fc.nat(100_000_000), fc.integer({ min: 0, max: 9 }))
  .map(([digits, places]) => `${digits}e-${places}`);
const ratio = fc.oneof(fc.constantFrom('0', '1', '0.1', '1.25', '37.5'), ratioText);
const earlierPrice: fc.Arbitrary<EarlierTokenPrice> = fc.record({
  per: fc.constant('token'),
  model: ratio,
  completion: ratio,
  cache: ratio,
  cacheWrite: ratio,
  image: ratio,
  reasoning: ratio,
  group: ratio,
});
const tokens = fc.nat(5_000);
/** Parts beyond their whole too: they were charged as what they were. */
const anyUsage: fc.Arbitrary<EarlierUsage> = fc.record({
  prompt: tokens,
  cached: tokens,
  cacheWrite: tokens,
  image: tokens,
  completion: tokens,
  reasoning: tokens,
});
/** As the relay wrote it: parts within their whole. */
const writtenUsage = anyUsage.map(({ prompt, cached, cacheWrite, image, completion, reasoning }) => ({
  prompt: prompt + cached + cacheWrite + image,
  cached,
  cacheWrite,
  image,
  completion: completion + reasoning,
  reasoning,
}));
const usage = fc.oneof(anyUsage, writtenUsage, fc.constant({ ...zeroes(), cached: 3 }));

function zeroes(): EarlierUsage {
  return { prompt: 0, cached: 0, cacheWrite: 0, image: 0, completion: 0, reasoning: 0 };
}

const places = 9;
const fixed = (text: string): bigint => {
  const { digits, scale } = decimal(text);
  return digits * 10n ** BigInt(places - scale);
};

/** What those releases charged. */
function chargedThen(used: EarlierUsage, price: EarlierTokenPrice): number {
  const unit = fixed(price.model) * fixed(price.group);
  if (used.prompt + used.completion === 0 || unit === 0n) return 0;
  const plain = Math.max(used.prompt - used.cached - used.cacheWrite - used.image, 0);
  const spoken = Math.max(used.completion - used.reasoning, 0);
  const weighted =
    BigInt(plain) * fixed('1') +
    BigInt(used.cached) * fixed(price.cache) +
    BigInt(used.cacheWrite) * fixed(price.cacheWrite) +
    BigInt(used.image) * fixed(price.image) +
    BigInt(spoken) * fixed(price.completion) +
    BigInt(used.reasoning) * fixed(price.reasoning);
  const under = 10n ** BigInt(3 * places);
  return Math.min(Math.max(Number((2n * weighted * unit + under) / (2n * under)), 1), maxCallPrice);
}

const lifted = <Event>(type: string, version: number, data: Record<string, unknown>): Event =>
  currentPayloads.upcast(type, version, data) as Event;

describe('a settlement from before quantities had names', () => {
  test('results in its original charge', () =>
    fc.assert(
      fc.property(earlierPrice, usage, (price, used) => {
        const event = lifted<CallSettled>('CallSettled', 3, { price, usage: used });
        expect(chargeOf(event.usage, event.price)).toBe(chargedThen(used, price));
      }),
      { numRuns: 2_000 },
    ));

  test('contains the same number of tokens in and out', () =>
    fc.assert(
      fc.property(earlierPrice, writtenUsage, (price, used) => {
        const event = lifted<CallSettled>('CallSettled', 3, { price, usage: used });
        expect(promptTokens(event.usage)).toBe(used.prompt);
        expect(completionTokens(event.usage)).toBe(used.completion);
        expect(event.usage.cachedInput ?? 0).toBe(used.prompt + used.completion === 0 ? 0 : used.cached);
        expect(event.usage.reasoning ?? 0).toBe(used.reasoning);
      }),
    ));

  test('keeps its charge, which is not computed again', () => {
    const stored = { charged: 5, price: { per: 'call', price: '0.04', quotaPerUnit: '500000', group: '1' } };
    expect(lifted<CallSettled>('CallSettled', 3, { ...stored, usage: zeroes() })).toEqual({
      type: 'CallSettled',
      charged: 5,
      price: stored.price,
      usage: {},
    });
  });
});

test('a reservation from before quantities had names keeps its rates', () => {
  const price = {
    ...{ per: 'token', model: '1.25', completion: '4', cache: '0.5' },
    ...{ cacheWrite: '1.6', image: '1', reasoning: '6', group: '1' },
  };
  const event = lifted<CallReserved>('CallReserved', 1, { price, reserved: 9 });
  expect(event.reserved).toBe(9);
  expect(reservationOf({ input: 100, output: 10 }, event.price)).toBe((100 * 1.6 + 10 * 6) * 1.25);
});

test('a refund from before quantities had names subtracts the counted usage', () => {
  const settlement = { charged: 3, usage: { ...zeroes(), prompt: 10, cached: 4, completion: 2, reasoning: 2 } };
  expect(lifted<CallRefunded>('CallRefunded', 1, { settlement }).settlement).toEqual({
    charged: 3,
    usage: { input: 6, cachedInput: 4, reasoning: 2 },
  });
});
