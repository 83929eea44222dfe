import { describe, expect, test } from 'vitest';
import { Quota } from '../../../src/domain/kernel/quota.js';
import type { Price } from '../../../src/domain/pricing/pricing.js';
import { watchGrowth } from '../../../src/relay/delivery/growth.js';
import type { Reservation } from '../../../src/relay/metering/metered.js';
import type { Estimate } from '../../../src/relay/metering/reservation-estimate.js';
import { SeenText } from '../../../src/relay/text/seen-text.js';
import { plainPrice } from '../../support/given/calls.js';

/** One quota a token: a hold for ten of prompt and so many of output, with so much more to be had. */
function watched(output: number, balance: number, price: Price = plainPrice) {
  const raised: number[] = [];
  const reservation = {
    reserved: Quota(10 + output),
    async extend(quota: Quota): Promise<boolean> {
      if (quota > 10 + output + balance) return false;
      raised.push(quota);
      reservation.reserved = quota;
      return true;
    },
  };
  const estimate = { conservative: { input: 10, output: 0 }, price };
  const growth = watchGrowth(reservation as unknown as Reservation, estimate as unknown as Estimate);
  const said = new SeenText();
  /** Four letters to a token. */
  const covers = (tokens: number): true | Promise<boolean> => {
    said.add('abcd'.repeat(tokens - said.length / 4));
    return growth.covers(said);
  };
  return { covers, raised };
}

describe('the reserved amount of a growing stream', () => {
  test.each([
    ['within its hold needs nothing more', 100, 0, [50, 100], true, []],
    ['beyond its hold raises it a step ahead', 100, 10_000, [100, 120], true, [10 + 120 + 512]],
    ['within that step raises nothing', 100, 10_000, [120, 600], true, [10 + 120 + 512]],
    ['far raises by a quarter of what there is', 4_000, 90_000, [5_000], true, [10 + 5_000 + 1_250]],
    ['to the last token its caller has goes on', 100, 20, [120], true, [10 + 120]],
    ['beyond what its caller has ends', 100, 20, [121], false, []],
    ['at once beyond what its caller has ends', 100, 20, [5_000], false, []],
  ] as const)('%s', async (_rule, hold, balance, sizes, covered, raised) => {
    const stream = watched(hold, balance);
    let result = true;
    for (const tokens of sizes) result = await stream.covers(tokens);
    expect(result).toBe(covered);
    expect(stream.raised).toEqual(raised);
  });

  test('is constant where the call has one price', () => {
    const stream = watched(0, 0, { per: 'call', price: '1', group: '1' } as unknown as Price);
    expect([stream.covers(10), stream.covers(100_000)]).toEqual([true, true]);
  });
});
