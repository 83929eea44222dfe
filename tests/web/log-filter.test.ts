import { describe, expect, test } from 'vitest';
import { asLocalInput, fromLocalInput } from '../../web/src/kit/form/localInput.js';
import { activeFilters, logDefaults, logFilterOf } from '../../web/src/log/logParams.js';
import { quickRanges, timeRangeOf } from '../../web/src/log/ranges.js';

/** Wednesday. In the time zone of whoever runs this. */
const now = new Date(2026, 10, 18, 15, 30, 0);
const at = (year: number, month: number, day: number): number => new Date(year, month, day).getTime() / 1000;

describe('the quick ranges of the log', () => {
  test('include today from midnight without an end, so that new lines belong to it', () => {
    expect(timeRangeOf('today', now)).toEqual({ from: at(2026, 10, 18), to: null });
  });

  test('include yesterday, which ends one second before today', () => {
    expect(timeRangeOf('yesterday', now)).toEqual({ from: at(2026, 10, 17), to: at(2026, 10, 18) - 1 });
  });

  test('include a week that begins on Monday, on Sundays too', () => {
    expect(timeRangeOf('week', now).from).toBe(at(2026, 10, 16));
    expect(timeRangeOf('week', new Date(2026, 10, 22, 1)).from).toBe(at(2026, 10, 16));
    expect(timeRangeOf('week', new Date(2026, 10, 16, 0)).from).toBe(at(2026, 10, 16));
  });

  test('include a month that begins on its first day', () => {
    expect(timeRangeOf('month', now).from).toBe(at(2026, 10, 1));
  });

  test('count back from now otherwise', () => {
    const back = quickRanges.slice(4).map((range) => now.getTime() / 1000 - timeRangeOf(range, now).from);
    expect(back).toEqual([1, 6, 12, 24, 168, 720].map((hours) => hours * 3600));
  });
});

describe('times in the filter bar', () => {
  test('are the same after a round trip through an input', () => {
    expect(fromLocalInput(asLocalInput(1_790_000_123))).toBe(1_790_000_123);
  });

  test('are ignored if the date is incomplete', () => {
    expect(fromLocalInput('')).toBeNull();
    expect(fromLocalInput('2026-13-40T99:00')).toBeNull();
  });
});

describe('the filter of the log', () => {
  const today = { from: at(2026, 10, 18) };

  test('contains only active filters', () => {
    expect(logFilterOf(logDefaults, now, true)).toEqual(today);
  });

  test('requests channels and users only for administrators', () => {
    const params = { ...logDefaults, channel: '7', user: 'alice' };
    expect(logFilterOf(params, now, true)).toEqual({ ...today, channelId: '7', username: 'alice' });
    expect(logFilterOf(params, now, false)).toEqual(today);
  });

  test('omits invalid values of an edited address', () => {
    const params = { ...logDefaults, channel: 'seven', type: 'NONSENSE', range: 'ever', token: '  ' };
    expect(logFilterOf(params, now, true)).toEqual(today);
  });

  test('uses bounds unchanged when they are chosen by hand', () => {
    const params = { ...logDefaults, range: 'custom', from: 100, to: 200, type: 'ERROR', model: ' gpt-% ' };
    expect(logFilterOf(params, now, false)).toEqual({ from: 100, to: 200, type: 'ERROR', model: 'gpt-%' });
  });

  test('counts differences from the default', () => {
    expect(activeFilters(logDefaults)).toBe(0);
    expect(activeFilters({ ...logDefaults, range: 'hour', group: 'vip' })).toBe(2);
  });
});
