import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decimal } from '../../src/domain/decimal.js';
import {
  affordableOutput,
  chargeOf,
  dearestCall,
  noUsage,
  type Price,
  reservationOf,
  type Usage,
} from '../../src/domain/pricing.js';
import { Quota } from '../../src/domain/quota.js';

type TokenPrice = Extract<Price, { per: 'token' }>;
type CallPrice = Extract<Price, { per: 'call' }>;

const perToken = (changed: Partial<TokenPrice> = {}): TokenPrice => ({
  per: 'token',
  model: '1',
  completion: '1',
  cache: '1',
  cacheWrite: '1',
  image: '1',
  reasoning: '1',
  group: '1',
  ...changed,
});
const perCall = (changed: Partial<CallPrice> = {}): CallPrice => ({
  per: 'call',
  price: '0.04',
  quotaPerUnit: '500000',
  group: '1',
  ...changed,
});
const used = (changed: Partial<Usage>): Usage => ({ ...noUsage, ...changed });
const charge = (usage: Partial<Usage>, price: Price): number => chargeOf(used(usage), price);

describe('a price per token charges', () => {
  test('1000 input of which 400 cached at half price, 200 output at four times, ratio 1.25: 2000', () =>
    expect(
      charge(
        { prompt: 1000, cached: 400, completion: 200 },
        perToken({ model: '1.25', completion: '4', cache: '0.5' }),
      ),
    ).toBe(2000));

  test('at least 1 where it is not free: 3 input at ratio 0.075 would be 0.225', () => {
    expect(charge({ prompt: 3 }, perToken({ model: '0.075' }))).toBe(1);
    expect(charge({ completion: 1 }, perToken({ completion: '0' }))).toBe(1);
  });

  test('nothing where model or group is free', () => {
    expect(charge({ prompt: 1_000_000, completion: 5 }, perToken({ model: '0' }))).toBe(0);
    expect(charge({ prompt: 1_000_000, completion: 5 }, perToken({ group: '0.0' }))).toBe(0);
  });

  test('nothing where nothing was used', () => expect(chargeOf(noUsage, perToken())).toBe(0));

  test('cache reads, cache writes and images at their own ratios, the rest of the input at 1', () =>
    expect(
      charge(
        { prompt: 1000, cached: 100, cacheWrite: 200, image: 300 },
        perToken({ cache: '0.1', cacheWrite: '1.25', image: '2' }),
      ),
    ).toBe(400 + 10 + 250 + 600));

  test('reasoning at its own ratio, the rest of the output at the completion ratio', () =>
    expect(charge({ completion: 100, reasoning: 60 }, perToken({ completion: '4', reasoning: '10' }))).toBe(
      40 * 4 + 60 * 10,
    ));

  test('no negative rest when the upstream counts more cached than input tokens', () => {
    expect(charge({ prompt: 10, cached: 30 }, perToken({ cache: '0.5' }))).toBe(15);
    expect(charge({ completion: 10, reasoning: 30 }, perToken({ reasoning: '1' }))).toBe(30);
  });

  test('by the group: 0.8 of 1000 is 800', () =>
    expect(charge({ prompt: 1000 }, perToken({ group: '0.8' }))).toBe(800));

  test('rounded once, at the end, halves up: 0.5 → 1, 1.5 → 2, 2.4999 → 2', () => {
    expect(charge({ prompt: 1 }, perToken({ model: '0.5' }))).toBe(1);
    expect(charge({ prompt: 3 }, perToken({ model: '0.5' }))).toBe(2);
    expect(charge({ prompt: 1 }, perToken({ model: '2.4999' }))).toBe(2);
    // 1.15 × 100 is 114.99999999999999 in floating point.
    expect(charge({ prompt: 1 }, perToken({ model: '1.15', group: '100' }))).toBe(115);
    // Two halves make a whole: nothing is rounded in between.
    expect(charge({ prompt: 1, completion: 1 }, perToken({ model: '1.5' }))).toBe(3);
  });
});

