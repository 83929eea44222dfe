import { describe, expect, test } from 'vitest';
import { inParallel } from '../../src/application/in-parallel.js';
import { flush } from '../support/flush.js';

const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

/** Work that waits to be let go; `begun` is in the order it was begun in. */
function held() {
  const begun: number[] = [];
  const waiting = new Map<number, { done: (result: string) => void; fail: (reason: Error) => void }>();
  return {
    begun,
    waiting,
    work: (item: number) => {
      begun.push(item);
      return new Promise<string>((done, fail) => waiting.set(item, { done, fail }));
    },
  };
}

describe('one command over many streams', () => {
  test('is carried out a few at a time, and returns results in the order of the items', async () => {
    const { begun, waiting, work } = held();
    const all = inParallel(numbers(10), work);
    let max = 0;
    while (waiting.size > 0) {
      await flush();
      max = Math.max(max, waiting.size);
      // The newest first: the order of the answers is not that of the ends.
      const [item, { done }] = [...waiting].at(-1) as [number, { done: (result: string) => void }];
      waiting.delete(item);
      done(`done ${item}`);
      await flush();
    }
    expect(await all).toEqual(numbers(10).map((item) => `done ${item}`));
    expect(begun).toHaveLength(10);
    expect(max).toBe(4);
  });
  test('starts nothing more after a failure, and reports it when all running ones have ended', async () => {
    const { begun, waiting, work } = held();
    let thrown: unknown = null;
    const all = inParallel(numbers(10), work).catch((reason: unknown) => {
      thrown = reason;
    });
    await flush();
    waiting.get(1)?.fail(new Error('refused'));
    await flush();
    expect(thrown).toBeNull();
    for (const item of [0, 2, 3]) waiting.get(item)?.done('done');
    await all;
    expect(thrown).toEqual(new Error('refused'));
    expect(begun).toEqual([0, 1, 2, 3]);
  });
  test('over none ends at once', async () => {
    expect(await inParallel([], async () => 1)).toEqual([]);
  });
});
