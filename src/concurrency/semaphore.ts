/** Lets so many work at the same time; the others wait in the order in which they came. */
export class Semaphore {
  private working = 0;
  private readonly queue: (() => void)[] = [];

  constructor(private readonly atOnce: number) {}

  async take<Result>(work: () => Promise<Result>): Promise<Result> {
    // Whoever ends hands its place to the next one, so nobody who comes meanwhile overtakes.
    if (this.working >= this.atOnce) await new Promise<void>((begin) => this.queue.push(begin));
    else this.working += 1;
    try {
      return await work();
    } finally {
      const next = this.queue.shift();
      if (next === undefined) this.working -= 1;
      else next();
    }
  }
}
