import { fileTexts } from './file-texts.js';

/* Comma-separated values as RFC 4180 has them, for programs and for spreadsheets. */

export type Cell = string | number | bigint | null;

/** By this a spreadsheet knows that the text is UTF-8. */
const byteOrderMark = '\uFEFF';

const number = /^-?\d+(\.\d+)?$/;
/** What a spreadsheet would take for the beginning of a formula, full-width forms included. */
const formula = /^[\s\0]*[=+\-@＝＋－＠]|^[\t\r\n]/u;
/**
 * The same behind what other spreadsheets take for the end of a cell: where the decimal mark is a comma, cells are told
 * apart by semicolons, and quotation marks in the middle of one mean nothing.
 */
const formulaWithin = /([;\t\r\n][\s\0"]*)(?=[=+\-@＝＋－＠])/gu;
const special = /[",\r\n]/;

function cell(value: Cell): string {
  if (value === null) return '';
  const text = String(value);
  if (number.test(text)) return text;
  const harmless = (formula.test(text) ? `'${text}` : text).replace(formulaWithin, "$1'");
  return special.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

export const csvRow = (cells: readonly Cell[]): string => `${cells.map(cell).join(',')}\r\n`;

/** A header, then a text for each page, with pauses between them; ends with whoever reads it. */
export const csvOf = <Line>(
  header: readonly string[],
  pages: AsyncIterable<readonly Line[]>,
  cellsOf: (line: Line) => readonly Cell[],
): AsyncGenerator<string, void, undefined> =>
  fileTexts(byteOrderMark + csvRow(header), pages, (line) => csvRow(cellsOf(line)));
