import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type StalledCallers, watchStalledCallers } from '../../../src/relay/delivery/stalled-callers.js';

let given: string[];
let stalledCallers: StalledCallers;

const caller = (requestId: string, pending: number) => ({
  requestId,
  pending,
  gone: false,
  giveUp() {
    this.gone = true;
    this.pending = 0;
  },
});
type Caller = ReturnType<typeof caller>;
const watch = (who: Caller): void => stalledCallers.watch(who);

beforeEach(() => {
  vi.useFakeTimers();
  given = [];
  stalledCallers = watchStalledCallers({ limitMs: 1_000, gaveUp: ({ requestId }) => given.push(requestId) });
});
afterEach(() => vi.useRealTimers());

describe('a stalled caller', () => {
  test('is disconnected once it has read nothing for its timeout', () => {
    const silent = caller('silent', 500);
    watch(silent);
    vi.advanceTimersByTime(900);
    expect(silent.gone).toBe(false);
    vi.advanceTimersByTime(400);
    expect(silent.gone).toBe(true);
    expect(given).toEqual(['silent']);
  });

  test('is kept as long as it reads something now and then', () => {
    const slow = caller('slow', 500);
    watch(slow);
    for (let taken = 0; taken < 20; taken++) {
      vi.advanceTimersByTime(900);
      slow.pending -= 1;
      watch(slow);
    }
    expect(given).toEqual([]);
  });

  test('has a new timeout when it stalls again', () => {
    const bursts = caller('bursts', 500);
    watch(bursts);
    vi.advanceTimersByTime(800);
    bursts.pending = 0;
    vi.advanceTimersByTime(300);
    bursts.pending = 500;
    watch(bursts);
    vi.advanceTimersByTime(900);
    expect(given).toEqual([]);
    vi.advanceTimersByTime(400);
    expect(given).toEqual(['bursts']);
  });
});

test('no timer runs while no caller is stalled', () => {
  expect(vi.getTimerCount()).toBe(0);
  const one = caller('one', 1);
  watch(one);
  expect(vi.getTimerCount()).toBe(1);
  one.pending = 0;
  vi.advanceTimersByTime(300);
  expect(vi.getTimerCount()).toBe(0);
});
