import { expect, test } from 'vitest';
import { growthPerCall } from '../../bench/disk.js';

test('the disk usage of a call is reported in total, and for each table that grew, the largest first', () => {
  const before = { events: 1_000, usage_log: 0, users: 8_192 };
  const after = { events: 11_000, usage_log: 20_000, users: 8_192, made_since: 400 };
  expect(growthPerCall(before, after, 100)).toEqual({
    perCall: 304,
    byTable: [
      ['usage_log', 200],
      ['events', 100],
      ['made_since', 4],
    ],
  });
});
