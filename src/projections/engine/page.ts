import { invalidField } from '../../domain/kernel/failure.js';

/* What every list asks for and answers with. */

/** `page` counts from 1. */
export interface PageRequest {
  readonly page: number;
  readonly size: number;
}

export interface Page<Row> {
  readonly items: readonly Row[];
  /** Of the whole list. Counting it may cost more than the page: who shows no total does not ask. */
  readonly count: () => Promise<number>;
}

/** The one number a query selects as `total`. */
export const counted = async (query: {
  executeTakeFirstOrThrow(): Promise<{ readonly total: number }>;
}): Promise<number> => (await query.executeTakeFirstOrThrow()).total;

export const offsetOf = ({ page, size }: PageRequest): number => (Math.max(page, 1) - 1) * size;

/** How a search takes its words: as they are, or as older clients write them, `%` for anything and `_` for any one. */
export interface SearchStyle {
  readonly wildcards?: boolean;
}

const maxPatternLength = 255;
const maxWildcards = 5;

/** Bounded, because each wildcard multiplies what Postgres may have to try. Throws `invalid-field`. */
export function checkedPattern(field: string, pattern: string): string {
  // Only the two wildcards mean something; a backslash is a backslash.
  const shortened = pattern.replace(/%{2,}/g, '%').replaceAll('\\', '\\\\');
  const wildcards = shortened.split('%').length - 1;
  if (shortened.length > maxPatternLength || wildcards > maxWildcards)
    throw invalidField(field, `at most ${maxPatternLength} characters and ${maxWildcards} wildcards`);
  return shortened;
}

const literally = (text: string): string => text.replace(/[\\%_]/g, (special) => `\\${special}`);

/**
 * A LIKE pattern that finds `text` anywhere (with Postgres' default escape, the backslash). Throws `invalid-field` for
 * too many wildcards.
 */
export const containing = (field: string, text: string, { wildcards = false }: SearchStyle = {}): string =>
  `%${wildcards ? checkedPattern(field, text) : literally(text)}%`;

/** The same for what begins with `text`. */
export const beginningWith = (field: string, text: string, { wildcards = false }: SearchStyle = {}): string =>
  `${wildcards ? checkedPattern(field, text) : literally(text)}%`;

/** The number a search word is, when it can be an id. */
export const asId = (keyword: string): number | null => {
  const id = /^\d+$/.test(keyword) ? Number(keyword) : Number.NaN;
  return Number.isSafeInteger(id) ? id : null;
};
