/* Figures as people read them: one table, its first column to the left, all others to the right. */

export type Cell = string | number;

export function table(head: readonly string[], rows: readonly (readonly Cell[])[]): string[] {
  const texts = [head, ...rows.map((row) => row.map(String))];
  const widths = head.map((_, column) => Math.max(...texts.map((row) => row[column]?.length ?? 0)));
  return texts.map((row) =>
    row
      .map((text, column) => (column === 0 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
}

/** `1234567` as `1,234,567`; what is no number as a dash. */
export const whole = (value: number): string => (Number.isFinite(value) ? Math.round(value).toLocaleString('en') : '-');

/** With so many places; what is no number as a dash. */
export const decimal = (value: number, places = 2): string => (Number.isFinite(value) ? value.toFixed(places) : '-');
