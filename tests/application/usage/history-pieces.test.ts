import { describe, expect, test } from 'vitest';
import { edgesOf, type HistoryRange } from '../../../src/application/usage/history-pieces.js';
import { Instant } from '../../../src/domain/kernel/instant.js';

const at = (text: string): number => Date.parse(text) / 1000;
const now = Instant(at('2026-11-01T12:00:00Z') * 1000);
const edges = (from: string, to: string, interval: HistoryRange['interval'], zone = 'UTC'): string[] =>
  edgesOf({ from: at(from), to: at(to), interval, zone }, now).map((edge) => new Date(edge * 1000).toISOString());

describe('a range of the usage history is divided', () => {
  test('into hours and minutes that cover it', () => {
    expect(edges('2026-11-01T09:59:59Z', '2026-11-01T11:00:01Z', 'hour')).toEqual([
      '2026-11-01T09:00:00.000Z',
      '2026-11-01T10:00:00.000Z',
      '2026-11-01T11:00:00.000Z',
      '2026-11-01T12:00:00.000Z',
    ]);
    expect(edges('2026-11-01T11:00:00Z', '2026-11-01T12:00:00Z', 'minute')).toHaveLength(61);
    expect(edges('2026-11-01T11:02:00Z', '2026-11-01T11:06:00Z', 'five-minutes')).toEqual([
      '2026-11-01T11:00:00.000Z',
      '2026-11-01T11:05:00.000Z',
      '2026-11-01T11:10:00.000Z',
    ]);
  });

  test.each([
    ['Europe/Berlin', '2026-03-29T12:00:00Z', 23],
    ['Europe/Berlin', '2026-10-25T12:00:00Z', 25],
    ['America/Santiago', '2026-09-06T12:00:00Z', 23],
    ['Asia/Kolkata', '2026-03-29T12:00:00Z', 24],
  ])('into days of the zone %s: that of %s has %i hours', (zone, noon, hours) => {
    const [begins = 0, ends = 0, ...more] = edgesOf({ from: at(noon), to: at(noon) + 60, interval: 'day', zone }, now);
    expect(more).toEqual([]);
    expect((ends - begins) / 3_600).toBe(hours);
  });

  test('into weeks that begin on Mondays', () => {
    expect(edges('2026-03-29T12:00:00Z', '2026-04-01T00:00:00Z', 'week', 'Europe/Berlin')).toEqual([
      '2026-03-22T23:00:00.000Z',
      '2026-03-29T22:00:00.000Z',
      '2026-04-05T22:00:00.000Z',
    ]);
  });

  test('without a day that a zone skipped', () => {
    const found = edges('2011-12-29T12:00:00Z', '2012-01-01T12:00:00Z', 'day', 'Pacific/Apia');
    expect(new Set(found).size).toBe(found.length);
  });
});

describe('a range of the usage history is refused', () => {
  const range = {
    from: at('2026-11-01T11:00:00Z'),
    to: at('2026-11-01T12:00:00Z'),
    interval: 'hour',
    zone: 'UTC',
  } as const;
  test.each<[string, Partial<HistoryRange>, string]>([
    ['that ends before it begins', { to: range.from }, 'to'],
    ['that is too long for its interval', { to: range.from + 33 * 86_400 }, 'to'],
    ['before 1970', { from: -1 }, 'from'],
    ['beyond the calendar', { from: 1e14, to: 1e14 + 1 }, 'from'],
    [
      'of minutes that are no longer stored',
      { interval: 'minute', from: range.from - 13 * 3_600, to: range.from - 12 * 3_600 },
      'from',
    ],
    ['in an unknown zone', { zone: 'Mars/Olympus' }, 'zone'],
  ])('%s', (_, change, field) => {
    expect(() => edgesOf({ ...range, ...change }, now)).toThrow(
      expect.objectContaining({ code: 'invalid-field', details: expect.objectContaining({ field }) }),
    );
  });
});
