/* What subscriptions are made of. Nothing here keeps a queue: a slow reader finds the newest state, not a backlog. */

/** Between two looks at a read model that is behind, or stopped for as long as it takes somebody to mend it. */
export const behindPauseMs = 1_000;

/** True after `ms` milliseconds, false once the signal aborts. */
export const pause = (ms: number, signal: AbortSignal): Promise<boolean> =>
  new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve(!signal.aborted);
    };
    const timer = setTimeout(done, ms);
    if (signal.aborted) done();
    else signal.addEventListener('abort', done);
  });

/**
 * A generator that can be stopped while it waits. A plain one would go on waiting for its next event, with all it holds,
 * before it notices that its reader has left.
 */
export function stoppable<Value>(
  generate: (signal: AbortSignal) => AsyncGenerator<Value, void, undefined>,
): AsyncIterableIterator<Value> {
  const stop = new AbortController();
  const generator = generate(stop.signal);
  return {
    next: () => generator.next(),
    return: () => {
      stop.abort();
      return generator.return();
    },
    throw: (error) => {
      stop.abort();
      return generator.throw(error);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
