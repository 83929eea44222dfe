import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Usage } from '../../../src/domain/call/usage.js';
import { packedCalls } from '../../../src/domain/events/packed-calls.js';
import { Quota } from '../../../src/domain/kernel/quota.js';
import { billingOf } from '../../../src/domain/pricing/billing.js';
import { withTiersUpTo } from '../../../src/domain/pricing/context-tiers.js';
import { affordableOutput, chargeOf, reservationOf, type TokenPrice } from '../../../src/domain/pricing/pricing.js';
import { tokenQuantities } from '../../../src/domain/pricing/quantities.js';

/** 2 USD in, 8 USD out; twice and one and a half times as much beyond 200,000 tokens, four times beyond a million. */
const tiered: TokenPrice = {
  per: 'token',
  model: '1',
  ratios: { output: '4', cachedInput: '0.1', cacheWrite: '1.25' },
  tiers: [
    { over: 200_000, ratios: { input: '2', output: '6', cachedInput: '0.2', cacheWrite: '2.5' } },
    { over: 1_000_000, ratios: { input: '4', output: '16', cachedInput: '0.4', cacheWrite: '5' } },
  ],
  group: '1',
};

describe('a price with context tiers', () => {
  test('charges the whole call by the tier of its prompt, with every kind of input counted', () => {
    expect(chargeOf({ input: 100_000, cachedInput: 100_000, output: 10 }, tiered)).toBe(100_000 + 10_000 + 40);
    expect(chargeOf({ input: 100_001, cachedInput: 100_000, output: 10 }, tiered)).toBe(200_002 + 20_000 + 60);
    expect(chargeOf({ input: 1_000_001 }, tiered)).toBe(4_000_004);
  });

  test('is shown line by line as it was charged', () => {
    const usage = { input: 150_000, cacheWrite: 50_001, output: 7 };
    const { lines, total } = billingOf(usage, tiered);
    expect(lines.map(({ quantity, ratio }) => [quantity, ratio])).toEqual([
      ['input', '2'],
      ['cacheWrite', '2.5'],
      ['output', '6'],
    ]);
    expect(total).toBe(chargeOf(usage, tiered));
  });

  test('reserves by the higher tier as soon as the maximum prompt reaches it', () => {
    expect(reservationOf({ input: 200_000, output: 100 }, tiered)).toBe(200_000 * 1.25 + 400);
    expect(reservationOf({ input: 200_001, output: 100 }, tiered)).toBe(Math.ceil(200_001 * 2.5) + 600);
  });

  test('affords as much output as the most expensive reachable tier permits', () => {
    const quota = Quota(1_000_000);
    const output = affordableOutput(quota, { input: 250_000 }, tiered);
    expect(reservationOf({ input: 250_000, output }, tiered)).toBeLessThanOrEqual(quota);
    expect(reservationOf({ input: 250_000, output: output + 1 }, tiered)).toBeGreaterThan(quota);
  });

  test('loses the tiers that no prompt of a call reaches, and is then the same object for every such call', () => {
    const short = withTiersUpTo(tiered, { input: 10 });
    expect(short).not.toHaveProperty('tiers');
    expect(withTiersUpTo(tiered, { input: 200_000 })).toBe(short);
    expect(withTiersUpTo(tiered, { input: 200_001 })).toMatchObject({ tiers: [{ over: 200_000 }] });
    expect(withTiersUpTo(tiered, { input: 2_000_000 })).toBe(tiered);
  });

  test('is stored in the log with its tiers', () => {
    const reserved = {
      type: 'CallReserved',
      facts: { userId: 1, apiKeyId: 1, apiKeyName: 'k', group: 'g', model: 'm', path: '/p', stream: false },
      reserved: 5,
      promptTokens: 1,
      maxOutputTokens: 2,
      price: tiered,
    } as unknown as Parameters<typeof packedCalls.CallReserved.pack>[0];
    const packed = JSON.parse(JSON.stringify(packedCalls.CallReserved.pack(reserved))) as readonly unknown[];
    expect(packedCalls.CallReserved.unpack(packed)).toEqual(reserved);
  });

  test('never charges more than the reservation, with any tiers and usage', () => {
    const ratio = fc.integer({ min: 0, max: 40 }).map((tenths) => String(tenths / 10));
    const ratios = fc.record(Object.fromEntries(tokenQuantities.map((name) => [name, ratio])), { requiredKeys: [] });
    const price = fc
      .record({
        model: ratio,
        ratios,
        overs: fc.uniqueArray(fc.integer({ min: 1, max: 2000 }), { maxLength: 3 }),
        other: fc.array(ratios, { minLength: 3, maxLength: 3 }),
      })
      .map(
        ({ model, ratios, overs, other }): TokenPrice => ({
          per: 'token',
          model,
          ratios,
          tiers: overs.sort((a, b) => a - b).map((over, index) => ({ over, ratios: other[index] ?? {} })),
          group: '1',
        }),
      );
    const counts = fc.record({ input: fc.nat(2000), output: fc.nat(2000) });
    const share = fc.record({
      input: fc.double({ min: 0, max: 1, noNaN: true }),
      cached: fc.double({ min: 0, max: 1, noNaN: true }),
      output: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    fc.assert(
      fc.property(price, counts, share, (price, max, part) => {
        const input = Math.floor(max.input * part.input);
        const cachedInput = Math.floor(input * part.cached);
        const usage: Usage = { input: input - cachedInput, cachedInput, output: Math.floor(max.output * part.output) };
        const reserved = withTiersUpTo(price, max);
        expect(chargeOf(usage, reserved)).toBe(chargeOf(usage, price));
        expect(chargeOf(usage, reserved)).toBeLessThanOrEqual(reservationOf(max, reserved));
      }),
    );
  });
});
