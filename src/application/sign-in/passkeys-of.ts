import { streams } from '../../domain/events/events.js';
import type { UserId } from '../../domain/kernel/ids.js';
import { type FactorEvent, factorsDecider } from '../../domain/user/second-factor.js';
import type { EventStore } from '../ports/storage-ports.js';

/** The passkeys of a user, from the log, which no memory is ahead of. */
export type PasskeysOf = (id: UserId) => Promise<readonly string[]>;

export const passkeysOf =
  (store: Pick<EventStore, 'readStream'>): PasskeysOf =>
  async (id) => {
    const recorded = await store.readStream(streams.factors(id));
    const { passkeys } = recorded.reduce(
      (factors, { event }) => factorsDecider.evolve(factors, event as FactorEvent),
      factorsDecider.initial,
    );
    return [...passkeys.keys()];
  };
