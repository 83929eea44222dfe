/* Chance that is the same at every run. */

/** Numbers from 0 to below 1. */
export type Random = () => number;

/** The same numbers for the same seed (mulberry32). */
export function randomFrom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** One of them, each as often as its share of all shares. Throws where there is none. */
export function drawn<Item extends { readonly share: number }>(items: readonly Item[], random: Random): Item {
  let left = random() * items.reduce((sum, { share }) => sum + share, 0);
  for (const item of items) {
    left -= item.share;
    if (left < 0) return item;
  }
  const last = items.at(-1);
  if (last === undefined) throw new Error('there is nothing to draw from');
  return last;
}

/** A whole number, at least 1, mostly near `median` and now and then far above it (log-normal). */
export function around(median: number, spread: number, random: Random): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return Math.max(1, Math.round(median * Math.exp(spread * normal)));
}
