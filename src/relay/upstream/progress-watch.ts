import { CompactingMap } from '../../data-structures/compacting-map.js';

/*
 * Streams whose upstream sends nothing that means anything any more: comments and pings keep a connection alive, not an
 * answer. One timer looks at all of them, a few times a second and only while there are some; a frame costs nothing here.
 */

/** What is read of a stream. */
export interface Progress {
  /** Grows with every frame that says something. */
  readonly progress: number;
  /** Longest wait for it to grow, in milliseconds. */
  readonly patienceMs: number;
}

/** Whoever waits for upstream. */
export interface Reader {
  /** Nothing is here, and more is waited for. */
  readonly waiting: boolean;
  fallSilent(): void;
}

interface ProgressWatch {
  /**
   * Notifies the reader once when its patience is over, a fraction of a second late at most. The result is the watch's
   * number.
   */
  follow(reader: Reader, stream: Progress): number;
  /** 0 is no watch. */
  giveUp(watch: number): void;
}

const lookEveryMs = 200;

interface Followed {
  readonly reader: Reader;
  readonly stream: Progress;
  seen: number;
  since: number;
}

export function openProgressWatch(): ProgressWatch {
  const followed = new CompactingMap<number, Followed>();
  let newest = 0;
  let timer: NodeJS.Timeout | null = null;

  const look = (): void => {
    const now = performance.now();
    for (const [number, one] of followed) {
      const { progress, patienceMs } = one.stream;
      // While nobody reads, because the caller is slow, nobody knows what has come.
      if (progress !== one.seen || !one.reader.waiting) {
        one.seen = progress;
        one.since = now;
      } else if (now - one.since >= patienceMs && followed.delete(number)) one.reader.fallSilent();
    }
    if (followed.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  };

  return {
    follow(reader, stream) {
      followed.set(++newest, { reader, stream, seen: stream.progress, since: performance.now() });
      timer ??= setInterval(look, lookEveryMs).unref();
      return newest;
    },
    giveUp: (watch) => void followed.delete(watch),
  };
}
