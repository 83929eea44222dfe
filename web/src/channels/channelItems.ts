/* What the address of the page opens besides a channel by its id and `new`. */

const prefixes = { copy: 'copy-', test: 'test-', tag: 'tag-' } as const;
type Kind = keyof typeof prefixes;

export const itemOf = (kind: Kind, what: string): string => `${prefixes[kind]}${what}`;

/** The id or tag an open item names; null: it is of another kind. */
export const namedBy = (kind: Kind, item: string | null): string | null =>
  item?.startsWith(prefixes[kind]) ? item.slice(prefixes[kind].length) : null;
