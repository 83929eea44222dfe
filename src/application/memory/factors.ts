import { beginning, streams } from '../../domain/events/events.js';
import type { UserId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';
import { type FactorEvent, factorsDecider } from '../../domain/user/second-factor.js';
import type { KnownFactors } from '../ports/proof-ports.js';
import type { EventStore } from '../ports/storage-ports.js';
import { type Fold, foldStreams } from './stream-folds.js';
import type { TailConsumer } from './tail.js';

/* What a node knows of its users' factors: folded from their own streams when first asked for, kept fresh by the tail. */

const knownFactors: Fold<KnownFactors, FactorEvent> = {
  initial: { factors: factorsDecider.initial, addedAt: new Map(), resetAt: beginning },
  evolve({ factors, addedAt, resetAt }, event, { at, position }) {
    return {
      factors: factorsDecider.evolve(factors, event),
      addedAt: event.type === 'PasskeyAdded' ? new Map<string, Instant>(addedAt).set(event.passkey, at) : addedAt,
      resetAt: event.type === 'FactorsReset' ? position : resetAt,
    };
  },
};

interface FactorMemory extends TailConsumer {
  of(user: UserId): Promise<KnownFactors>;
}

/** `capacity`: users kept in memory. */
export function factorMemory(store: Pick<EventStore, 'streamPages'>, capacity: number): FactorMemory {
  const folds = foldStreams(store, knownFactors, capacity);
  return {
    of: (user) => folds.get(streams.factors(user)),
    take(batch) {
      for (const recorded of batch) if (recorded.stream.startsWith('factors-')) folds.take(recorded);
    },
  };
}
