/** The entry of `key`, made by `empty` when it is the first: folding a batch into per-row sums. */
export function tallyOf<Key, Tally>(tallies: Map<Key, Tally>, key: Key, empty: (key: Key) => Tally): Tally {
  let tally = tallies.get(key);
  if (tally === undefined) {
    tally = empty(key);
    tallies.set(key, tally);
  }
  return tally;
}
