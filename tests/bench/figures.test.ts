import { describe, expect, test } from 'vitest';
import { median, medianPercentiles, percentilesOf } from '../../bench/figures.js';
import { FrameCounter } from '../../bench/processes/frame-counter.js';
import { comparedIn, difference, inRounds, medianOf, oneRound, share, turned } from '../../bench/rounds.js';

describe('percentiles of samples', () => {
  test('are the smallest sample that enough of the others do not exceed', () => {
    const samples = Array.from({ length: 100 }, (_, at) => 100 - at);
    expect(percentilesOf(samples)).toEqual({ p50: 50, p90: 90, p95: 95, p99: 99, max: 100 });
  });
  test('are the sample itself when there is only one, and 0 without samples', () => {
    expect(percentilesOf([7.129])).toEqual({ p50: 7.13, p90: 7.13, p95: 7.13, p99: 7.13, max: 7.13 });
    expect(percentilesOf([])).toEqual({ p50: 0, p90: 0, p95: 0, p99: 0, max: 0 });
  });
  test('of several rounds are the medians of theirs', () => {
    const rounds = [
      [1, 9],
      [2, 5],
      [3, 7],
    ].map(percentilesOf);
    expect(medianPercentiles(rounds)).toMatchObject({ p50: 2, max: 7 });
  });
});

describe('the median of samples', () => {
  test.each([
    [[3, 1, 2], 2],
    [[4, 1, 3, 2], 2.5],
    [[10, 9], 9.5],
  ])('for %j is %d', (values, middle) => expect(median(values)).toBe(middle));
});

describe('the rounds of a benchmark', () => {
  const routes = ['direct', 'proxy', 'tallygate'];

  test('begin with another route each time', () => {
    expect([0, 1, 2, 3].map((round) => turned(routes, round)[0])).toEqual(['direct', 'proxy', 'tallygate', 'direct']);
    expect(turned(routes, 2)).toEqual(['tallygate', 'direct', 'proxy']);
  });
  test('measure one route after the other', async () => {
    let under = 0;
    const round = await oneRound(routes, 1, async (route) => {
      expect(++under).toBe(1);
      await new Promise(setImmediate);
      under--;
      return route.length;
    });
    expect(round).toEqual({ direct: 6, proxy: 5, tallygate: 9 });
  });
  test('run one after the other, and end early on request', async () => {
    const printed: string[] = [];
    const ending = new AbortController();
    const surroundings = { progress: (line: string) => void printed.push(line), signal: ending.signal };
    expect(await inRounds(3, surroundings, async (number) => number * 10)).toEqual([10, 20, 30]);
    expect(printed).toEqual(['round 1 of 3', 'round 2 of 3', 'round 3 of 3']);
    const done: number[] = [];
    const ended = inRounds(3, surroundings, async (number) => {
      done.push(number);
      if (number === 2) ending.abort();
    });
    await expect(ended).rejects.toThrow('aborted');
    expect(done).toEqual([1, 2]);
  });
  test('are compared each in itself: a machine that was slow for one round changes no ratio', () => {
    const rounds = [
      { ours: 50, theirs: 100 },
      { ours: 5, theirs: 10 },
      { ours: 40, theirs: 100 },
    ];
    const rate = (value: number) => value;
    expect(comparedIn(rounds, ['ours', 'theirs'], rate, share)).toBe(0.5);
    expect(comparedIn(rounds, ['ours', 'theirs'], rate, difference)).toBe(-50);
    expect(medianOf(rounds, 'ours', rate)).toBe(40);
    expect(() => medianOf(rounds, 'others', rate)).toThrow('others was not measured');
  });
});

describe('counting frames', () => {
  const stream = Buffer.from('data: {"a":1}\n\n: PING\n\ndata: {"b":"\\n"}\n\ndata: [DONE]\n\n');

  test('has the same result wherever the stream is cut', () => {
    for (let cut = 0; cut <= stream.length; cut++) {
      const counter = new FrameCounter();
      expect(counter.in(stream.subarray(0, cut)) + counter.in(stream.subarray(cut))).toBe(4);
    }
  });
});
