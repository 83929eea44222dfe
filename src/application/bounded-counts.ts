import type { Failure } from '../domain/kernel/failure.js';
import type { UserId } from '../domain/kernel/ids.js';

/*
 * A user holds so many of a kind at most: live API keys, open orders. The read model counts them, and knows of an order
 * only a moment after it was written: until then the order takes its place here. Orders of one user at the same time count
 * those before them.
 */

export interface HeldCounts<Id> {
  /** How many the read model counts, and which of `ids` it knows at all. */
  of(owner: UserId, ids: readonly Id[]): Promise<{ live: number; known: readonly Id[] }>;
}

export interface OwnedSlots<Id> {
  /** Throws `full` when the owner has `max`, orders under way included. 0: any number. */
  take(owner: UserId, id: Id, max: number): Promise<void>;
  /** The read model knows it, or the order has failed. */
  leave(owner: UserId, id: Id): void;
}

export function ownedSlots<Id>(counts: HeldCounts<Id>, full: (max: number) => Failure): OwnedSlots<Id> {
  /** Orders that the read model may not know yet. */
  const pending = new Map<UserId, Set<Id>>();

  const leave = (owner: UserId, id: Id): void => {
    const taken = pending.get(owner);
    taken?.delete(id);
    if (taken?.size === 0) pending.delete(owner);
  };

  return {
    leave,
    async take(owner, id, max) {
      if (max === 0) return;
      const taken = pending.get(owner) ?? new Set();
      const before = [...taken].filter((other) => other !== id);
      pending.set(owner, taken.add(id));
      const { live, known } = await counts.of(owner, before);
      for (const seen of known) leave(owner, seen);
      // One that has left meanwhile counts: it may have been seen by a later look than this one.
      if (live + before.length - known.length >= max) throw full(max);
    },
  };
}
