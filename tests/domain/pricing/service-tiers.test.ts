import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CallReserved } from '../../../src/domain/call/call.js';
import { packedCalls } from '../../../src/domain/events/packed-calls.js';
import { Quota } from '../../../src/domain/kernel/quota.js';
import { billingOf } from '../../../src/domain/pricing/billing.js';
import {
  affordableOutput,
  chargeOf,
  maxCallPrice,
  type Price,
  reservationOf,
  type TokenPrice,
} from '../../../src/domain/pricing/pricing.js';
import { servedPrice, serviceTermsOf, withService } from '../../../src/domain/pricing/service-tiers.js';

/** 2 USD in, 8 USD out, and a cent for a search. */
const usual: TokenPrice = {
  per: 'token',
  model: '1',
  ratios: { output: '4' },
  pieces: { dollars: { 'calls:web_search': '0.01' }, quotaPerUnit: '500000' },
  group: '1',
};
const factors = new Map([
  ['flex', '0.5'],
  ['priority', '2'],
  ['ultrafast', '6'],
  ['us', '1.1'],
]);
const asked = (...tiers: string[]): Price => withService(usual, serviceTermsOf(factors, tiers, false));
const usage = { input: 1_000, output: 100, 'calls:web_search': 1 } as const;
const tokens = 1_400;
const search = 5_000;

describe('a call that requests a service tier', () => {
  test.each([
    ['priority', 'priority', 2],
    ['priority', 'fast', 2],
    ['priority', 'default', 1],
    ['priority', 'standard', 1],
    ['priority', 'flex', 0.5],
    ['priority', undefined, 2],
    ['priority', 'unheard-of', 2],
    ['priority', '__proto__', 2],
    // It is held for what was asked.
    ['priority', 'ultrafast', 2],
    ['flex', 'flex', 0.5],
    ['flex', 'default', 1],
    ['flex', 'priority', 1],
    // A discount needs an answer that reports it.
    ['flex', undefined, 1],
  ])('for %s and is served at %s is charged %d times its tokens, and its tools as usual', (tier, reported, factor) => {
    const served = servedPrice(asked(tier), reported);
    expect(chargeOf(usage, served)).toBe(tokens * factor + search);
    expect(served.service?.others).toBeUndefined();
  });

  test('for speed and region pays for both, as far as its answer reports them', () => {
    const both = asked('priority', 'us');
    expect(chargeOf({ input: 1_000 }, servedPrice(both, undefined))).toBe(2_200);
    expect(chargeOf({ input: 1_000 }, servedPrice(both, 'priority+us'))).toBe(2_200);
    expect(chargeOf({ input: 1_000 }, servedPrice(both, 'us'))).toBe(1_100);
    expect(reservationOf({ input: 1_000 }, both)).toBe(2_200);
  });

  test('is reserved for at the most expensive possible tier', () => {
    expect(reservationOf({ input: 1_000, output: 100 }, asked('priority'))).toBe(2 * tokens);
    expect(reservationOf({ input: 1_000, output: 100 }, asked('flex'))).toBe(tokens);
    expect(affordableOutput(Quota(10_000), { input: 1_000 }, asked('priority'))).toBe(1_000);
  });

  test('with a price per call pays the factor of that', () => {
    const call: Price = { per: 'call', price: '0.01', quotaPerUnit: '500000', group: '1' };
    const priced = withService(call, serviceTermsOf(factors, ['priority'], false));
    expect(reservationOf({}, priced)).toBe(10_000);
    expect(chargeOf({}, servedPrice(priced, 'default'))).toBe(5_000);
  });
});

describe('a call that leaves its service tier to the account', () => {
  test('has the standard price, the same object, where the account has no entry', () => {
    expect(withService(usual, serviceTermsOf(factors, [], true))).toBe(usual);
    expect(servedPrice(usual, 'ultrafast')).toBe(usual);
  });

  test('is reserved for up to that entry, and charged by the tier of its answer', () => {
    const price = withService(usual, serviceTermsOf(new Map([...factors, ['auto', '2']]), [], true));
    expect(reservationOf({ input: 1_000 }, price)).toBe(2_000);
    const charge = (reported?: string) => chargeOf({ input: 1_000 }, servedPrice(price, reported));
    expect([charge(), charge('priority'), charge('flex'), charge('ultrafast')]).toEqual([1_000, 2_000, 500, 1_000]);
  });
});

describe('the price of a served call', () => {
  test('has no terms at the standard tier, and shows tier and factor on its bill otherwise', () => {
    expect(servedPrice(asked('priority'), 'default')).toEqual(usual);
    const price = servedPrice(asked('priority'), 'priority');
    expect(price.service).toEqual({ tier: 'priority', factor: '2' });
    expect(billingOf(usage, price)).toMatchObject({
      serviceTier: 'priority',
      serviceFactor: '2',
      total: chargeOf(usage, price),
    });
    expect(billingOf(usage, price).lines.map(({ unitPrice }) => unitPrice)).toEqual(['2', '8', '5000']);
    expect(billingOf(usage, usual)).not.toHaveProperty('serviceTier');
  });

  test.each([
    ['reserved', asked('priority')],
    ['served', servedPrice(asked('priority'), 'flex')],
    ['usual', usual],
  ])('is read from the log as it was written: %s', (_, price) => {
    const facts = { userId: 1, apiKeyId: 1, apiKeyName: 'k', group: 'g', model: 'm', path: '/', stream: false };
    const event = {
      type: 'CallReserved',
      facts,
      reserved: 1,
      promptTokens: 1,
      maxOutputTokens: 1,
    } as unknown as CallReserved;
    const packed = JSON.parse(JSON.stringify(packedCalls.CallReserved.pack({ ...event, price })));
    expect(packedCalls.CallReserved.unpack(packed).price).toEqual(price);
  });

  test('is between zero and the reservation, with any requested, reported and used tiers', () => {
    const tier = fc.constantFrom('flex', 'priority', 'ultrafast', 'us');
    const factor = fc.double({ min: 0, max: 1_000, noNaN: true }).map(String);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('flex', 'priority', 'ultrafast', 'us', 'auto'), factor), { maxLength: 5 }),
        fc.uniqueArray(tier, { maxLength: 2 }),
        fc.boolean(),
        fc.option(fc.oneof(tier, fc.string(), fc.constantFrom('default', 'fast', 'auto', 'priority+us')), {
          nil: undefined,
        }),
        fc.record({ input: fc.nat(), output: fc.nat(), cachedInput: fc.nat() }),
        (entries, tiers, open, reported, used) => {
          const priced = new Map(entries);
          const wanted = tiers.filter((one) => priced.has(one));
          const price = withService(usual, serviceTermsOf(priced, wanted, open));
          const charge = chargeOf(used, servedPrice(price, reported));
          expect(charge).toBeGreaterThanOrEqual(0);
          expect(charge).toBeLessThanOrEqual(reservationOf(used, price));
          expect(charge).toBeLessThanOrEqual(maxCallPrice);
        },
      ),
    );
  });
});
