import { noUsage, plus, type ToolCalls, type Usage } from '../../domain/usage.js';
import { countIn, isList, isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../protocols/json.js';
import { mostSearches, searchesItself, searchesPerPrompt } from '../searching.js';

/* How often a provider may search the web for a call, at a price for each time: as its caller says, or as it is bounded here. */

const webSearch = 'calls:web_search';
const googleSearch = 'calls:google_search';

/** Gemini's names of tools that search. */
const isGoogleSearch = (name: string): boolean =>
  /^(google_?search(_?retrieval)?|enterprise_?web_?search)$/i.test(name);

function toolSearches(tool: JsonObject): ToolCalls | null {
  if (/^web_search/.test(textIn(tool.type) ?? '')) return webSearch;
  const named = isObject(tool.function) ? textIn(tool.function.name) : null;
  if (named !== null) return isGoogleSearch(named) ? googleSearch : null;
  return Object.keys(tool).some(isGoogleSearch) ? googleSearch : null;
}

/**
 * The most searches of a call, by their tools; null: it searches nothing. `bodies`: the request, and as channels change
 * it. `names`: of the model, as asked for and as sent upstream.
 */
export function searchesOf(bodies: readonly JsonObject[], names: ReadonlySet<string>, answers: number): Usage | null {
  let most: Usage | null = null;
  for (const { tools } of bodies) if (isList(tools)) most = dearer(most, asked(tools, names, answers));
  for (const name of names) if (searchesItself(name)) most = dearer(most, { [webSearch]: answers });
  return most;
}

/** By the tools of one body; null: none of them searches. */
function asked(tools: readonly JsonValue[], names: ReadonlySet<string>, answers: number): Usage | null {
  let sum: Usage | null = null;
  for (const tool of objectsIn(tools)) {
    const name = toolSearches(tool);
    if (name === null) continue;
    const times = name === webSearch ? (countIn(tool.max_uses) ?? mostSearches) : answers * perAnswer(names);
    sum = plus(sum ?? noUsage, name, times);
  }
  return sum;
}

/** The larger of two counts of each tool. */
function dearer(one: Usage | null, other: Usage | null): Usage | null {
  if (one === null || other === null) return one ?? other;
  const most: Partial<Record<ToolCalls, number>> = { ...one };
  for (const name of Object.keys(other) as ToolCalls[]) most[name] = Math.max(most[name] ?? 0, other[name] ?? 0);
  return most;
}

/** In each answer of whichever of these models. */
function perAnswer(names: ReadonlySet<string>): number {
  for (const name of names) if (!searchesPerPrompt(name)) return mostSearches;
  return 1;
}
