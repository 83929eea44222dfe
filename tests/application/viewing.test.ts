import { describe, expect, test } from 'vitest';
import { liveTraffic } from '../../src/application/memory/live-traffic.js';
import { trafficQueries } from '../../src/application/usage/traffic.js';
import { usageQueries } from '../../src/application/usage/usage-queries.js';
import { beginning } from '../../src/domain/events/events.js';
import { ChannelId } from '../../src/domain/kernel/ids.js';
import { someInstant } from '../support/given/events.js';
import { settableClock } from '../support/given/fixed-clock.js';
import { admin, ordinary } from '../support/memory/memory-node.js';
import { refusal } from '../support/refusal.js';

/* Who may see what is decided before anything is read: nothing here has a database. */

const tooLow = refusal('role-too-low', { needed: 'admin' });

describe('the usage log', () => {
  const { mayAskLog, log, logBefore, followLog, logStatistics } = usageQueries({} as never);
  const ofChannel = { channelId: ChannelId(1) };

  test('is available to all users for their own lines, and to administrators for all lines', () => {
    mayAskLog(ordinary, { model: 'gpt-4o' }, true);
    mayAskLog(admin, {}, false);
    expect(() => mayAskLog(ordinary, {}, false)).toThrow(tooLow);
  });
  test('is available by channel to administrators only, their own lines included', () => {
    mayAskLog(admin, ofChannel, true);
    mayAskLog(admin, ofChannel, false);
    expect(() => mayAskLog(ordinary, ofChannel, true)).toThrow(tooLow);
  });
  test('is not read for other users', async () => {
    const request = { page: 1, size: 10 };
    await expect(log(ordinary, ofChannel, request, true)).rejects.toThrow(tooLow);
    await expect(logBefore(ordinary, ofChannel, { limit: 1 }, true)).rejects.toThrow(tooLow);
    expect(() => followLog(ordinary, ofChannel, beginning, true)).toThrow(tooLow);
    await expect(logStatistics(ordinary, ofChannel, true)).rejects.toThrow(tooLow);
    await expect(logStatistics(ordinary, {}, false)).rejects.toThrow(tooLow);
  });
});

describe('live traffic', () => {
  test('is for administrators', () => {
    const { traffic, watchedTraffic } = trafficQueries({ traffic: liveTraffic(settableClock(someInstant)) });
    expect(traffic(admin).total.requestsPerMinute).toBe(0);
    expect(watchedTraffic(admin).total.requestsPerMinute).toBe(0);
    expect(() => traffic(ordinary)).toThrow(tooLow);
    expect(() => watchedTraffic(ordinary)).toThrow(tooLow);
  });
});
