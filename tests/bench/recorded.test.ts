import { describe, expect, test } from 'vitest';
import { namesOfRatios, recordedRatios, tooLow } from '../../bench/recorded.js';

const against = { jsonCallsToProxy: 0.4, streamedAnswersToProxy: 0.8 };

describe('the short form of the benchmark', () => {
  test('requires half of what was recorded', () =>
    expect(tooLow({ jsonCallsToProxy: 0.2, streamedAnswersToProxy: 0.4 }, against)).toEqual([]));
  test('names each ratio that is lower, and one that could not be measured', () => {
    expect(tooLow({ jsonCallsToProxy: 0.199, streamedAnswersToProxy: 0.8 }, against)).toEqual([
      'jsonCallsToProxy is 0.199, less than half of the 0.4 recorded',
    ]);
    expect(tooLow({ jsonCallsToProxy: Number.NaN, streamedAnswersToProxy: 0.1 }, against)).toHaveLength(2);
  });
  test('has recorded ratios between zero and twice the proxy', () => {
    expect(namesOfRatios.length).toBeGreaterThan(0);
    for (const name of namesOfRatios) {
      expect(recordedRatios[name]).toBeGreaterThan(0);
      expect(recordedRatios[name]).toBeLessThan(2);
    }
  });
});
