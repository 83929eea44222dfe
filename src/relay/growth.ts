import { type Price, reservationOf } from '../domain/pricing.js';
import type { Estimate, Reservation } from './metered.js';

/*
 * A stream without a known limit may outgrow its hold. The hold is raised in steps ahead of the output, so the check per
 * frame is one comparison; when a step cannot be afforded, the exact need decides.
 */

const smallestStep = 512;
/** Later steps are a quarter of what there is already, so that their number stays small. */
const stepShare = 0.25;
/** Text is looked at again after at least this many characters. */
const fewestCharacters = 64;

/** A token is about four Latin letters, or one and a half characters of other scripts. */
const roughTokens = (text: string, from: number): number => {
  let tokens = 0;
  for (let index = from; index < text.length; index++) tokens += text.charCodeAt(index) < 0x250 ? 0.25 : 0.67;
  return tokens;
};

export interface Growth {
  /** False when the caller cannot afford what has been produced so far. `text` only ever grows. */
  covers(text: string): boolean;
}

/** The most output tokens `held` pays for at the dearest rate, beside the prompt. */
export const coveredOutput = (held: number, prompt: number, price: Price): number => {
  let low = 0;
  let high = 1 << 30;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (reservationOf(prompt, middle, price) <= held) low = middle;
    else high = middle - 1;
  }
  return low;
};

export function watchGrowth(reservation: Reservation, { promptTokens, price }: Estimate): Growth {
  if (price.per === 'call') return { covers: () => true };
  let counted = 0;
  let tokens = 0;
  let covered: number | null = null;
  // A character is at most one token, or nearly so: below this length the text need not be looked at. That matters
  // because looking at a string that grows piece by piece copies the whole of it.
  let safeLength = 0;

  const holdFor = (output: number): boolean => {
    if (!reservation.extend(reservationOf(promptTokens, output, price))) return false;
    covered = output;
    return true;
  };

  return {
    covers(text) {
      if (text.length <= safeLength) return true;
      tokens += roughTokens(text, counted);
      counted = text.length;
      covered ??= coveredOutput(reservation.held, promptTokens, price);
      const needed = Math.ceil(tokens);
      const step = Math.max(smallestStep, Math.ceil(tokens * stepShare));
      if (tokens > covered && !holdFor(needed + step) && !holdFor(needed)) return false;
      safeLength = counted + Math.max(fewestCharacters, Math.floor(covered - tokens));
      return true;
    },
  };
}
