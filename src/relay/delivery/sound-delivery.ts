import type { ServerResponse } from 'node:http';
import type { CallOutcome } from '../../domain/call/call.js';
import type { SoundReading } from '../upstream/sound-answer.js';
import { Lost } from '../upstream/upstream-response.js';
import { beginStream, type Delivery, write } from './delivery.js';

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

/** Writes everything but the end of the answer: that waits for the settlement. Upstream is stopped with its caller. */
export async function passOn(
  response: ServerResponse,
  headers: string[],
  reading: SoundReading,
  delivery: Delivery,
): Promise<PassedOn> {
  const { chunks, cancel } = reading;
  const { presence } = delivery;
  const ended = (outcome: CallOutcome, bug: unknown = null): PassedOn => {
    cancel();
    return { outcome, bug };
  };
  const departed = (): PassedOn => ended(presence.stalled ? 'caller-stalled' : 'caller-left');
  const forget = presence.whenGone(cancel);
  try {
    beginStream(response, headers);
    let sent = 0;
    let piece = reading.first;
    reading.first = nothing;
    while (!presence.gone) {
      await write(response, piece, delivery);
      sent += piece.length;
      if (sent > maxSound) return ended('upstream-broke');
      const next = await chunks.next();
      if (next.done) return { outcome: presence.gone ? departed().outcome : 'completed', bug: null };
      piece = next.value;
    }
    return departed();
  } catch (error) {
    if (!(error instanceof Lost)) return ended('gateway-failed', error);
    return presence.gone ? departed() : ended('upstream-broke');
  } finally {
    forget();
  }
}
