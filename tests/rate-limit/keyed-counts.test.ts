import { expect, test } from 'vitest';
import { growingLru } from '../../src/data-structures/growing-lru.js';
import { KeyedCounts } from '../../src/rate-limit/keyed-counts.js';
import { SlidingWindow } from '../../src/rate-limit/sliding-window.js';
import { TokenBuckets } from '../../src/rate-limit/token-bucket.js';
import { someInstant } from '../support/given/events.js';
import { settableClock } from '../support/given/fixed-clock.js';

const minute = 60_000;

test('a key that has rested for two windows is dropped, and no other', () => {
  const clock = settableClock(someInstant);
  let made = 0;
  const counts = new KeyedCounts<string, { n: number }>(clock, () => ({ n: ++made }), 10);
  counts.of('resting', minute);
  counts.of('busy', minute);
  for (let shift = 0; shift < 3; shift++) {
    clock.advance(minute);
    expect(counts.of('busy', minute).n).toBe(2);
  }
  expect(counts.of('resting', minute).n).toBe(3);
});

test('a window of zero length does not cause a scan of all keys each time', () => {
  const clock = settableClock(someInstant);
  let made = 0;
  const counts = new KeyedCounts<string, { n: number }>(clock, () => ({ n: ++made }), 10);
  for (let call = 0; call < 3; call++) {
    expect(counts.of('a', 0).n).toBe(1);
    clock.advance(300);
  }
  clock.advance(2_001);
  expect(counts.of('a', 0).n).toBe(2);
});

test('beyond the maximum number of keys, the least recently used is counted from zero', () => {
  const window = new SlidingWindow<string>({ max: 1, windowMs: minute }, settableClock(someInstant), 3);
  for (const key of ['a', 'b', 'c']) window.take(key);
  expect(window.waitMs('a')).toBe(minute);
  window.take('d');
  expect(['a', 'c', 'd'].map((key) => window.waitMs(key))).toEqual([minute, minute, minute]);
  expect(window.waitMs('b')).toBe(0);
});

test('beyond the maximum number of clients, the least recently used bucket is full again', () => {
  const buckets = new TokenBuckets({ perMinute: 10 }, settableClock(someInstant), 2);
  for (const client of ['a', 'b']) expect(buckets.spend(client, 10)).toBeNull();
  expect(buckets.spend('a', 10)).not.toBeNull();
  expect(buckets.spend('c', 10)).toBeNull();
  expect([buckets.has('a', 10), buckets.has('b', 10)]).toEqual([false, true]);
});

test('a cache has a maximum number of entries, and evicts the least recently used', () => {
  const cache = growingLru<number, string>(3);
  for (let key = 0; key < 10; key++) {
    cache.set(key, 'value');
    cache.get(7);
  }
  expect([...cache.keys()].sort()).toEqual([7, 8, 9]);
});
