/** Something to wait for: rung once, it ends one wait, also one that begins later. */
export class Bell {
  private rung = false;
  private wake: (() => void) | null = null;

  ring(): void {
    this.rung = true;
    this.wake?.();
  }

  /** Until rung, at most `ms` milliseconds. One waiter at a time. */
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
}
