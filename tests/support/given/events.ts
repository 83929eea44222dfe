import type { NewEvent, StreamName } from '../../../src/domain/events/events.js';
import { Instant } from '../../../src/domain/kernel/instant.js';

/* Plain events for tests of what carries them; what they say does not matter there. */

/** 2026-01-02 03:04:05 UTC. */
export const someInstant = Instant(1_767_323_045_000);

/** The n-th of the fixed event ids; `series` keeps the ids of concurrent writers apart. */
export const eventId = (n: number, series = 0): string =>
  `00000000-0000-4000-8000-${series.toString(16).padStart(4, '0')}${n.toString(16).padStart(8, '0')}`;

export const newEvent = (n: number, text = `value ${n}`, series = 0): NewEvent => ({
  id: eventId(n, series),
  at: Instant(someInstant + n),
  event: { type: 'OptionChanged', key: `option ${n}`, value: { text } },
});

/** The n-th event as a newer release may append it: of a type that this one does not know. */
export const unknownEvent = (n: number): NewEvent => ({
  id: eventId(n),
  at: Instant(someInstant + n),
  event: { type: 'CreditLent', quota: 5 } as never,
});

/** Any text can name a stream to the store. */
export const streamNamed = (name: string): StreamName => name as StreamName;
