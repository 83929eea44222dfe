/**
 * Does the work after `firstMs`, and again each time after as many milliseconds as it resolves with. The work must not
 * throw. The result ends it, and resolves when nothing of it is under way any more. It keeps no process alive.
 */
export function repeatAfter(firstMs: number, work: () => Promise<number>): () => Promise<void> {
  let stopped = false;
  let working: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout;
  const next = (restMs: number): void => {
    timer = setTimeout(() => {
      working = work().then((rest) => {
        if (!stopped) next(rest);
      });
    }, restMs).unref();
  };
  next(firstMs);
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await working;
  };
}

/** The same, resting `restMs` between the end of one and the beginning of the next, and before the first. */
export const atIntervals = (restMs: number, work: () => Promise<void>): (() => Promise<void>) =>
  repeatAfter(restMs, async () => {
    await work();
    return restMs;
  });
