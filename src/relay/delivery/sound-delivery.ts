import type { CallOutcome } from '../../domain/call/call.js';
import type { SoundReading } from '../upstream/sound-answer.js';
import { Lost } from '../upstream/upstream-response.js';
import type { CallerConnection } from './caller-connection.js';
import type { StalledCallers } from './stalled-callers.js';
import { write } from './write-answer.js';

/* Getting sound to the caller as it comes. What it costs is known before: nothing of it is looked at. */

/** More is no speech: a day of it, compressed. */
const maxSound = 512 * 1024 * 1024;

/** In place of what came first, which is not kept while the rest comes. */
const nothing = Buffer.alloc(0);

interface PassedOn {
  readonly outcome: CallOutcome;
  /** A mistake of ours that ended it; null: none. */
  readonly bug: unknown;
}

/** Sound that has reached its caller, but for its end. */
export interface SoundDelivery {
  readonly kind: 'sound';
  readonly outcome: CallOutcome;
  readonly firstTokenMs: number;
}

/**
 * Writes everything but the end of the answer: that waits for the settlement. Upstream is stopped with its caller.
 * `headers`: names and values in turn, beside those that all answers have.
 */
export async function passOn(
  connection: CallerConnection,
  headers: readonly string[],
  reading: SoundReading,
  stalledCallers: StalledCallers,
): Promise<PassedOn> {
  const { chunks, cancel } = reading;
  const ended = (outcome: CallOutcome, bug: unknown = null): PassedOn => {
    cancel();
    return { outcome, bug };
  };
  const departed = (): PassedOn => ended(connection.stalled ? 'caller-stalled' : 'caller-left');
  const forget = connection.whenGone(cancel);
  try {
    connection.begin(reading.type, headers);
    let sent = 0;
    let piece = reading.first;
    reading.first = nothing;
    while (!connection.gone) {
      await write(connection, piece, stalledCallers);
      sent += piece.length;
      if (sent > maxSound) return ended('upstream-broke');
      const next = await chunks.next();
      if (next.done) return { outcome: connection.gone ? departed().outcome : 'completed', bug: null };
      piece = next.value;
    }
    return departed();
  } catch (error) {
    if (!(error instanceof Lost)) return ended('gateway-failed', error);
    return connection.gone ? departed() : ended('upstream-broke');
  } finally {
    forget();
  }
}

/** Ends it as whole, if it is whole and `settled`. True: it is. */
export function endSound(
  connection: CallerConnection,
  { outcome }: SoundDelivery,
  settled: boolean,
  stalledCallers: StalledCallers,
): boolean {
  const whole = outcome === 'completed' && settled;
  // Without its end: the caller must not take this answer for a complete one.
  if (whole) connection.end();
  else connection.breakOff();
  if (connection.pending > 0) stalledCallers.watch(connection);
  return whole;
}
