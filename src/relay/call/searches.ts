import type { ToolCalls, Usage } from '../../domain/usage.js';
import { countIn, isObject, type JsonObject, objectsIn, textIn } from '../protocols/json.js';
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
  const most = new Map<ToolCalls, number>();
  for (const body of bodies) {
    const asked = new Map<ToolCalls, number>();
    for (const tool of objectsIn(body.tools)) {
      const name = toolSearches(tool);
      if (name === null) continue;
      const times = name === webSearch ? (countIn(tool.max_uses) ?? mostSearches) : answers * perAnswer(names);
      asked.set(name, (asked.get(name) ?? 0) + times);
    }
    for (const [name, times] of asked) most.set(name, Math.max(most.get(name) ?? 0, times));
  }
  for (const name of names) if (searchesItself(name)) most.set(webSearch, Math.max(most.get(webSearch) ?? 0, answers));
  return most.size === 0 ? null : Object.fromEntries(most);
}

/** In each answer of whichever of these models. */
function perAnswer(names: ReadonlySet<string>): number {
  for (const name of names) if (!searchesPerPrompt(name)) return mostSearches;
  return 1;
}
