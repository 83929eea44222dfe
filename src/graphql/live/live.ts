/* What subscriptions are made of. Nothing here keeps a queue: a slow reader finds the newest state, not a backlog. */

/** Remembers that it was rung until somebody listens, however often that was. One listener at a time. */
export class Bell {
  private rung = false;
  private wake: (() => void) | null = null;

  ring(): void {
    this.rung = true;
    this.wake?.();
  }

  /** True once rung, at once if that was since the last time; false once the signal aborts. */
  async heard(signal: AbortSignal): Promise<boolean> {
    if (!this.rung && !signal.aborted)
      await new Promise<void>((resolve) => {
        const done = () => {
          signal.removeEventListener('abort', done);
          this.wake = null;
          resolve();
        };
        this.wake = done;
        signal.addEventListener('abort', done);
      });
    this.rung = false;
    return !signal.aborted;
  }
}

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
