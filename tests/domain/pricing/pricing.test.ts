import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { completionTokens, noUsage, promptTokens, type Usage } from '../../../src/domain/call/usage.js';
import { decimal } from '../../../src/domain/kernel/decimal.js';
import { Quota } from '../../../src/domain/kernel/quota.js';
import {
  affordableOutput,
  type CallPrice,
  chargeOf,
  maxCallPrice,
  type Price,
  reservationOf,
  type TokenPrice,
} from '../../../src/domain/pricing/pricing.js';
import { tokenQuantities } from '../../../src/domain/pricing/quantities.js';
import { quantityRatio } from '../../../src/domain/pricing/rates.js';

type TokenFactors = Pick<TokenPrice, 'model' | 'group' | 'pieces'> & TokenPrice['ratios'];

const perToken = ({ model = '1', group = '1', pieces, ...ratios }: Partial<TokenFactors> = {}): TokenPrice => ({
  per: 'token',
  model,
  ratios,
  ...(pieces && { pieces }),
  group,
});
const perCall = (changed: Partial<CallPrice> = {}): CallPrice => ({
  per: 'call',
  price: '0.04',
  quotaPerUnit: '500000',
  group: '1',
  ...changed,
});
const charge = chargeOf;

describe('a price per token charges', () => {
  test('1000 input of which 400 cached at half price, 200 output at four times, ratio 1.25: 2000', () =>
    expect(
      charge(
        { input: 600, cachedInput: 400, output: 200 },
        perToken({ model: '1.25', output: '4', cachedInput: '0.5' }),
      ),
    ).toBe(2000));

  test('at least 1 where it is not free: 3 input at ratio 0.075 would be 0.225', () => {
    expect(charge({ input: 3 }, perToken({ model: '0.075' }))).toBe(1);
    expect(charge({ output: 1 }, perToken({ output: '0' }))).toBe(1);
  });

  test('nothing where model or group is free', () => {
    expect(charge({ input: 1_000_000, output: 5 }, perToken({ model: '0' }))).toBe(0);
    expect(charge({ input: 1_000_000, output: 5 }, perToken({ group: '0.0' }))).toBe(0);
  });

  test('nothing without usage', () => expect(chargeOf(noUsage, perToken())).toBe(0));

  test('cache reads, cache writes and images at their own ratios, the rest of the input at 1', () =>
    expect(
      charge(
        { input: 400, cachedInput: 100, cacheWrite: 200, imageInput: 300 },
        perToken({ cachedInput: '0.1', cacheWrite: '1.25', imageInput: '2' }),
      ),
    ).toBe(400 + 10 + 250 + 600));

  test('reasoning at its own ratio, the rest of the output at the completion ratio', () =>
    expect(charge({ output: 40, reasoning: 60 }, perToken({ output: '4', reasoning: '10' }))).toBe(40 * 4 + 60 * 10));

  test('audio at its own ratios, in and out', () =>
    expect(
      charge(
        { input: 12, audioInput: 100, output: 20, audioOutput: 50 },
        perToken({ model: '1.25', output: '4', audioInput: '40', audioOutput: '80' }),
      ),
    ).toBe((12 + 100 * 40 + 20 * 4 + 50 * 80) * 1.25));

  test('quantities without a ratio of their own like plain tokens of their direction', () =>
    expect(charge({ cacheWriteHour: 1, audioInput: 2, reasoning: 3, imageOutput: 4 }, perToken({ output: '10' }))).toBe(
      3 + 7 * 10,
    ));

  test('per-use quantities in dollars whatever the model costs, in the same sum', () => {
    const pieces = { dollars: { 'calls:web_search': '0.01', images: '0.04' }, quotaPerUnit: '500000' };
    const price = perToken({ model: '0.5', group: '0.5', pieces });
    expect(charge({ input: 1, 'calls:web_search': 3, images: 1 }, price)).toBe(17_500);
    expect(charge({ input: 1, seconds: 60 }, price)).toBe(1);
    expect(charge({ images: 1 }, perToken({ model: '0', pieces }))).toBe(20_000);
    expect(charge({ images: 1 }, perToken({ model: '0', group: '0', pieces }))).toBe(0);
  });

  test('by the group: 0.8 of 1000 is 800', () => expect(charge({ input: 1000 }, perToken({ group: '0.8' }))).toBe(800));

  test('rounded once, at the end, with half a unit rounded up: 0.5 → 1, 1.5 → 2, 2.4999 → 2', () => {
    expect(charge({ input: 1 }, perToken({ model: '0.5' }))).toBe(1);
    expect(charge({ input: 3 }, perToken({ model: '0.5' }))).toBe(2);
    expect(charge({ input: 1 }, perToken({ model: '2.4999' }))).toBe(2);
    // 1.15 × 100 is 114.99999999999999 in floating point.
    expect(charge({ input: 1 }, perToken({ model: '1.15', group: '100' }))).toBe(115);
    // Two halves make a whole: nothing is rounded in between.
    expect(charge({ input: 1, output: 1 }, perToken({ model: '1.5' }))).toBe(3);
  });
});

