/* JSON objects that are typed as text and, where they can be, as fields: the text is the truth of both. */

export interface Pair {
  readonly name: string;
  readonly value: string;
}

/** null: the text is no JSON object. Nothing is an empty one. */
export function objectIn(text: string): Readonly<Record<string, unknown>> | null {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

/** null: not all of it are texts and numbers by name; only the text shows what it is. */
export function pairsIn(text: string): readonly Pair[] | null {
  const object = objectIn(text);
  if (object === null) return null;
  const entries = Object.entries(object);
  if (!entries.every(([, value]) => typeof value === 'string' || typeof value === 'number')) return null;
  return entries.map(([name, value]) => ({ name, value: String(value) }));
}

/** As the text of nothing where nothing is left. */
const written = (object: Readonly<Record<string, unknown>>): string =>
  Object.keys(object).length === 0 ? '' : JSON.stringify(object, null, 2);

/** Places of pairs whose name stands before them already. */
export const repeatedPairs = (pairs: readonly Pair[]): ReadonlySet<number> =>
  new Set(
    pairs.flatMap(({ name }, at) =>
      name.trim() !== '' && pairs.findIndex((other) => other.name.trim() === name.trim()) < at ? [at] : [],
    ),
  );

/** Without those that have no name yet; of those of one name the first. */
export function textOfPairs(pairs: readonly Pair[]): string {
  const repeated = repeatedPairs(pairs);
  const kept = pairs.filter(({ name }, at) => name.trim() !== '' && !repeated.has(at));
  return written(Object.fromEntries(kept.map(({ name, value }) => [name.trim(), value.trim()])));
}

/** The text with one member set, or without it; what else it holds stays. null: it is no object, and is left. */
export function withMember(
  text: string,
  name: string,
  value: boolean | number | readonly string[] | Readonly<Record<string, unknown>> | undefined,
): string | null {
  const object = objectIn(text);
  if (object === null) return null;
  return written(
    Object.fromEntries([
      ...Object.entries(object).filter(([other]) => other !== name),
      ...(value === undefined ? [] : [[name, value]]),
    ]),
  );
}
