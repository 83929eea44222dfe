/*
 * Durations of many calls are counted in classes that grow by 10 %, from 0 ms to about 2.7 hours: what is shown of them
 * is the middle of a class, which is within 5 % of what was measured. What took longer counts as the longest there is.
 */

const growth = Math.log(1.1);
export const durationClasses = 170;

/** The class, from 0, of a duration in milliseconds. */
export const durationClassOf = (ms: number): number =>
  Math.min(durationClasses - 1, Math.max(0, Math.round(Math.log(Math.max(ms, 1)) / growth)));

/** Milliseconds. */
const middleOf = (index: number): number => Math.round(Math.exp(index * growth));

/**
 * The least duration, in milliseconds, that so large a share (above 0, at most 1) of all does not exceed; null: there are
 * none. `counts`: how many there are of each class.
 */
export function percentileOf(counts: Uint32Array | readonly number[], share: number): number | null {
  let total = 0;
  for (const count of counts) total += count;
  if (total === 0) return null;
  let left = Math.ceil(total * share);
  for (const [index, count] of counts.entries()) {
    left -= count;
    if (left <= 0) return middleOf(index);
  }
  return middleOf(durationClasses - 1);
}
