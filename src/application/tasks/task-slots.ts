import type { CallId, UserId } from '../../domain/kernel/ids.js';

/*
 * How many tasks a user has open at a time: those at no end, and the calls of this node that may submit one. Calls that
 * another node is serving are counted as soon as their tasks are written down.
 */

export class TaskSlots {
  private readonly slots = new Map<CallId, UserId>();
  private readonly ofUser = new Map<UserId, number>();

  /** `openOf`: the user's tasks that are at no end. */
  constructor(private readonly openOf: (user: UserId) => Promise<number>) {}

  /** False: there are as many as `limit` already. Rejects as `openOf` does. */
  async take(callId: CallId, user: UserId, limit: number): Promise<boolean> {
    const others = this.ofUser.get(user) ?? 0;
    if (others >= limit) return false;
    this.slots.set(callId, user);
    this.ofUser.set(user, others + 1);
    // Calls are counted before tasks: one that becomes a task meanwhile is counted twice, and never missed.
    let isTaken = false;
    try {
      isTaken = others + (await this.openOf(user)) < limit;
    } finally {
      if (!isTaken) this.release(callId);
    }
    return isTaken;
  }

  /** Of a call whose task is written down, or that submits none; nothing, where it has no slot. */
  release(callId: CallId): void {
    const user = this.slots.get(callId);
    if (user === undefined) return;
    this.slots.delete(callId);
    const left = (this.ofUser.get(user) ?? 1) - 1;
    if (left > 0) this.ofUser.set(user, left);
    else this.ofUser.delete(user);
  }
}
