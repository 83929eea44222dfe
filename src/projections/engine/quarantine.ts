import { type Position, type Recorded, streams } from '../../domain/events/events.js';
import { keepsBooks } from '../../domain/events/quarantine.js';
import type { EventFeed, Projection } from './projection.js';

/*
 * The events each read model leaves out, see the domain's quarantine. They lie later in the log than what they are
 * about, so whoever begins to fold reads their stream first.
 */

/** Positions that this version of the read model leaves out; none of books, whatever an older release has recorded. */
export async function quarantinedFor(
  feed: Pick<EventFeed, 'readStream'>,
  { name, version }: Pick<Projection, 'name' | 'version'>,
): Promise<ReadonlySet<Position>> {
  const positions = new Set<Position>();
  if (keepsBooks(name)) return positions;
  for (const { event } of await feed.readStream(streams.quarantine)) {
    if (event.type !== 'EventQuarantined') continue;
    if (event.model === name && event.version === version) positions.add(event.position);
  }
  return positions;
}

/** Those events of a batch that are the read model's to fold. */
export const concerning = (
  { interestedIn }: Projection,
  quarantined: ReadonlySet<Position>,
  batch: readonly Recorded[],
): readonly Recorded[] =>
  batch.filter(({ event, position }) => interestedIn.has(event.type) && !quarantined.has(position));
