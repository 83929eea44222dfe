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

/** A LIKE pattern that finds `text` anywhere, taken literally (with Postgres' default escape, the backslash). */
export const containing = (text: string): string => `%${text.replace(/[\\%_]/g, (special) => `\\${special}`)}%`;

/** The number a search word is, when it can be an id. */
export const asId = (keyword: string): number | null => {
  const id = /^\d+$/.test(keyword) ? Number(keyword) : Number.NaN;
  return Number.isSafeInteger(id) ? id : null;
};
