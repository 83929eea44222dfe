import { describe, expect, test } from 'vitest';
import {
  dimensionOf,
  endOf,
  failureRangeOf,
  growth,
  historyDefaults,
  historyRangeOf,
  rangeNames,
} from '../../web/src/dashboard/historyRange.js';
import { logLink } from '../../web/src/kit/logLink.js';

const now = new Date(2026, 10, 23, 14, 25, 30).getTime() / 1000;
const hour = 3_600;
const day = 24 * hour;
const named = (range: string) => historyRangeOf({ ...historyDefaults, range }, now);
const custom = (from: number, to: number) => historyRangeOf({ ...historyDefaults, range: 'custom', from, to }, now);

describe('a range of the dashboard', () => {
  test.each(rangeNames)('of %s ends with the present, and is compared with an equal period before', (name) => {
    const { from, to, earlier, earlierEnd } = named(name);
    expect(to).toBeGreaterThanOrEqual(now);
    expect(from).toBeLessThan(now);
    expect(earlierEnd).toBeLessThanOrEqual(from);
    const passed = Math.min(to, Math.ceil(now / hour) * hour) - from;
    // A day may have an hour more or less than another.
    expect(Math.abs(earlierEnd - earlier - passed)).toBeLessThanOrEqual(hour);
  });

  test.each([
    ['15m', 15 * 60, 'MINUTE'],
    ['1h', hour, 'MINUTE'],
    ['6h', 6 * hour, 'FIVE_MINUTES'],
    ['24h', day, 'HOUR'],
  ] as const)('of %s is %i seconds in intervals of a %s', (name, length, interval) => {
    const range = named(name);
    expect([range.to - range.from, range.interval, range.earlierInterval]).toEqual([length, interval, interval]);
  });

  test('of days begins at midnight', () => {
    expect(named('7d')).toMatchObject({ from: new Date(2026, 10, 17).getTime() / 1000, interval: 'DAY' });
    expect(named('7d').earlierInterval).toBe('HOUR');
    expect(named('90d').earlierInterval).toBe('DAY');
  });

  test.each([
    [hour, hour, 'MINUTE'],
    [6 * hour, 6 * hour, 'FIVE_MINUTES'],
    // Minutes are not kept so long.
    [3 * day, hour, 'HOUR'],
    [3 * day, 2 * day, 'HOUR'],
    [40 * day, 30 * day, 'DAY'],
  ] as const)('chosen by hand, %i seconds ago and %i long, has intervals of a %s', (ago, length, interval) =>
    expect(custom(Math.floor(now) - ago, Math.floor(now) - ago + length).interval).toBe(interval),
  );

  test.each(rangeNames)('of %s has failures in whole hours, and as many before', (name) => {
    const range = named(name);
    const { from, to, earlier, earlierEnd, isWidened } = failureRangeOf(range);
    expect([from % hour, to % hour, isWidened]).toEqual([0, 0, ['15m', '1h', '6h'].includes(name)]);
    expect([from <= range.from, to >= range.to, earlierEnd <= from]).toEqual([true, true, true]);
    if (isWidened) expect(earlierEnd - earlier).toBe(to - from);
    else expect([from, to]).toEqual([range.from, range.to]);
  });

  test('chosen by hand is cut to the server’s limit, and an absent one is the default', () => {
    expect(custom(now - 900 * day, now).to).toBe(now - 500 * day);
    for (const range of [custom(now, now - 1), custom(0, now), named('constructor')]) expect(range.name).toBe('24h');
  });
});

test('ordinary users cannot group by channel or user', () => {
  expect(dimensionOf({ ...historyDefaults, by: 'CHANNEL' }, true)).toBe('CHANNEL');
  for (const by of ['CHANNEL', 'USER', 'nothing']) expect(dimensionOf({ ...historyDefaults, by }, false)).toBe('MODEL');
});

test('an interval ends where the next begins, and the last with the range', () => {
  expect([endOf([1, 2], 0, 5), endOf([1, 2], 1, 5)]).toEqual([2, 5]);
});

test('growth is a share of the period before, where it has any', () => {
  expect([growth(3, 2), growth(1, 2), growth(5, 0)]).toEqual([0.5, -0.5, null]);
});

test('a link into the log contains only active filters, and the last second', () => {
  expect(logLink({ from: 60, to: 120, type: 'ERROR', model: 'a b&c', user: '', token: undefined })).toBe(
    '/log?range=custom&from=60&to=119&type=ERROR&model=a+b%26c',
  );
});
