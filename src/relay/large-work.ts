/*
 * Decoding, checking and writing tens of megabytes of JSON holds up everybody for as long as it takes, and no part of it
 * can be interrupted. So there is one such piece of work at a time, and after each of them everybody else has the process
 * for at least as long as it took.
 */

/** Up to here a piece of work is over before anybody notices. */
const largeFromBytes = 1024 * 1024;

export interface LargeWorkTime {
  /** Milliseconds from any beginning. */
  now(): number;
  pause(ms: number): Promise<void>;
}

const realTime: LargeWorkTime = {
  now: () => performance.now(),
  pause: (ms) => new Promise((resolve) => void setTimeout(resolve, ms)),
};

export class LargeWork {
  /** Resolves when the work begun last, and the pause after it, are over. */
  private last: Promise<void> = Promise.resolve();

  constructor(private readonly time: LargeWorkTime = realTime) {}

  /** Does small work at once, and large work when its turn has come. */
  run<Result>(bytes: number, work: () => Result): Result | Promise<Result> {
    return bytes < largeFromBytes ? work() : this.inTurn(work);
  }

  private async inTurn<Result>(work: () => Result): Promise<Result> {
    const before = this.last;
    let over: () => void = () => {};
    this.last = new Promise((resolve) => {
      over = resolve;
    });
    await before;
    const startedAt = this.time.now();
    try {
      return work();
    } finally {
      void this.time.pause(this.time.now() - startedAt).then(over);
    }
  }
}
