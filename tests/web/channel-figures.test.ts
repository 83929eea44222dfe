import { describe, expect, test } from 'vitest';
import { attemptsOf, endOf, logAddress, spanOf } from '../../web/src/channels/channelFigures.js';

const hour = 3_600;
/** 2026-01-02 03:04:05 UTC. */
const now = 1_767_323_045;
const cause = (failures: number, rescued: number) => ({
  status: 500,
  code: '',
  failures,
  rescued,
  lastAt: now,
  lastRequestId: 'a',
});
const figures = (requests: number, ...channelFailures: ReturnType<typeof cause>[]) => ({
  usageHistory: { total: { requests } },
  channelFailures,
});

describe('the period of a range', () => {
  test('ends now, and has whole hours for figures that are summed by the hour', () =>
    expect(spanOf('15m', now, 'Asia/Kolkata')).toEqual({
      from: now - 900,
      to: now,
      interval: 'MINUTE',
      zone: 'Asia/Kolkata',
      wholeHoursFrom: now - 900 - ((now - 900) % hour),
    }));

  test('is divided more coarsely the longer it is', () =>
    expect((['1h', '6h', '7d', '90d'] as const).map((range) => spanOf(range, now, 'UTC').interval)).toEqual([
      'MINUTE',
      'FIVE_MINUTES',
      'HOUR',
      'DAY',
    ]));
});

test('an interval ends before the next begins, and the last one with the range', () => {
  const none = { p50: null, p95: null };
  const piece = (start: number) => ({ start, requests: 0, errors: 0, quota: 0, latency: none, firstToken: none });
  const history = { pieces: [piece(0), piece(60)], to: 90 };
  expect([endOf(history, 0), endOf(history, 1)]).toEqual([59, 89]);
});

describe('the attempts of a channel', () => {
  test('are the sum of answered and failed ones', () =>
    expect(attemptsOf(figures(6, cause(2, 1)), { interval: 'HOUR' })).toEqual({
      failures: 2,
      rescued: 1,
      success: 0.75,
    }));

  test('have no share without any, or where whole hours exceed the range', () => {
    expect(attemptsOf(figures(0), { interval: 'DAY' }).success).toBeNull();
    expect(attemptsOf(figures(6, cause(2, 1)), { interval: 'MINUTE' }).success).toBeNull();
  });
});

test('a figure links to the lines that it counts', () =>
  expect(logAddress({ channel: '3', from: 5, to: 9, type: 'ERROR' })).toBe(
    '/log?range=custom&from=5&to=9&channel=3&type=ERROR',
  ));
