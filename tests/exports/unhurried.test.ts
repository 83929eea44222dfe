import { expect, test } from 'vitest';
import { unhurried } from '../../src/concurrency/unhurried.js';

/** Time that passes only while pages are read or taken. */
function world() {
  let now = 0;
  const pauses: number[] = [];
  let ended = false;
  async function* pages(count: number, takes: number) {
    try {
      for (let page = 1; page <= count; page++) {
        now += takes;
        yield page;
      }
    } finally {
      ended = true;
    }
  }
  const time = { now: () => now, pause: async (ms: number) => void pauses.push(ms) };
  const work = (ms: number): void => {
    now += ms;
  };
  return { pauses, pages, time, work, ended: () => ended };
}

test('a pause between pages is twice as long as reading and delivering one took, within a bound', async () => {
  const { pages, time, work, pauses } = world();
  const taken: number[] = [];
  for await (const page of unhurried(pages(3, 5), time)) {
    taken.push(page);
    work(page === 2 ? 10_000 : 1);
  }
  expect(taken).toEqual([1, 2, 3]);
  expect(pauses).toEqual([12, 100, 12]);
});

test('pages are read no further once their reader has disconnected', async () => {
  const { pages, time, pauses, ended } = world();
  for await (const _ of unhurried(pages(3, 5), time)) break;
  expect(ended()).toBe(true);
  expect(pauses).toEqual([]);
});
