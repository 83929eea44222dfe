import { unhurried } from '../concurrency/unhurried.js';

/** What the file begins with, then a text for each page, with pauses between them; ends with whoever reads it. */
export async function* fileTexts<Line>(
  head: string,
  pages: AsyncIterable<readonly Line[]>,
  rowOf: (line: Line) => string,
): AsyncGenerator<string, void, undefined> {
  if (head !== '') yield head;
  for await (const page of unhurried(pages)) {
    if (page.length > 0) yield page.map(rowOf).join('');
  }
}