describe('a price per call charges', () => {
  test('price × quota per unit × group', () => {
    expect(charge({ prompt: 5 }, perCall())).toBe(20_000);
    expect(charge({ prompt: 5 }, perCall({ group: '0.5' }))).toBe(10_000);
  });
  test('rounded once, halves away from zero', () =>
    expect(charge({ prompt: 5 }, perCall({ price: '0.000001', group: '3' }))).toBe(2));
  test('for every call that was served, counted or not', () => expect(chargeOf(noUsage, perCall())).toBe(20_000));
  test('nothing at price 0', () => expect(charge({ prompt: 5 }, perCall({ price: '0' }))).toBe(0));
});

describe('a reservation', () => {
  test('covers all input and output at the dearest they can get', () =>
    expect(reservationOf(100, 50, perToken({ cacheWrite: '1.25', image: '2', completion: '4', reasoning: '10' }))).toBe(
      100 * 2 + 50 * 10,
    ));
  test('never counts on a cache, nor on anything else that is cheaper than plain input', () =>
    expect(reservationOf(100, 0, perToken({ cache: '0.1', cacheWrite: '0.5', image: '0.5' }))).toBe(100));
  test('is rounded up', () => {
    expect(reservationOf(1, 0, perToken({ model: '1.2' }))).toBe(2);
    expect(reservationOf(0, 0, perCall({ price: '0.0000021' }))).toBe(2);
  });
  test('is at least 1 where the price is not free', () => expect(reservationOf(0, 0, perToken())).toBe(1));
  test('is nothing where the price is free', () => {
    expect(reservationOf(1000, 1000, perToken({ model: '0' }))).toBe(0);
    expect(reservationOf(1000, 1000, perToken({ group: '0' }))).toBe(0);
    expect(reservationOf(1000, 1000, perCall({ price: '0' }))).toBe(0);
  });
});

const ratioText = fc
  .tuple(fc.nat(100_000_000), fc.integer({ min: 0, max: 9 }))
  .map(([digits, places]) => `${digits}e-${places}`);
const tokenPrice: fc.Arbitrary<Price> = fc
  .tuple(ratioText, ratioText, ratioText, ratioText, ratioText, ratioText, ratioText)
  .map(([model, completion, cache, cacheWrite, image, reasoning, group]) =>
    perToken({ model, completion, cache, cacheWrite, image, reasoning, group }),
  );
const callPrice: fc.Arbitrary<Price> = fc
  .tuple(ratioText, ratioText)
  .map(([price, group]) => perCall({ price: `${price}`, quotaPerUnit: '1000', group }));

const upTo = (limit: number) => fc.nat(limit);
/** Usage as the relay reports it: parts within their whole, the whole within the bounds reserved for. */
const boundedUsage = fc.tuple(upTo(5_000), upTo(5_000)).chain(([prompt, output]) =>
  fc
    .tuple(
      upTo(prompt),
      fc.tuple(fc.nat(), fc.nat(), fc.nat()),
      upTo(output),
      fc.double({ min: 0, max: 1, noNaN: true }),
    )
    .map(([used, shares, completion, thinking]) => {
      const unit = used / Math.max(1, shares[0] + shares[1] + shares[2]);
      const [cached, cacheWrite, image] = shares.map((share) => Math.floor(share * unit)) as [number, number, number];
      return {
        prompt,
        output,
        usage: { prompt: used, cached, cacheWrite, image, completion, reasoning: Math.floor(completion * thinking) },
      };
    }),
);

