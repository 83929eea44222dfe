/*
 * One clock for everything that is waited for: a timer per call would cost more than what it watches. Looks around a few
 * times a second, and only while somebody waits.
 */

export interface Awaited {
  expire(): void;
}

const sweepMs = 100;

export interface Deadlines {
  /** Expires it unless it is forgotten before; a few milliseconds late, never early. */
  watch(awaited: Awaited, withinMs: number): void;
  forget(awaited: Awaited): void;
}

export function openDeadlines(): Deadlines {
  const due = new Map<Awaited, number>();
  let timer: NodeJS.Timeout | null = null;

  const sweep = (): void => {
    const now = performance.now();
    for (const [awaited, at] of due)
      if (at <= now) {
        due.delete(awaited);
        awaited.expire();
      }
    if (due.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  };

  return {
    watch(awaited, withinMs) {
      due.set(awaited, performance.now() + withinMs);
      timer ??= setInterval(sweep, sweepMs).unref();
    },
    forget: (awaited) => void due.delete(awaited),
  };
}
