import { checkText, searchText } from '../domain/kernel/bounds.js';
import { invalidField } from '../domain/kernel/failure.js';
import { instantOf, unixSeconds } from '../domain/kernel/instant.js';

/* Parameters of an address, as they are given. */

export type Parameters = Readonly<Record<string, unknown>>;

/** undefined: it was not given, or empty. */
export function parameterIn(query: Parameters, name: string): string | undefined {
  const value = query[name];
  if (value === undefined || value === '') return undefined;
  if (typeof value !== 'string') throw invalidField(name, 'a single value');
  checkText(name, value, searchText);
  return value;
}

export function secondsIn(query: Parameters, name: string): number | undefined {
  const text = parameterIn(query, name);
  return text === undefined ? undefined : unixSeconds(instantOf(name, /^\d+$/.test(text) ? Number(text) : Number.NaN));
}
