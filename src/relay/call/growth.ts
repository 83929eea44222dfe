import { reservationOf } from '../../domain/pricing.js';
import type { SeenText } from '../seen-text.js';
import { affordableBeside, type Estimate, mostUsage } from './hold.js';
import type { Reservation } from './metered.js';

/*
 * A stream outgrows its hold when its upstream keeps to no limit, or to another one than is known here. The hold is
 * raised in steps ahead of the output, so the check per frame is one comparison; when a step cannot be afforded, the
 * exact need decides.
 */

const smallestStep = 512;
/** Later steps are a quarter of what there is already, so that their number stays small. */
const stepShare = 0.25;
/** Text is looked at again after at least this many characters. */
const fewestCharacters = 64;

export interface Growth {
  /** False when the caller cannot afford what has been produced so far. `said` only ever grows; nearly always at once. */
  covers(said: SeenText): true | Promise<boolean>;
}

export function watchGrowth(reservation: Reservation, estimate: Estimate): Growth {
  const { amplePrompt, ampleSound, bound, price } = estimate;
  if (price.per === 'call') return { covers: () => true };
  let covered: number | null = null;
  // A character is at most one token, or nearly so: below this length there is nothing to work out.
  let safeLength = 0;

  const holdFor = async (output: number): Promise<boolean> => {
    if (!(await reservation.extend(reservationOf(mostUsage(amplePrompt, ampleSound, output, bound), price))))
      return false;
    covered = output;
    return true;
  };

  const safeUntil = (tokens: number, length: number): void => {
    safeLength = length + Math.max(fewestCharacters, Math.floor((covered ?? 0) - tokens));
  };

  const outgrown = async (tokens: number, length: number): Promise<boolean> => {
    const needed = Math.ceil(tokens);
    const step = Math.max(smallestStep, Math.ceil(tokens * stepShare));
    if (!(await holdFor(needed + step)) && !(await holdFor(needed))) return false;
    safeUntil(tokens, length);
    return true;
  };

  return {
    covers(said) {
      if (said.length <= safeLength) return true;
      const tokens = said.roughTokens();
      covered ??= affordableBeside(estimate, reservation.held);
      if (tokens > covered) return outgrown(tokens, said.length);
      safeUntil(tokens, said.length);
      return true;
    },
  };
}
