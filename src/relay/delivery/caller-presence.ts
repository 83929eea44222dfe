/**
 * Whether a caller is there. It is what an AbortSignal would show, at a tenth of its cost: there is one for every call,
 * and hardly ever a listener.
 */
export abstract class CallerPresence {
  private listeners: Set<() => void> | null = null;
  private hasStalled = false;
  private left = false;
  private leftAt: number | null = null;

  get gone(): boolean {
    return this.left;
  }

  get stalled(): boolean {
    return this.hasStalled;
  }

  get goneFor(): number {
    return this.leftAt === null ? 0 : Math.round(performance.now() - this.leftAt);
  }

  whenGone(listener: () => void): () => void {
    this.listeners ??= new Set();
    this.listeners.add(listener);
    return () => this.listeners?.delete(listener);
  }

  giveUp(): void {
    if (this.left) return;
    this.hasStalled = true;
    this.leave();
    this.disconnect();
  }

  /** The connection has gone. */
  leave(): void {
    if (this.left) return;
    this.left = true;
    this.leftAt = performance.now();
    for (const listener of this.listeners ?? []) listener();
    this.listeners = null;
  }

  /** Ends the connection of a caller that takes nothing any more. */
  protected abstract disconnect(): void;
}
