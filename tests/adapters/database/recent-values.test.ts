import { describe, expect, test } from 'vitest';
import { RecentValues } from '../../../src/adapters/database/recent-values.js';
import { someInstant } from '../../support/given/events.js';
import { settableClock } from '../../support/given/fixed-clock.js';

describe('the cache of recent values', () => {
  const clock = settableClock(someInstant);
  const newCache = (capacity = 10) => {
    const loads: string[] = [];
    const values = new RecentValues<string, string>({ capacity, maxAgeMs: 1_000, clock });
    const get = (key: string) =>
      values.get(key, async () => {
        loads.push(key);
        return key.startsWith('no ') ? null : `value of ${key}`;
      });
    return { values, get, loads };
  };

  test('loads a value once', async () => {
    const { get, loads } = newCache();
    expect([await get('a'), await get('a')]).toEqual(['value of a', 'value of a']);
    expect(loads).toEqual(['a']);
  });

  test('shares one load between concurrent readers', async () => {
    const { get, loads } = newCache();
    await Promise.all([get('a'), get('a'), get('a')]);
    expect(loads).toEqual(['a']);
  });

  test('evicts the least recently used one', async () => {
    const { get, loads } = newCache(2);
    for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) await get(key);
    expect(loads).toEqual(['a', 'b', 'c', 'b']);
  });

  test('loads again when a value has reached its maximum age', async () => {
    const { get, loads } = newCache();
    await get('a');
    clock.advance(999);
    await get('a');
    clock.advance(1);
    await get('a');
    expect(loads).toEqual(['a', 'a']);
  });

  test('loads again when the clock has been set back: the age of a value is unknown then', async () => {
    const { get, loads } = newCache();
    await get('a');
    clock.advance(-3_600_000);
    await get('a');
    await get('a');
    expect(loads).toEqual(['a', 'a']);
  });

  test('does not keep that a value is missing', async () => {
    const { get, loads } = newCache();
    expect(await get('no a')).toBeNull();
    await get('no a');
    expect(loads).toEqual(['no a', 'no a']);
  });

  test('does not keep a failure', async () => {
    const { values, get } = newCache();
    await expect(values.get('a', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(await get('a')).toBe('value of a');
  });

  test('loads a deleted value again', async () => {
    const { values, get, loads } = newCache();
    await get('a');
    values.delete('a');
    await get('a');
    expect(loads).toEqual(['a', 'a']);
  });

  test('takes nothing from a load that was deleted while it ran', async () => {
    const { values, get } = newCache();
    let finish: (value: string) => void = () => undefined;
    const old = values.get(
      'a',
      () =>
        new Promise((resolve) => {
          finish = resolve;
        }),
    );
    values.delete('a');
    const renewed = get('a');
    finish('old');
    expect([await old, await renewed, await get('a')]).toEqual(['old', 'value of a', 'value of a']);
  });
});
