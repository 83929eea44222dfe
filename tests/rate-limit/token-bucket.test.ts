import { describe, expect, test } from 'vitest';
import { TokenBuckets } from '../../src/rate-limit/token-bucket.js';

const at = { time: 1_000_000 };
const bucket = () => new TokenBuckets({ perMinute: 600 }, { now: () => at.time });

describe('the token bucket of a client', () => {
  test('is spent at once or in parts, and then reports the time to wait', () => {
    const work = bucket();
    expect(work.spend('a', 400)).toBeNull();
    expect(work.spend('a', 200)).toBeNull();
    expect(work.spend('a', 25)).toEqual({ retryAfterSeconds: 3 });
  });

  test('is refilled evenly, and never beyond a minute’s worth', () => {
    const work = bucket();
    work.spend('a', 600);
    at.time += 2_500;
    expect(work.spend('a', 26)).not.toBeNull();
    expect(work.spend('a', 25)).toBeNull();
    at.time += 3_600_000;
    expect(work.spend('a', 600)).toBeNull();
    expect(work.spend('a', 1)).not.toBeNull();
  });

  test('is not reduced by refusals, nor by other clients', () => {
    const work = bucket();
    work.spend('a', 500);
    expect(work.spend('a', 101)).not.toBeNull();
    expect(work.has('a', 100)).toBe(true);
    expect(work.spend('a', 100)).toBeNull();
    expect(work.spend('b', 600)).toBeNull();
  });

  test('is emptied by a request that costs more than its capacity', () => {
    const work = bucket();
    expect(work.spend('a', 10_000)).toBeNull();
    expect(work.spend('a', 1)).not.toBeNull();
  });

  test('gains nothing from a clock that is set back', () => {
    const work = bucket();
    work.spend('a', 600);
    at.time -= 60_000;
    expect(work.spend('a', 1)).not.toBeNull();
  });
});
