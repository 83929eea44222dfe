import { type Usage, used } from '../../domain/call/usage.js';
import { textsOfDocuments } from '../contracts/rerank-request.js';
import { countIn, isList, isObject, type JsonObject, type JsonValue } from '../json/json.js';

/* Rankings and their usage, in the forms in which vendors and self-hosted servers answer. */

/** A document by its place in the request, and how much it says about the query. */
interface RankedDocument {
  readonly index: number;
  readonly relevance_score: number;
  readonly document?: { readonly text: string };
}

/** A text, or an object with one: how some bring the document itself. Some bring null. */
const bringsText = ({ document, text }: JsonObject): boolean =>
  typeof document === 'string' || typeof text === 'string' || (isObject(document) && typeof document.text === 'string');

const isScore = (score: JsonValue | undefined): score is number => typeof score === 'number' && Number.isFinite(score);

/**
 * As upstream has ranked them, and no more than were asked for: of more the best ones, best first. Texts are those of the request. null: a place
 * in it is that of no document, or stands twice, or a score is no number.
 */
export function rankedDocuments(results: readonly JsonValue[], asked: JsonObject): RankedDocument[] | null {
  const texts = textsOfDocuments(asked);
  const { top_n: top, return_documents: returned } = asked;
  const seen = new Set<number>();
  const ranked: RankedDocument[] = [];
  for (const result of results) {
    if (!isObject(result)) return null;
    const { index, relevance_score: relevance, score = relevance } = result;
    const text = typeof index === 'number' ? texts[index] : undefined;
    if (typeof index !== 'number' || text === undefined || seen.has(index) || !isScore(score)) return null;
    seen.add(index);
    const withText = returned === true || (returned !== false && bringsText(result));
    ranked.push({ index, relevance_score: score, ...(withText && { document: { text } }) });
  }
  if (typeof top !== 'number' || ranked.length <= top) return ranked;
  return ranked.sort((one, other) => other.relevance_score - one.relevance_score).slice(0, top);
}

const objectIn = (value: JsonValue | undefined): JsonObject => (isObject(value) ? value : {});

/** All that was read; a ranking puts out no text. null: nothing is reported. */
function tokensIn(reported: JsonObject): number | null {
  const total = countIn(reported.total_tokens);
  const input = countIn(reported.prompt_tokens ?? reported.input_tokens);
  return total === null && input === null ? null : Math.max(total ?? 0, input ?? 0);
}

/** Tokens and search units, wherever they are reported. null: neither is. */
export function rerankUsage({ usage, meta, tokens }: JsonObject): Usage | null {
  const { tokens: read, billed_units: billed } = objectIn(meta);
  const places = [usage, read, tokens, billed].map(objectIn);
  const input = places.map(tokensIn).find((count) => (count ?? 0) > 0) ?? 0;
  const units = [billed, usage].map((place) => countIn(ceilIn(objectIn(place).search_units)) ?? 0);
  const counts = used({ input, searchUnits: Math.max(...units) });
  return Object.keys(counts).length === 0 ? null : counts;
}

/** Units are whole: what is not is counted up. */
const ceilIn = (value: JsonValue | undefined): JsonValue | undefined =>
  typeof value === 'number' ? Math.ceil(value) : value;

export const resultsIn = ({ results }: JsonObject): readonly JsonValue[] | null => (isList(results) ? results : null);
