import type { Reservation } from '../metering/metered.js';
import { affordableOutputOf, type Estimate, reservationFor } from '../metering/reservation-estimate.js';
import type { SeenText } from '../text/seen-text.js';

/*
 * A stream outgrows its reservation when its upstream keeps to no limit, or to another one than is known here. The
 * reservation is raised in steps ahead of the output, so the check per frame is one comparison; when a step cannot be
 * afforded, the exact need decides.
 */

const minStep = 512;
/** Later steps are a quarter of what there is already, so that their number stays small. */
const stepShare = 0.25;
/** Text is looked at again after at least this many characters. */
const minCharacters = 64;

export interface Growth {
  /** False when the caller cannot afford what has been produced so far. `said` only ever grows; nearly always at once. */
  covers(said: SeenText): true | Promise<boolean>;
}

/** What is said costs nothing by itself: the call has one price, or one for what is heard. */
const unlimited: Growth = { covers: () => true };

export const watchGrowth = (reservation: Reservation, estimate: Estimate): Growth =>
  estimate.price.per === 'call' || estimate.answers === 0 ? unlimited : new WatchedGrowth(reservation, estimate);

class WatchedGrowth implements Growth {
  /** Tokens of output that the reservation is enough for; null: not worked out yet. */
  private covered: number | null = null;
  /** A character is at most one token, or nearly so: below this length there is nothing to work out. */
  private safeLength = 0;

  constructor(
    private readonly reservation: Reservation,
    private readonly estimate: Estimate,
  ) {}

  covers(said: SeenText): true | Promise<boolean> {
    if (said.length <= this.safeLength) return true;
    const tokens = said.roughTokens();
    this.covered ??= affordableOutputOf(this.estimate, this.reservation.reserved);
    if (tokens > this.covered) return this.outgrown(tokens, said.length);
    this.safeUntil(this.covered, tokens, said.length);
    return true;
  }

  private async outgrown(tokens: number, length: number): Promise<boolean> {
    const needed = Math.ceil(tokens);
    const step = Math.max(minStep, Math.ceil(tokens * stepShare));
    const covered = (await this.extendFor(needed + step)) ? needed + step : needed;
    if (covered === needed && !(await this.extendFor(needed))) return false;
    this.covered = covered;
    this.safeUntil(covered, tokens, length);
    return true;
  }

  private extendFor(output: number): Promise<boolean> {
    return this.reservation.extend(reservationFor(this.estimate, output));
  }

  private safeUntil(covered: number, tokens: number, length: number): void {
    this.safeLength = length + Math.max(minCharacters, Math.floor(covered - tokens));
  }
}
