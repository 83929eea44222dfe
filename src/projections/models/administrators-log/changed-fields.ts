import { boundedJson } from '../../../domain/kernel/bounds.js';

/* What an order changed, as it may be shown and kept: without secrets, and not without bounds. */

export interface FieldChange {
  readonly field: string;
  /** What it was before, '' where there was nothing. null, as `to`: it is not to be shown, and only that it changed is. */
  readonly from: string | null;
  readonly to: string | null;
  /** There was more of `from` or `to`. */
  readonly isCut: boolean;
}

/** Characters of each text that are kept. */
const maxShown = 1_000;
/** Of one order; beyond that only their number is kept. */
export const maxChanges = 100;

export const hiddenChange = (field: string): FieldChange => ({ field, from: null, to: null, isCut: false });

export const shownChange = (field: string, from: string, to: string): FieldChange => ({
  field,
  from: from.slice(0, maxShown),
  to: to.slice(0, maxShown),
  isCut: from.length > maxShown || to.length > maxShown,
});

export type Fields = Readonly<Record<string, string>>;

/** Those that differ, in the order of what is there now. */
export function changesBetween(before: Fields, now: Fields): FieldChange[] {
  const names = Object.keys({ ...now, ...before });
  return names
    .filter((name) => (before[name] ?? '') !== (now[name] ?? ''))
    .map((name) => shownChange(name, before[name] ?? '', now[name] ?? ''));
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What differs of a text: of two maps the entries, a line each; else all of it. */
export function textChange(field: string, from: string, to: string): FieldChange {
  const [before, now] = [boundedJson(from), boundedJson(to)];
  if (!isObject(before) || !isObject(now)) return shownChange(field, from, to);
  const lines = (map: Readonly<Record<string, unknown>>): Map<string, string> =>
    new Map(Object.entries(map).map(([name, value]) => [name, `${name}: ${JSON.stringify(value)}`]));
  const [had, has] = [lines(before), lines(now)];
  const without = (all: Map<string, string>, others: Map<string, string>): string =>
    [...all].flatMap(([name, line]) => (others.get(name) === line ? [] : [line])).join('\n');
  const [went, came] = [without(had, has), without(has, had)];
  // Written in another way, or put into another order.
  return went === came ? shownChange(field, from, to) : shownChange(field, went, came);
}
