import type { Recorded } from '../../domain/events/events.js';
import type { Sealed } from '../../domain/kernel/ids.js';

/** The address of a user after these events of the user's stream, sealed; null: none. */
export function addressAfter(history: readonly Pick<Recorded, 'event'>[]): Sealed | null {
  let address: Sealed | null = null;
  for (const { event } of history) if (event.type === 'EmailChanged') address = event.email?.shown ?? null;
  return address;
}
