/* The state of a list as query parameters. What equals its default is left out, so that a plain address stays plain. */

export type ListParams = Readonly<Record<string, string | number | boolean>>;

/** Literal defaults stand for their whole type: `page: 1` is a number. */
export type Widened<Params extends ListParams> = {
  readonly [Name in keyof Params]: Params[Name] extends string
    ? string
    : Params[Name] extends number
      ? number
      : boolean;
};

type Value = ListParams[string];

function readValue(text: string | null, initial: Value): Value {
  if (text === null) return initial;
  switch (typeof initial) {
    case 'number':
      // An address somebody edited by hand must not ask for page NaN.
      return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : initial;
    case 'boolean':
      return text === 'true' || (text === 'false' ? false : initial);
    default:
      return text;
  }
}

export const readListParams = <Params extends ListParams>(defaults: Params, search: URLSearchParams): Widened<Params> =>
  Object.fromEntries(
    Object.entries(defaults).map(([name, initial]) => [name, readValue(search.get(name), initial)]),
  ) as Widened<Params>;

/** Where in a list one is: the number of a page, or the line it follows. Kept by the hooks of pages. */
export const placeParameters = { page: 'page', after: 'after' } as const;

/**
 * The query with a patch applied. Parameters that are not of the list, like an open drawer, stay; but a list that is
 * filtered or sorted anew begins at its beginning.
 */
export function writeListParams<Params extends ListParams>(
  defaults: Params,
  search: URLSearchParams,
  patch: Partial<Widened<Params>>,
): URLSearchParams {
  const written = new URLSearchParams(search);
  for (const parameter of Object.values(placeParameters)) written.delete(parameter);
  for (const [name, value] of Object.entries(patch)) {
    if (value === undefined) continue;
    if (value === defaults[name]) written.delete(name);
    else written.set(name, String(value));
  }
  return written;
}
