import { expect, test } from 'vitest';
import { startChannelChecks } from '../../../src/application/reactions/channel-checks.js';
import { until } from '../../support/until.js';

/* What is done to all channels by the clock, with a clock that is fast. */

const counted = () => {
  const counts = { tests: 0, balances: 0, failures: 0 };
  const work = {
    testAll: () => void counts.tests++,
    updateBalances: async () => {
      counts.balances++;
      throw new Error('no');
    },
  };
  return { counts, work, failed: () => void counts.failures++ };
};

test('a periodic channel job runs repeatedly where an interval is set, also after a failure', async () => {
  const { counts, work, failed } = counted();
  const end = startChannelChecks(work, { testEveryMs: 1, balancesEveryMs: 1 }, failed);
  await until(async () => (counts.tests > 1 && counts.failures > 1 ? true : null));
  await end();
  const { tests, balances } = counts;
  const later = startChannelChecks(work, { testEveryMs: 1, balancesEveryMs: null }, failed);
  await until(async () => (counts.tests > tests ? true : null));
  await later();
  expect(counts.balances).toBe(balances);
});

test('no channel job runs where no interval is set', async () => {
  const { counts, work, failed } = counted();
  await startChannelChecks(work, { testEveryMs: null, balancesEveryMs: null }, failed)();
  expect(counts).toEqual({ tests: 0, balances: 0, failures: 0 });
});
