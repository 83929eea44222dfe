import type { TwoWaySocket } from '../../contracts/two-way.js';

/*
 * What comes from one side, one message after the other. While a message waits for something (a charge, a reservation, a
 * side that takes nothing), its sender is not read and what has come already waits behind it.
 */

type Step = () => void | Promise<void>;

export class Lane {
  private readonly waiting: Step[] = [];
  private held = 0;
  private pausing = false;

  /** `failed`: gets what a step throws. */
  constructor(
    private readonly source: Pick<TwoWaySocket, 'pause' | 'resume'>,
    private readonly failed: (error: unknown) => void,
  ) {}

  /** Whether a message is to wait. */
  get busy(): boolean {
    return this.held > 0 || this.waiting.length > 0;
  }

  take(step: Step): void {
    if (this.busy) this.waiting.push(step);
    else this.run(step);
  }

  /** Nothing goes on until `release`. */
  hold(): void {
    this.held++;
    if (this.pausing) return;
    this.pausing = true;
    this.source.pause();
  }

  release(): void {
    this.held--;
    while (this.held === 0) {
      const next = this.waiting.shift();
      if (next === undefined) break;
      this.run(next);
    }
    if (this.held > 0 || !this.pausing) return;
    this.pausing = false;
    this.source.resume();
  }

  private run(step: Step): void {
    try {
      const done = step();
      if (done === undefined) return;
      this.hold();
      void done.catch(this.failed).then(() => this.release());
    } catch (error) {
      this.failed(error);
    }
  }
}
