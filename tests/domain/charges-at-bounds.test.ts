import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Usage } from '../../src/domain/call/usage.js';
import { streams } from '../../src/domain/events/events.js';
import { CallId } from '../../src/domain/kernel/ids.js';
import { Quota } from '../../src/domain/kernel/quota.js';
import { movementsOf } from '../../src/domain/ledger/movements.js';
import {
  affordableOutput,
  chargeOf,
  maxCallPrice,
  type Price,
  reservationOf,
} from '../../src/domain/pricing/pricing.js';
import { isTokens, type Quantity, quantities, tokenQuantities } from '../../src/domain/pricing/quantities.js';
import { servedPrice } from '../../src/domain/pricing/service-tiers.js';
import { settled } from '../support/given/calls.js';

/* Counts and ratios at the bounds of what can be written: a charge lies between nothing and the dearest call. */

const bounds = [0, -0, 1, -1, 0.5, 2 ** 31, 2 ** 32, 2 ** 53 - 1, 2 ** 53, 2 ** 63, 1e300, 1e308, 5e-324];
const odd = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN];
const count = fc.oneof(fc.constantFrom(...bounds, ...bounds.map((one) => -one), ...odd), fc.double());
const names = Object.keys(quantities) as Quantity[];
const pieceNames = names.filter((name) => !isTokens(name));
const usage: fc.Arbitrary<Usage> = fc.dictionary(fc.constantFrom(...names), count);

const texts = [
  '0',
  '1',
  '-1',
  '1000000',
  '1e99',
  '1e308',
  '-1e99',
  '1e-99',
  '9223372036854775807',
  '-9223372036854775808',
  '0.000000000001',
];
const factor = fc.constantFrom(...texts);
const pieces = fc.record({
  dollars: fc.dictionary(fc.constantFrom(...pieceNames), factor),
  quotaPerUnit: factor,
});
const ratios = fc.dictionary(fc.constantFrom(...tokenQuantities), factor);
const over = fc.constantFrom(1, 2 ** 31, 2 ** 53 - 2);
const tiers = fc
  .uniqueArray(fc.record({ over, ratios }), { maxLength: 3, selector: (tier) => tier.over })
  .map((list) => list.sort((one, other) => one.over - other.over));
const service = fc.record({
  tier: fc.constantFrom('default', 'flex'),
  factor,
  others: fc.dictionary(fc.constantFrom('default', 'flex', 'priority'), factor),
});
const reported = fc.constantFrom(undefined, 'default', 'flex', 'priority', 'fast', 'other');
const price = fc.oneof(
  fc.record({
    per: fc.constant('token'),
    model: factor,
    ratios,
    tiers,
    pieces,
    group: factor,
    service: fc.option(service, { nil: undefined }),
  }),
  fc.record({
    per: fc.constant('call'),
    price: factor,
    quotaPerUnit: factor,
    pieces,
    group: factor,
    service: fc.option(service, { nil: undefined }),
  }),
) as fc.Arbitrary<Price>;

const expectCharge = (quota: number): void => {
  expect(Number.isSafeInteger(quota)).toBe(true);
  expect(quota).toBeGreaterThanOrEqual(0);
  expect(quota).toBeLessThanOrEqual(maxCallPrice);
};

describe('with every count or ratio at its bound', () => {
  test('a charge and a reservation are integers between zero and the maximum cost of a call', () => {
    fc.assert(
      fc.property(usage, price, reported, (used, by, tier) => {
        expectCharge(chargeOf(used, by));
        expectCharge(chargeOf(used, servedPrice(by, tier)));
        expectCharge(reservationOf(used, by));
      }),
      { numRuns: 5_000 },
    );
  });

  test('the affordable output is never a negative count', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), usage, price, (quota, used, by) => {
        expect(affordableOutput(Quota(quota), used, by)).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 5_000 },
    );
  });

  test('a settlement debits its user by the charge, and credits nothing', () => {
    fc.assert(
      fc.property(usage, price, fc.nat(), (used, by, held) => {
        const charged = chargeOf(used, by);
        const stream = streams.call(CallId('c'));
        const [movement] = movementsOf({ event: settled({ quota: held, charged }), stream });
        let own = 0n;
        for (const posting of movement?.postings ?? []) if (posting.owner === 'user') own += posting.amount;
        expect(own).toBe(-BigInt(charged));
        expect(own <= 0n).toBe(true);
      }),
    );
  });
});
