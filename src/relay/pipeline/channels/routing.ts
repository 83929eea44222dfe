import type { ChannelId } from '../../../domain/kernel/ids.js';
import type { Affinity } from './session-affinity.js';

/* Which channel next: pure, so that every rule can be tested without a network. */

export interface Candidate {
  readonly id: ChannelId;
  readonly priority: number;
  readonly weight: number;
}

/** Weight 0 still gets traffic, and weight 10 twice the share of weight 0. */
const smoothing = 10;

const priorities = (candidates: readonly Candidate[]): number[] =>
  [...new Set(candidates.map(({ priority }) => priority))].sort((a, b) => b - a);

/** Which of several channels of one priority; null: there are none. */
type Draw = <C extends Candidate>(tier: readonly C[]) => C | null;

/** By weight. `random` is in [0, 1). */
export const byChance =
  (random: number): Draw =>
  (tier) => {
    let left = random * tier.reduce((sum, { weight }) => sum + weight + smoothing, 0);
    for (const candidate of tier) {
      left -= candidate.weight + smoothing;
      if (left < 0) return candidate;
    }
    return tier.at(-1) ?? null;
  };

/** In (0, 1), evenly spread over channels. */
function shareOf({ high, low }: Affinity, id: ChannelId): number {
  let mixed = Math.imul(id ^ high, 0x9e3779b1) ^ low;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (((mixed ^ (mixed >>> 16)) >>> 0) + 0.5) / 2 ** 32;
}

/**
 * Always the same one for a conversation, by rendezvous hashing: shares over many conversations are those of `byChance`,
 * and where a channel comes or goes, only conversations that it gets or had change. `left`: it is with another than these.
 */
export const byAffinity =
  (affinity: Affinity, left: ReadonlySet<ChannelId>): Draw =>
  <C extends Candidate>(tier: readonly C[]) => {
    const staying = left.size === 0 ? tier : tier.filter(({ id }) => !left.has(id));
    let best: C | null = null;
    let least = Number.POSITIVE_INFINITY;
    for (const candidate of staying.length === 0 ? tier : staying) {
      const distance = -Math.log(shareOf(affinity, candidate.id)) / (candidate.weight + smoothing);
      if (distance >= least) continue;
      best = candidate;
      least = distance;
    }
    return best;
  };

/**
 * The channel for attempt 0, 1, 2, … Attempt k starts at the k-th priority tier (the last one, when there are fewer);
 * channels that failed already are passed over while another is left there or in a lower tier; when all have failed,
 * the best tier is tried again. null: no candidates.
 */
export function chooseChannel<C extends Candidate>(
  candidates: readonly C[],
  attempt: number,
  failed: ReadonlySet<ChannelId>,
  draw: Draw,
): C | null {
  const tiers = priorities(candidates);
  for (const priority of tiers.slice(Math.min(attempt, tiers.length - 1))) {
    const fresh = candidates.filter((candidate) => candidate.priority === priority && !failed.has(candidate.id));
    if (fresh.length > 0) return draw(fresh);
  }
  const unused = candidates.filter(({ id }) => !failed.has(id));
  const best = unused.length > 0 ? unused : candidates;
  const [highest] = priorities(best);
  return draw(best.filter(({ priority }) => priority === highest));
}

/** Statuses that say "this request", not "this channel": another channel would answer the same, or the work is done. */
const final = new Set([400, 408, 504, 524]);

/** Whether an answer with this status, after the channel's mapping, is worth another channel. */
export const isRetryable = (status: number): boolean => (status < 200 || status > 299) && !final.has(status);
