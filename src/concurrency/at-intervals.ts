/**
 * Does the work again and again, resting `restMs` between the end of one and the beginning of the next. The work must
 * not throw. The result ends it, and resolves when nothing of it is under way any more. It keeps no process alive.
 */
export function atIntervals(restMs: number, work: () => Promise<void>): () => Promise<void> {
  let stopped = false;
  let working: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout;
  const next = (): void => {
    timer = setTimeout(() => {
      working = work().then(() => {
        if (!stopped) next();
      });
    }, restMs).unref();
  };
  next();
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await working;
  };
}