/** The charge by fractions of integers, from the formula of the contract. */
function chargeByFractions(usage: Usage, price: TokenPrice): bigint {
  const places = 9 * 3;
  const at = (text: string): bigint => {
    const { digits, scale } = decimal(text);
    return digits * 10n ** BigInt(9 - scale);
  };
  const one = 10n ** 9n;
  const plain = BigInt(usage.prompt - usage.cached - usage.cacheWrite - usage.image);
  const weighted =
    plain * one +
    BigInt(usage.cached) * at(price.cache) +
    BigInt(usage.cacheWrite) * at(price.cacheWrite) +
    BigInt(usage.image) * at(price.image) +
    BigInt(usage.completion - usage.reasoning) * at(price.completion) +
    BigInt(usage.reasoning) * at(price.reasoning);
  const unit = at(price.model) * at(price.group);
  if (usage.prompt + usage.completion === 0 || unit === 0n) return 0n;
  const under = 10n ** BigInt(places);
  const rounded = (2n * weighted * unit + under) / (2n * under);
  return rounded < 1n ? 1n : rounded;
}

describe('whatever the price and the usage', () => {
  test('a charge is what the formula gives in exact fractions, up to the dearest a call can be', () =>
    fc.assert(
      fc.property(tokenPrice, boundedUsage, (price, { usage }) => {
        const exact = chargeByFractions(usage, price as TokenPrice);
        const most = BigInt(dearestCall);
        expect(BigInt(chargeOf(usage, price))).toBe(exact < most ? exact : most);
      }),
      { numRuns: 500 },
    ));

  test('a reservation is never below the charge for usage within its bounds', () =>
    fc.assert(
      fc.property(fc.oneof(tokenPrice, callPrice), boundedUsage, (price, bounded) => {
        const { usage, prompt, output } = bounded;
        return reservationOf(prompt, output, price) >= chargeOf(usage, price);
      }),
      { numRuns: 1_000 },
    ));

  test('more output never needs a smaller reservation', () =>
    fc.assert(
      fc.property(tokenPrice, upTo(1_000), upTo(1_000), upTo(1_000), (price, prompt, output, more) => {
        try {
          return reservationOf(prompt, output + more, price) >= reservationOf(prompt, output, price);
        } catch {
          return true;
        }
      }),
    ));
});

describe('amounts too large to count', () => {
  test('are exact up to the dearest a call can be', () =>
    expect(charge({ prompt: dearestCall }, perToken())).toBe(dearestCall));
  test('are held and charged as the dearest a call can be, so that the hold does not stay for ever', () => {
    expect(charge({ prompt: Number.MAX_SAFE_INTEGER }, perToken())).toBe(dearestCall);
    expect(charge({ prompt: 1 }, perToken({ model: '1e300' }))).toBe(dearestCall);
    expect(reservationOf(1, 1, perToken({ model: '1e300' }))).toBe(dearestCall);
    expect(reservationOf(1, 1, perCall({ price: '1e300' }))).toBe(dearestCall);
  });
});

describe('the output an amount is worth', () => {
  test('is the most whose reservation stays within it', () =>
    fc.assert(
      fc.property(tokenPrice, fc.nat(100_000), fc.nat(10_000_000), (price, prompt, amount) => {
        const output = affordableOutput(Quota(amount), prompt, price);
        if (output === Number.POSITIVE_INFINITY) {
          expect(reservationOf(prompt, 1_000_000, price)).toBeLessThanOrEqual(Math.max(amount, 1));
          return;
        }
        if (output > 0) expect(reservationOf(prompt, output, price)).toBeLessThanOrEqual(Math.max(amount, 1));
        expect(reservationOf(prompt, output + 1, price)).toBeGreaterThan(amount);
      }),
      { numRuns: 1_000 },
    ));
});

test('the charge can be recomputed from what the event keeps, after a trip through JSON', () => {
  const price = perToken({ model: '0.075', completion: '1.3333333333333333', group: '0.85' });
  const usage = used({ prompt: 12_345, completion: 678 });
  const stored = JSON.parse(JSON.stringify({ usage, price })) as { usage: Usage; price: Price };
  expect(chargeOf(stored.usage, stored.price)).toBe(chargeOf(usage, price));
});

test('a price text that is no number is refused, not taken as 0', () =>
  expect(() => charge({ prompt: 1 }, perToken({ model: 'free' }))).toThrow(
    expect.objectContaining({ code: 'invalid-field' }),
  ));
