import { expect, test } from 'vitest';
import { Period, periodBounds } from '../../../src/domain/ledger/period.js';

test.each([
  ['2026-10', '2026-10-01', '2026-11-01'],
  ['2026-12', '2026-12-01', '2027-01-01'],
  ['2024-02-29', '2024-02-29', '2024-03-01'],
  ['2026', '2026-01-01', '2027-01-01'],
])('the period %s goes from %s to before %s', (text, from, until) => {
  expect(periodBounds(Period(text))).toEqual({ from: Date.parse(from), until: Date.parse(until) });
});

test.each(['', '2026-13', '2026-02-30', '26-01', '2026-1', '2026-10-01T00', '0001-01', '2026-00', ' 2026-10'])(
  '%j is refused as a period',
  (text) => {
    expect(() => Period(text)).toThrow('invalid-field');
  },
);
