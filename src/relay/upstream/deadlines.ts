import { CompactingMap } from '../../data-structures/compacting-map.js';

/*
 * One clock for everything that is waited for: a timer per call would cost more than what it watches. Looks around a few
 * times a second, and only while somebody waits.
 */

interface Awaited {
  expire(): void;
}

const sweepMs = 100;

interface Deadlines {
  /** Expires it unless the watch, of which this is the number, is given up before; a few milliseconds late, never early. */
  watch(awaited: Awaited, withinMs: number): number;
  /** 0 is no watch. */
  giveUp(watch: number): void;
}

interface Watch {
  readonly awaited: Awaited;
  readonly dueAt: number;
}

export function openDeadlines(): Deadlines {
  const watches = new CompactingMap<number, Watch>();
  let newest = 0;
  let timer: NodeJS.Timeout | null = null;

  const sweep = (): void => {
    const now = performance.now();
    for (const [number, { awaited, dueAt }] of watches) if (dueAt <= now && watches.delete(number)) awaited.expire();
    if (watches.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  };

  return {
    watch(awaited, withinMs) {
      watches.set(++newest, { awaited, dueAt: performance.now() + withinMs });
      timer ??= setInterval(sweep, sweepMs).unref();
      return newest;
    },
    giveUp: (watch) => void watches.delete(watch),
  };
}