describe('a price per call charges', () => {
  test('price × quota per unit × group', () => {
    expect(charge({ input: 5 }, perCall())).toBe(20_000);
    expect(charge({ input: 5 }, perCall({ group: '0.5' }))).toBe(10_000);
  });
  test('rounded once, half a unit away from zero', () =>
    expect(charge({ input: 5 }, perCall({ price: '0.000001', group: '3' }))).toBe(2));
  test('for every served call, counted or not', () => expect(chargeOf(noUsage, perCall())).toBe(20_000));
  test('nothing at price 0', () => expect(charge({ input: 5 }, perCall({ price: '0' }))).toBe(0));
});

describe('the amount of a reservation', () => {
  test('covers all input and output at their maximum price', () =>
    expect(
      reservationOf(
        { input: 100, output: 50 },
        perToken({ cacheWrite: '1.25', imageInput: '2', output: '4', reasoning: '10' }),
      ),
    ).toBe(100 * 2 + 50 * 10));
  test('never assumes a cache, nor anything else that is cheaper than plain input', () =>
    expect(
      reservationOf({ input: 100, output: 0 }, perToken({ cachedInput: '0.1', cacheWrite: '0.5', imageInput: '0.5' })),
    ).toBe(100));
  test('is rounded up', () => {
    expect(reservationOf({ input: 1, output: 0 }, perToken({ model: '1.2' }))).toBe(2);
    expect(reservationOf({ input: 0, output: 0 }, perCall({ price: '0.0000021' }))).toBe(2);
  });
  test('is at least 1 where the price is not free', () =>
    expect(reservationOf({ input: 0, output: 0 }, perToken())).toBe(1));
  test('is zero where the price is free', () => {
    expect(reservationOf({ input: 1000, output: 1000 }, perToken({ model: '0' }))).toBe(0);
    expect(reservationOf({ input: 1000, output: 1000 }, perToken({ group: '0' }))).toBe(0);
    expect(reservationOf({ input: 1000, output: 1000 }, perCall({ price: '0' }))).toBe(0);
  });
});

const ratioText = fc
  .tuple(fc.nat(100_000_000), fc.integer({ min: 0, max: 9 }))
  .map(([digits, places]) => `${digits}e-${places}`);
const tokenPrice: fc.Arbitrary<TokenPrice> = fc
  .tuple(ratioText, ratioText, fc.dictionary(fc.constantFrom(...tokenQuantities), ratioText))
  // What is relative to an input token has none for it.
  .map(([model, group, { input: _input, ...ratios }]) => perToken({ model, group, ...ratios }));
const callPrice: fc.Arbitrary<Price> = fc
  .tuple(ratioText, ratioText)
  .map(([price, group]) => perCall({ price: `${price}`, quotaPerUnit: '1000', group }));

const upTo = (limit: number) => fc.nat(limit);
const someUsage: fc.Arbitrary<Usage> = fc.dictionary(fc.constantFrom(...tokenQuantities), upTo(5_000));

/** The charge by fractions of integers, from the formula of the contract. */
function chargeByFractions(usage: Usage, price: TokenPrice): bigint {
  const at = (text: string): bigint => {
    const { digits, scale } = decimal(text);
    return digits * 10n ** BigInt(9 - scale);
  };
  let weighted = 0n;
  for (const name of tokenQuantities) weighted += BigInt(usage[name] ?? 0) * at(quantityRatio(price, name));
  const unit = at(price.model) * at(price.group);
  if (promptTokens(usage) + completionTokens(usage) === 0 || unit === 0n) return 0n;
  const under = 10n ** BigInt(9 * 3);
  const rounded = (2n * weighted * unit + under) / (2n * under);
  return rounded < 1n ? 1n : rounded;
}

