import type { ServerResponse } from 'node:http';

/**
 * Whether the caller is still there. What an AbortSignal would tell, at a tenth of its cost: there is one for every
 * call, and hardly ever somebody to tell.
 */
export class CallerPresence {
  private listeners: Set<() => void> | null = null;
  private left: boolean;
  private hasStalled = false;
  private leftAt: number | null = null;

  constructor(
    private readonly response: ServerResponse,
    readonly requestId: string,
  ) {
    // A caller may have gone before anybody looked: while its body was being unpacked. That is not told twice.
    this.left = response.destroyed;
    if (this.left) this.leftAt = performance.now();
    response.once('close', () => {
      if (!response.writableFinished && !this.left) this.leave();
    });
  }

  get gone(): boolean {
    return this.left;
  }

  /** It is gone because it took nothing any more. */
  get stalled(): boolean {
    return this.hasStalled;
  }

  /** Milliseconds since it went; 0 while it is there. */
  get goneFor(): number {
    return this.leftAt === null ? 0 : Math.round(performance.now() - this.leftAt);
  }

  /** Bytes written that the caller has not taken yet; 0 for one that has gone. */
  get pending(): number {
    return this.left ? 0 : this.response.writableLength;
  }

  /** Treats a caller as gone that takes nothing any more. */
  giveUp(): void {
    if (this.left) return;
    this.hasStalled = true;
    this.leave();
    // An answer that still waits for its turn on the connection knows no socket of its own.
    this.response.req.socket.destroy();
  }

  /** Calls once when the caller goes; the result takes the listener back. Never called when it has gone already. */
  whenGone(listener: () => void): () => void {
    this.listeners ??= new Set();
    this.listeners.add(listener);
    return () => this.listeners?.delete(listener);
  }

  private leave(): void {
    this.left = true;
    this.leftAt = performance.now();
    for (const listener of this.listeners ?? []) listener();
    this.listeners = null;
  }
}
