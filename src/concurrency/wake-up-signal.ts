/** Remembers that it was rung until somebody listens, however often that was. One listener at a time. */
export class WakeUpSignal {
  private rung = false;
  private wake: (() => void) | null = null;

  ring(): void {
    this.rung = true;
    this.wake?.();
  }

  /** Until rung, at once if that was since the last time; at most `ms` milliseconds. */
  async wait(ms: number): Promise<void> {
    if (!this.rung && ms > 0)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    this.wake = null;
    this.rung = false;
  }

  /** True once rung, at once if that was since the last time; false once the signal aborts. */
  async received(signal: AbortSignal): Promise<boolean> {
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
