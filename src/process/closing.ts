import type { Logger } from 'pino';

/** Closes what was opened, last first; a failure to close one thing does not keep the others open. */
export class Closing {
  private readonly steps: (() => Promise<unknown>)[] = [];

  add(step: () => Promise<unknown>): void {
    this.steps.unshift(step);
  }

  async run(log: Pick<Logger, 'error'>): Promise<void> {
    for (const step of this.steps.splice(0)) {
      await step().catch((error: unknown) => log.error({ err: error }, 'something did not stop cleanly'));
    }
  }
}
