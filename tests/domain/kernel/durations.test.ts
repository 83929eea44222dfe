import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { durationClasses, durationClassOf, percentileOf } from '../../../src/domain/kernel/durations.js';

const countsOf = (durations: readonly number[]): Uint32Array => {
  const counts = new Uint32Array(durationClasses);
  for (const ms of durations) counts[durationClassOf(ms)] = (counts[durationClassOf(ms)] ?? 0) + 1;
  return counts;
};

describe('a percentile', () => {
  test('is within 5 % of the exact one', () => {
    const durations = fc.array(fc.integer({ min: 100, max: 9_000_000 }), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(durations, fc.constantFrom(0.01, 0.5, 0.95, 0.99, 1), (all, share) => {
        const exact = [...all].sort((one, other) => one - other)[Math.ceil(all.length * share) - 1] ?? Number.NaN;
        const shown = percentileOf(countsOf(all), share) ?? Number.NaN;
        expect(Math.abs(shown - exact) / exact).toBeLessThan(0.05);
      }),
    );
  });

  test('of no durations is null', () => {
    expect(percentileOf(countsOf([]), 0.5)).toBeNull();
  });

  test('beyond the first or last class is the nearest class', () => {
    expect(percentileOf(countsOf([-1, 0]), 1)).toBe(1);
    expect(percentileOf(countsOf([1e15]), 1)).toBeGreaterThan(9_000_000);
  });
});
