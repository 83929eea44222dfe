/**
 * The entry of a table for the longest beginning of a model's name: `entry` is asked for each, from the whole name down
 * to one letter. undefined: there is none.
 */
export function longestPrefixMatch<Entry>(
  model: string,
  entry: (beginning: string) => Entry | undefined,
): Entry | undefined {
  for (let length = model.length; length > 0; length--) {
    const found = entry(model.slice(0, length));
    if (found !== undefined) return found;
  }
  return undefined;
}
