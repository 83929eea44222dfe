import { Position } from '../../domain/events/events.js';

/*
 * Positions as the functions of the Postgres log give them: each event has the next whole number, under one lock, so an
 * append's events and a batch's appends follow each other without a gap. Only for this engine; nobody else may count by
 * positions. A log that was copied with gaps is read as well: there these are merely estimates.
 */

/** The place of the event so many before the one at `position`, of the same batch. */
export const placeBefore = (position: Position | number, count: number): Position => Position(Number(position) - count);

/** Events behind `after`, up to `upTo`. */
export const distance = (after: Position, upTo: Position): number => Math.max(0, Number(upTo) - Number(after));

/** Behind it lie the last `count` events of a log that ends at `head`. */
export const behindWhichLie = (count: number, head: Position): Position => Position(Math.max(-1, Number(head) - count));