/** What a call may be held for: its sound apart, and whether it keeps for an hour; of everything else only how much. */
const heldFor = (usage: Usage): Usage => {
  const { audioInput = 0, audioOutput = 0, cacheWriteHour = 0 } = usage;
  const output = completionTokens(usage);
  return {
    [cacheWriteHour > 0 ? 'cacheWriteHour' : 'input']: promptTokens(usage) - audioInput,
    audioInput,
    ...(audioOutput > 0 ? { audioOutput: output } : { output }),
  };
};

describe('for any price and any usage', () => {
  test('a charge equals the formula in exact fractions, up to the maximum cost of a call', () =>
    fc.assert(
      fc.property(tokenPrice, someUsage, (price, usage) => {
        const exact = chargeByFractions(usage, price);
        const max = BigInt(maxCallPrice);
        expect(BigInt(chargeOf(usage, price))).toBe(exact < max ? exact : max);
      }),
      { numRuns: 500 },
    ));

  test('a reservation is never below the charge, with any distribution of tokens', () =>
    fc.assert(
      fc.property(fc.oneof(tokenPrice, callPrice), someUsage, upTo(100), (price, usage, more) => {
        const max = heldFor(usage);
        return reservationOf({ ...max, input: (max.input ?? 0) + more }, price) >= chargeOf(usage, price);
      }),
      { numRuns: 1_000 },
    ));

  test('more output never needs a smaller reservation', () =>
    fc.assert(
      fc.property(tokenPrice, upTo(1_000), upTo(1_000), upTo(1_000), (price, input, output, more) => {
        const min = reservationOf({ input, output }, price);
        return reservationOf({ input, output: output + more }, price) >= min;
      }),
    ));
});

describe('an amount too large to count', () => {
  test('is exact up to the maximum cost of a call', () =>
    expect(charge({ input: maxCallPrice }, perToken())).toBe(maxCallPrice));
  test('is reserved and charged as the maximum cost of a call, so that the reservation ends', () => {
    expect(charge({ input: Number.MAX_SAFE_INTEGER }, perToken())).toBe(maxCallPrice);
    expect(charge({ input: 1 }, perToken({ model: '1e300' }))).toBe(maxCallPrice);
    expect(reservationOf({ input: 1, output: 1 }, perToken({ model: '1e300' }))).toBe(maxCallPrice);
    expect(reservationOf({ input: 1, output: 1 }, perCall({ price: '1e300' }))).toBe(maxCallPrice);
  });
});

describe('the affordable output of an amount', () => {
  test('is the maximum whose reservation stays within it', () =>
    fc.assert(
      fc.property(tokenPrice, fc.nat(100_000), fc.nat(10_000_000), (price, input, amount) => {
        const output = affordableOutput(Quota(amount), { input }, price);
        if (output === Number.POSITIVE_INFINITY) {
          // Where output is free the input alone may cost more than there is.
          const max = Math.max(amount, reservationOf({ input }, price), 1);
          expect(reservationOf({ input, output: 1_000_000 }, price)).toBeLessThanOrEqual(max);
          return;
        }
        if (output > 0) expect(reservationOf({ input, output }, price)).toBeLessThanOrEqual(Math.max(amount, 1));
        expect(reservationOf({ input, output: output + 1 }, price)).toBeGreaterThan(amount);
      }),
      { numRuns: 1_000, examples: [[perToken({ output: '0' }), 2, 0]] },
    ));
});

test('the affordable output is 0 where the input alone costs more', () => {
  const price = perToken();
  const expensiveInput = { input: 1_000 };
  const cost = reservationOf(expensiveInput, price);
  expect(affordableOutput(Quota(cost - 1), expensiveInput, price)).toBe(0);
  expect(affordableOutput(Quota(cost * 2), expensiveInput, price)).toBeGreaterThan(0);
});

test('the charge can be recomputed from the stored event, after a round trip through JSON', () => {
  const price = perToken({ model: '0.075', output: '1.3333333333333333', group: '0.85' });
  const usage = { input: 12_345, output: 678 };
  const stored = JSON.parse(JSON.stringify({ usage, price })) as { usage: Usage; price: Price };
  expect(chargeOf(stored.usage, stored.price)).toBe(chargeOf(usage, price));
});

test('a price text that is not a number is refused, not treated as 0', () =>
  expect(() => charge({ input: 1 }, perToken({ model: 'free' }))).toThrow(
    expect.objectContaining({ code: 'invalid-field' }),
  ));
