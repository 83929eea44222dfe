import { describe, expect, test } from 'vitest';
import { hostShares } from '../../../src/relay/upstream/host-shares.js';

const host = 'https://upstream.example';

/** Takes until refused; how often that went well. */
const takeAll = (shares: ReturnType<typeof hostShares>, payer: number | null, at = host): number => {
  let taken = 0;
  while (shares.take(at, payer)) taken++;
  return taken;
};

describe('the connections to one host', () => {
  test('are never all for one payer: each gets at most half of what the others leave', () => {
    const shares = hostShares(64);
    expect([1, 2, 3, 4, 5, 6, 7].map((payer) => takeAll(shares, payer))).toEqual([32, 16, 8, 4, 2, 1, 1]);
    expect(takeAll(shares, 8)).toBe(0);
  });

  test('are released, and then free for others', () => {
    const shares = hostShares(8);
    expect(takeAll(shares, 1)).toBe(4);
    for (let given = 0; given < 4; given++) shares.giveBack(host, 1);
    expect(takeAll(shares, 2)).toBe(4);
  });

  test('are counted host by host', () => {
    const shares = hostShares(8);
    takeAll(shares, 1);
    expect(takeAll(shares, 1, 'https://other.example')).toBe(4);
  });

  test('are limited for all, also without a known payer', () => {
    expect(takeAll(hostShares(8), null)).toBe(8);
  });
});
