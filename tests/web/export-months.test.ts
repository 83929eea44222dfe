import { expect, test } from 'vitest';
import { monthsSince, usualMonth } from '../../web/src/wallet/exportMonths.js';

const at = (year: number, month: number, day: number): number => new Date(year, month - 1, day).getTime() / 1000;

test.each([
  ['the newest first', at(2025, 11, 30), at(2026, 2, 1), ['2026-02', '2026-01', '2025-12', '2025-11']],
  ['none skipped at the end of a long month', at(2026, 1, 31), at(2026, 3, 31), ['2026-03', '2026-02', '2026-01']],
  ['the current one only for a new account', at(2026, 3, 2), at(2026, 3, 2), ['2026-03']],
  ['the current one where the browser’s clock is behind', at(2026, 3, 2), at(2026, 1, 2), ['2026-01']],
  ['none without files on the server', at(1970, 1, 1), at(2020, 2, 1), ['2020-02', '2020-01']],
])('every month since the account’s creation is offered: %s', (_, since, now, months) => {
  expect(monthsSince(since, now)).toEqual(months);
});

test('the default month is the last complete one, and the current one where none is complete', () => {
  expect(usualMonth(['2026-03', '2026-02', '2026-01'])).toBe('2026-02');
  expect(usualMonth(['2026-03'])).toBe('2026-03');
});
