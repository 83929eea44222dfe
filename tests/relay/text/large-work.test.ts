import { describe, expect, test } from 'vitest';
import { LargeWork } from '../../../src/relay/text/large-work.js';

const mebibyte = 1024 * 1024;

/** Time that passes only when work is done or pauses are let go by. */
function world() {
  let now = 0;
  const pauses: { ms: number; end: () => void }[] = [];
  const done: string[] = [];
  const large = new LargeWork({
    now: () => now,
    pause: (ms) => new Promise((end) => void pauses.push({ ms, end })),
  });
  return {
    done,
    pauses,
    steps: (name: string, takes: readonly number[], bytes = 8 * mebibyte) =>
      large.runSteps(bytes, function* () {
        for (const ms of takes) {
          now += ms;
          done.push(`${name} ${ms}`);
          yield;
        }
        return name;
      }),
    work: (name: string, takes: number, bytes = 8 * mebibyte) =>
      large.run(bytes, () => {
        now += takes;
        done.push(name);
        if (name === 'fails') throw new Error('it failed');
        return name;
      }),
  };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('large work', () => {
  test('is done one piece at a time, with a pause as long as each piece took', async () => {
    const { work, done, pauses } = world();
    const all = [work('first', 300), work('second', 100), work('third', 50)];
    await settled();
    expect(done).toEqual(['first']);
    expect(pauses.map(({ ms }) => ms)).toEqual([300]);
    // Its own result does not wait for the pause.
    expect(await all[0]).toBe('first');
    pauses[0]?.end();
    await settled();
    expect(done).toEqual(['first', 'second']);
    expect(pauses.map(({ ms }) => ms)).toEqual([300, 100]);
    pauses[1]?.end();
    expect(await Promise.all(all)).toEqual(['first', 'second', 'third']);
  });

  test('does not delay small work', async () => {
    const { work, done } = world();
    const waiting = [work('first', 300), work('second', 300)];
    await settled();
    expect(work('small', 1, 1000)).toBe('small');
    expect(done).toEqual(['first', 'small']);
    expect(waiting).toHaveLength(2);
  });

  test('that fails does not block the next one', async () => {
    const { work, pauses } = world();
    await expect(work('fails', 10)).rejects.toThrow('it failed');
    const next = work('next', 10);
    pauses[0]?.end();
    expect(await next).toBe('next');
  });

  test('that yields has a pause after each stretch of some milliseconds, and keeps its position in the queue', async () => {
    const { steps, work, done, pauses } = world();
    const first = steps('first', [5, 5, 1, 12]);
    const second = work('second', 1);
    await settled();
    expect(done).toEqual(['first 5', 'first 5']);
    expect(pauses.map(({ ms }) => ms)).toEqual([10]);
    pauses[0]?.end();
    await settled();
    expect(done).toEqual(['first 5', 'first 5', 'first 1', 'first 12']);
    expect(pauses.map(({ ms }) => ms)).toEqual([10, 13]);
    pauses[1]?.end();
    expect(await first).toBe('first');
    pauses[2]?.end();
    expect(await second).toBe('second');
  });

  test('that yields is done at once where it is small', () => {
    const { steps, done, pauses } = world();
    expect(steps('small', [20, 20], 1000)).toBe('small');
    expect(done).toEqual(['small 20', 'small 20']);
    expect(pauses).toEqual([]);
  });
});
