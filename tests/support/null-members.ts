/* Null in each place of a JSON value in turn. */

export type Path = readonly (string | number)[];
type Holder = Record<string | number, unknown>;

/** Every member of every object and every place of every list, all the way down. */
export function placesIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [];
  const names: readonly (string | number)[] = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  return names.flatMap((name) => {
    const memberPath = [...path, name];
    return [memberPath, ...placesIn((value as Holder)[name], memberPath)];
  });
}

export const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce((holder, name) => (holder as Holder)[name], value);

function changed<Value>(value: Value, path: Path, change: (holder: Holder, name: string | number) => void): Value {
  const copy = structuredClone(value);
  const last = path.at(-1);
  if (last === undefined) throw new Error('the value itself is no place in it');
  change(valueAt(copy, path.slice(0, -1)) as Holder, last);
  return copy;
}

/** A copy with something else there. */
export const placedAt = <Value>(value: Value, path: Path, placed: unknown): Value =>
  changed(value, path, (holder, name) => {
    holder[name] = placed;
  });

/** A copy with null there. */
export const nulledAt = <Value>(value: Value, path: Path): Value => placedAt(value, path, null);

/** A copy without what is there. */
export const withoutAt = <Value>(value: Value, path: Path): Value =>
  changed(value, path, (holder, name) => {
    if (Array.isArray(holder)) holder.splice(Number(name), 1);
    else delete holder[name];
  });

/** E.g. `messages[0].content`. */
export const pathText = (path: Path): string =>
  path
    .map((name) => (typeof name === 'number' ? `[${name}]` : `.${name}`))
    .join('')
    .replace(/^\./, '');

/** By what a complaint calls a place: the last name on the way to it. */
export const nameOf = (path: Path): string => String(path.findLast((name) => typeof name === 'string') ?? '');

const inNull = (value: unknown): boolean => (value ?? null) === null;

/** Without what is null in it, members in order; texts that are JSON are looked into. */
export function bare(value: unknown): unknown {
  if (typeof value === 'string' && /^[[{]/.test(value))
    try {
      return bare(JSON.parse(value));
    } catch {
      return value;
    }
  if (Array.isArray(value)) return value.filter((one) => !inNull(one)).map(bare);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, one]) => !inNull(one))
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, one]) => [name, bare(one)]),
  );
}
