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
import { tokenQuantities } from '../../src/domain/pricing/quantities.js';
import { settled } from '../support/given/calls.js';

/* Counts and ratios at the bounds of what can be written: a charge lies between nothing and the dearest call. */

const bounds = [0, -0, 1, -1, 0.5, 2 ** 31, 2 ** 32, 2 ** 53 - 1, 2 ** 53, 2 ** 63, 1e300, 5e-324];
const odd = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN];
const count = fc.oneof(fc.constantFrom(...bounds, ...bounds.map((one) => -one), ...odd), fc.double());
const names = [...tokenQuantities, 'images', 'seconds', 'calls:web_search'] as const;
const usage: fc.Arbitrary<Usage> = fc.dictionary(fc.constantFrom(...names), count);

const texts = [
  '0',
  '1',
  '-1',
  '1e99',
  '-1e99',
  '1e-99',
  '9223372036854775807',
  '-9223372036854775808',
  '0.000000000001',
];
const factor = fc.constantFrom(...texts);
const pieces = fc.record({
  dollars: fc.dictionary(fc.constantFrom('images', 'seconds', 'calls:web_search'), factor),
  quotaPerUnit: factor,
});
const price = fc.oneof(
  fc.record({
    per: fc.constant('token'),
    model: factor,
    ratios: fc.dictionary(fc.constantFrom(...tokenQuantities), factor),
    pieces,
    group: factor,
  }),
  fc.record({ per: fc.constant('call'), price: factor, quotaPerUnit: factor, pieces, group: factor }),
) as fc.Arbitrary<Price>;

const expectCharge = (quota: number): void => {
  expect(Number.isSafeInteger(quota)).toBe(true);
  expect(quota).toBeGreaterThanOrEqual(0);
  expect(quota).toBeLessThanOrEqual(maxCallPrice);
};

describe('whatever count or ratio is at its bound', () => {
  test('a charge and a hold are whole, not below nothing and not above the dearest call', () => {
    fc.assert(
      fc.property(usage, price, (used, by) => {
        expectCharge(chargeOf(used, by));
        expectCharge(reservationOf(used, by));
      }),
      { numRuns: 5_000 },
    );
  });

  test('output that can be paid is never a negative count', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), usage, price, (quota, used, by) => {
        expect(affordableOutput(Quota(quota), used, by)).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 5_000 },
    );
  });

  test('a settlement takes from its user what it charges, and credits nothing', () => {
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
