import type { ColumnType } from 'kysely';

/**
 * A sum: numeric in its table, so that it has no end, and added to as bigint. It is read as the nearest number that can
 * be represented; who needs it exactly reads its text.
 */
export type Sum<Selected extends number = number> = ColumnType<Selected, bigint, bigint>;

/** The entry of `key`, made by `empty` when it is the first: folding a batch into per-row sums. */
export function tallyOf<Key, Tally>(tallies: Map<Key, Tally>, key: Key, empty: (key: Key) => Tally): Tally {
  let tally = tallies.get(key);
  if (tally === undefined) {
    tally = empty(key);
    tallies.set(key, tally);
  }
  return tally;
}
