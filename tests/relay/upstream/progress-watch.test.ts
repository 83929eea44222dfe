import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openProgressWatch } from '../../../src/relay/upstream/progress-watch.js';

/* When a stream that says nothing any more is given up, by a clock that the test moves. */

beforeEach(() => vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] }));
afterEach(() => vi.useRealTimers());

const followed = (patienceMs = 1000) => {
  const watch = openProgressWatch();
  const stream = { progress: 1, patienceMs };
  const reader = { waiting: true, fallSilent: vi.fn() };
  return { watch, stream, reader, number: watch.follow(reader, stream) };
};

describe('a watched stream', () => {
  test('is aborted once, when it has been silent for its timeout, and the clock stops', () => {
    const { reader } = followed();
    vi.advanceTimersByTime(900);
    expect(reader.fallSilent).not.toHaveBeenCalled();
    vi.advanceTimersByTime(5000);
    expect(reader.fallSilent).toHaveBeenCalledTimes(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('is not aborted while it sends something', () => {
    const { reader, stream } = followed();
    for (let said = 0; said < 20; said++) {
      vi.advanceTimersByTime(800);
      stream.progress++;
    }
    expect(reader.fallSilent).not.toHaveBeenCalled();
  });

  test('is not silent while its reader pauses', () => {
    const { reader } = followed();
    reader.waiting = false;
    vi.advanceTimersByTime(60_000);
    expect(reader.fallSilent).not.toHaveBeenCalled();
    reader.waiting = true;
    vi.advanceTimersByTime(1400);
    expect(reader.fallSilent).toHaveBeenCalledTimes(1);
  });

  test('has the timeout that is set now', () => {
    const { reader, stream } = followed(60_000);
    vi.advanceTimersByTime(3000);
    stream.patienceMs = 2000;
    vi.advanceTimersByTime(200);
    expect(reader.fallSilent).toHaveBeenCalledTimes(1);
  });

  test('is released when it has ended', () => {
    const { reader, watch, number } = followed();
    watch.giveUp(number);
    vi.advanceTimersByTime(60_000);
    expect(reader.fallSilent).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });
});
