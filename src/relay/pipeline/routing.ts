import type { ChannelId } from '../../domain/kernel/ids.js';

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

const draw = <C extends Candidate>(tier: readonly C[], random: number): C | null => {
  let left = random * tier.reduce((sum, { weight }) => sum + weight + smoothing, 0);
  for (const candidate of tier) {
    left -= candidate.weight + smoothing;
    if (left < 0) return candidate;
  }
  return tier.at(-1) ?? null;
};

/**
 * The channel for attempt 0, 1, 2, … Attempt k starts at the k-th priority tier (the last one, when there are fewer);
 * channels that failed already are passed over while another is left there or in a lower tier; when all have failed,
 * the best tier is tried again. `random` is in [0, 1). null: no candidates.
 */
export function chooseChannel<C extends Candidate>(
  candidates: readonly C[],
  attempt: number,
  failed: ReadonlySet<ChannelId>,
  random: number,
): C | null {
  const tiers = priorities(candidates);
  for (const priority of tiers.slice(Math.min(attempt, tiers.length - 1))) {
    const fresh = candidates.filter((candidate) => candidate.priority === priority && !failed.has(candidate.id));
    if (fresh.length > 0) return draw(fresh, random);
  }
  const unused = candidates.filter(({ id }) => !failed.has(id));
  const best = unused.length > 0 ? unused : candidates;
  const [highest] = priorities(best);
  return draw(
    best.filter(({ priority }) => priority === highest),
    random,
  );
}

/** Statuses that say "this request", not "this channel": another channel would answer the same, or the work is done. */
const final = new Set([400, 408, 504, 524]);

/** Whether an answer with this status, after the channel's mapping, is worth another channel. */
export const isRetryable = (status: number): boolean => (status < 200 || status > 299) && !final.has(status);
