import { describe, expect, test } from 'vitest';
import { hostShares } from '../../../src/relay/upstream/host-shares.js';

const host = 'https://upstream.example';

/** Takes until refused; how often that went well. */
const takeAll = (shares: ReturnType<typeof hostShares>, payer: number | null, at = host): number => {
  let taken = 0;
  while (shares.take(at, payer)) taken++;
  return taken;
};

describe('the room at one host', () => {
  test('is never all for one: each gets at most half of what the others have left', () => {
    const shares = hostShares(64);
    expect([1, 2, 3, 4, 5, 6, 7].map((payer) => takeAll(shares, payer))).toEqual([32, 16, 8, 4, 2, 1, 1]);
    expect(takeAll(shares, 8)).toBe(0);
  });

  test('comes back, and is another’s then', () => {
    const shares = hostShares(8);
    expect(takeAll(shares, 1)).toBe(4);
    for (let given = 0; given < 4; given++) shares.giveBack(host, 1);
    expect(takeAll(shares, 2)).toBe(4);
  });

  test('is counted host by host', () => {
    const shares = hostShares(8);
    takeAll(shares, 1);
    expect(takeAll(shares, 1, 'https://other.example')).toBe(4);
  });

  test('ends for everybody, also for nobody in particular', () => {
    expect(takeAll(hostShares(8), null)).toBe(8);
  });
});
