/*
 * Decoding, checking and writing tens of megabytes of JSON holds up everybody for as long as it takes. So there is one
 * such work at a time, and after each stretch of it everybody else has the process for at least as long as it took. Work
 * that can be interrupted yields between its steps, and a stretch ends with the first step beyond some milliseconds.
 */

/** Up to here a piece of work is over before anybody notices. */
const largeFromBytes = 256 * 1024;
/** Of work that yields; a step has to be short beside it. */
const stretchMs = 8;

interface LargeWorkTime {
  /** Milliseconds from any beginning. */
  now(): number;
  pause(ms: number): Promise<void>;
}

const realTime: LargeWorkTime = {
  now: () => performance.now(),
  pause: (ms) => new Promise((resolve) => void setTimeout(resolve, ms)),
};

/** All of it without a pause. */
export function atOnce<Result>(steps: Generator<void, Result>): Result {
  let next = steps.next();
  while (next.done !== true) next = steps.next();
  return next.value;
}

export class LargeWork {
  /** Resolves when the work begun last, and the pause after it, are over. */
  private last: Promise<void> = Promise.resolve();
  /** When the stretch under way began. */
  private stretchFrom = 0;

  constructor(private readonly time: LargeWorkTime = realTime) {}

  /** Does small work at once, and large work when its turn has come. */
  run<Result>(bytes: number, work: () => Result): Result | Promise<Result> {
    return bytes < largeFromBytes ? work() : this.inTurn(async () => work());
  }

  /** The same with work that yields, with a pause after each stretch of it. */
  runSteps<Result>(bytes: number, work: () => Generator<void, Result>): Result | Promise<Result> {
    return bytes < largeFromBytes ? atOnce(work()) : this.inTurn(() => this.inStretches(work()));
  }

  private async inStretches<Result>(steps: Generator<void, Result>): Promise<Result> {
    for (let next = steps.next(); ; next = steps.next()) {
      if (next.done === true) return next.value;
      const took = this.time.now() - this.stretchFrom;
      if (took < stretchMs) continue;
      await this.time.pause(took);
      this.stretchFrom = this.time.now();
    }
  }

  private async inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const before = this.last;
    let over: () => void = () => {};
    this.last = new Promise((resolve) => {
      over = resolve;
    });
    await before;
    this.stretchFrom = this.time.now();
    try {
      return await work();
    } finally {
      void this.time.pause(this.time.now() - this.stretchFrom).then(over);
    }
  }
}
