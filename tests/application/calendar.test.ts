import { expect, test } from 'vitest';
import { monthNamed } from '../../src/application/calendar.js';
import { Instant } from '../../src/domain/kernel/instant.js';

const now = Instant(Date.UTC(2026, 10, 22));
const fromTo = (name: string, zone: string) => {
  const { from, to } = monthNamed(name, zone, now);
  return [from, to].map((at) => new Date(at).toISOString());
};

test.each([
  ['2026-10', 'UTC', '2026-10-01T00:00:00.000Z', '2026-11-01T00:00:00.000Z'],
  ['2026-10', 'Asia/Shanghai', '2026-09-30T16:00:00.000Z', '2026-10-31T16:00:00.000Z'],
  ['2026-10', 'Asia/Kathmandu', '2026-09-30T18:15:00.000Z', '2026-10-31T18:15:00.000Z'],
  // Clocks change at two in the morning of 1 November.
  ['2026-11', 'America/New_York', '2026-11-01T04:00:00.000Z', '2026-12-01T05:00:00.000Z'],
  // They skipped midnight of 1 October.
  ['2023-10', 'America/Asuncion', '2023-10-01T04:00:00.000Z', '2023-11-01T03:00:00.000Z'],
  ['2025-12', 'UTC', '2025-12-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z'],
])('the month %s in the zone %s begins and ends there at midnight', (name, zone, from, to) => {
  expect(fromTo(name, zone)).toEqual([from, to]);
});

test('a month begins where the zone’s clocks show its beginning', () => {
  const { zone, from } = monthNamed('2026-10', 'Asia/Kathmandu', now);
  expect(zone.timeOf(from)).toBe('2026-10-01 00:00:00');
  expect(zone.timeOf(from - 1)).toBe('2026-09-30 23:59:59');
});

test.each(['2026-12', '2019-12', '2026-13', '2026-1', '', '2026-10-01'])(
  '%j is refused as a month, with the name of the field',
  (name) => {
    expect(() => monthNamed(name, 'UTC', now)).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ field: 'month' }) }),
    );
  },
);

test.each(['', 'Mars/Olympus', '+05:17', '-0330', 'x'.repeat(65)])('the zone %s is refused', (zone) => {
  expect(() => monthNamed('2026-10', zone, now)).toThrow(
    expect.objectContaining({ details: expect.objectContaining({ field: 'zone' }) }),
  );
});
