/* What every list asks for and answers with. */

/** `page` counts from 1. */
export interface PageRequest {
  readonly page: number;
  readonly size: number;
}

export interface Page<Row> {
  readonly items: readonly Row[];
  readonly total: number;
}

export const offsetOf = ({ page, size }: PageRequest): number => (Math.max(page, 1) - 1) * size;

/** A LIKE pattern that finds `text` anywhere, taken literally (with Postgres' default escape, the backslash). */
export const containing = (text: string): string => `%${text.replace(/[\\%_]/g, (special) => `\\${special}`)}%`;

/** The number a search word is, when it can be an id. */
export const asId = (keyword: string): number | null => {
  const id = /^\d+$/.test(keyword) ? Number(keyword) : Number.NaN;
  return Number.isSafeInteger(id) ? id : null;
};
