import { isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../json/json.js';

/* What a text of Anthropic's cites, as OpenAI's clients know it: pages of the web, and the part of the answer they are for. */

/** Of one block of text. */
export const maxCitations = 256;

/** Places in documents that were sent along have no address, and no place in neutral words. */
export const isCitedPage = (citation: JsonValue | undefined): citation is JsonObject =>
  isObject(citation) && textIn(citation.url) !== null;

/** `start`, `end`: of the text of the block within the answer, in UTF-16 units. */
export const annotationsOf = (citations: readonly JsonObject[], start: number, end: number): JsonObject[] =>
  citations.map(({ url, title }) => ({
    type: 'url_citation',
    url_citation: { url, title: textIn(title) ?? '', start_index: start, end_index: end },
  }));

export const citedPages = (citations: JsonValue | undefined): JsonObject[] =>
  objectsIn(citations).filter(isCitedPage).slice(0, maxCitations);
