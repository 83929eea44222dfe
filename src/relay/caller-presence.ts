import type { ServerResponse } from 'node:http';

/**
 * Whether the caller is still there. What an AbortSignal would tell, at a tenth of its cost: there is one for every
 * call, and hardly ever somebody to tell.
 */
export class CallerPresence {
  private listeners: Set<() => void> | null = null;
  private left: boolean;

  constructor(response: ServerResponse) {
    // A caller may have gone before anybody looked: while its body was being unpacked. That is not told twice.
    this.left = response.destroyed;
    response.once('close', () => {
      if (!response.writableFinished) this.leave();
    });
  }

  get gone(): boolean {
    return this.left;
  }

  /** Calls once when the caller goes; the result takes the listener back. Never called when it has gone already. */
  whenGone(listener: () => void): () => void {
    this.listeners ??= new Set();
    this.listeners.add(listener);
    return () => this.listeners?.delete(listener);
  }

  private leave(): void {
    this.left = true;
    for (const listener of this.listeners ?? []) listener();
    this.listeners = null;
  }
}
