import { describe, expect, test } from 'vitest';
import { median, percentilesOf } from '../../bench/figures.js';
import { FrameCounter } from '../../bench/frame-counter.js';

describe('percentiles', () => {
  test('are samples: the smallest that enough of the others do not exceed', () => {
    const samples = Array.from({ length: 100 }, (_, at) => 100 - at);
    expect(percentilesOf(samples)).toEqual({ p50: 50, p90: 90, p99: 99 });
  });
  test('are that sample when there is only one, and 0 when there is none', () => {
    expect(percentilesOf([7.129])).toEqual({ p50: 7.13, p90: 7.13, p99: 7.13 });
    expect(percentilesOf([])).toEqual({ p50: 0, p90: 0, p99: 0 });
  });
});

describe('the median', () => {
  test.each([
    [[3, 1, 2], 2],
    [[4, 1, 3, 2], 2.5],
    [[10, 9], 9.5],
  ])('of %j is %d', (values, middle) => expect(median(values)).toBe(middle));
});

describe('counting frames', () => {
  const stream = Buffer.from('data: {"a":1}\n\n: PING\n\ndata: {"b":"\\n"}\n\ndata: [DONE]\n\n');

  test('gives the same count wherever the stream is cut', () => {
    for (let cut = 0; cut <= stream.length; cut++) {
      const counter = new FrameCounter();
      expect(counter.in(stream.subarray(0, cut)) + counter.in(stream.subarray(cut))).toBe(4);
    }
  });
});
