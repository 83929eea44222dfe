import { describe, expect, test } from 'vitest';
import { coreTimes, parseCoreTimes, stolenShare } from '../../bench/machine.js';

const stat = (fields: string): string => `cpu  ${fields}\ncpu0 1 2 3 4 5 6 7 8 9 10\nintr 1 2 3\n`;

describe('the CPU time of all cores', () => {
  test('is the sum of all, without counting guests twice', () =>
    expect(parseCoreTimes(stat('100 10 50 800 20 0 15 5 60 7'))).toEqual({ all: 1000, stolen: 5 }));
  test.each(['', stat('1 2 3'), stat('a b c d e f g h'), 'cpu0 1 2 3 4 5 6 7 8\n'])('is absent for %j', (text) =>
    expect(parseCoreTimes(text)).toBeNull(),
  );
  test.runIf(process.platform === 'linux')('is read on Linux', async () => {
    const { all, stolen } = (await coreTimes()) ?? { all: 0, stolen: -1 };
    expect(all).toBeGreaterThan(0);
    expect(stolen).toBeGreaterThanOrEqual(0);
  });
});

describe('the steal time of the host', () => {
  const before = { all: 1000, stolen: 5 };
  test('is a share of the time between two readings, to a thousandth', () => {
    expect(stolenShare(before, { all: 1400, stolen: 25 })).toBe(0.05);
    expect(stolenShare(before, { all: 8000, stolen: 6 })).toBe(0);
    expect(stolenShare(before, { all: 4000, stolen: 9 })).toBe(0.001);
  });
  test('is absent without two readings', () => {
    expect(stolenShare(null, before)).toBeNull();
    expect(stolenShare(before, null)).toBeNull();
    expect(stolenShare(before, before)).toBeNull();
  });
});
