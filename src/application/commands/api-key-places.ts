import { Failure } from '../../domain/failure.js';
import type { ApiKeyId, UserId } from '../../domain/ids.js';
import type { ApiKeyCounts } from '../ports.js';

/*
 * A user holds so many live API keys at most. The read model counts them, and knows of an order only a moment after it
 * was written: until then the order takes its place here. Orders of one user at the same time count those before them.
 */

export interface ApiKeyPlaces {
  /** Throws `too-many-api-keys` when the owner has `most` live keys, orders under way included. 0: any number. */
  take(owner: UserId, id: ApiKeyId, most: number): Promise<void>;
  /** The read model knows the key, or the order has failed. */
  leave(owner: UserId, id: ApiKeyId): void;
}

export function apiKeyPlaces(counts: ApiKeyCounts): ApiKeyPlaces {
  /** Orders that the read model may not know yet. */
  const underWay = new Map<UserId, Set<ApiKeyId>>();

  const leave = (owner: UserId, id: ApiKeyId): void => {
    const taken = underWay.get(owner);
    taken?.delete(id);
    if (taken?.size === 0) underWay.delete(owner);
  };

  return {
    leave,
    async take(owner, id, most) {
      if (most === 0) return;
      const taken = underWay.get(owner) ?? new Set();
      const before = [...taken].filter((other) => other !== id);
      underWay.set(owner, taken.add(id));
      const { live, known } = await counts.of(owner, before);
      for (const seen of known) leave(owner, seen);
      // One that has left meanwhile counts: it may have been seen by a later look than this one.
      if (live + before.length - known.length >= most) throw new Failure('too-many-api-keys', { allowed: most });
    },
  };
}
