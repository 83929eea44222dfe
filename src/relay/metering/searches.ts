import { noUsage, plus, type Usage } from '../../domain/call/usage.js';
import { factsOf } from '../../domain/models/model-facts.js';
import type { ToolCalls } from '../../domain/pricing/quantities.js';
import { maxSearches } from '../catalogue/searching.js';
import { countIn, isObject, type JsonObject, memberNamesIn, objectsIn, textIn } from '../json/json.js';

/* How often a provider may search the web for a call, at a price for each time: as its caller says, or as it is bounded here. */

const webSearch = 'calls:web_search';
const googleSearch = 'calls:google_search';

/** Gemini's names of tools that search. */
const isGoogleSearch = (name: string): boolean =>
  /^(google_?search(_?retrieval)?|enterprise_?web_?search)$/i.test(name);

/** A function of the client's is nobody else's, whatever it is called, unless its name switches on a provider's tool. */
function functionSearches({ name }: JsonObject, switched: ReadonlySet<string>): ToolCalls | null {
  const named = textIn(name) ?? '';
  return switched.has(named) && isGoogleSearch(named) ? googleSearch : null;
}

function toolSearches(tool: JsonObject, switched: ReadonlySet<string>): ToolCalls | null {
  if (/^web_search/.test(textIn(tool.type) ?? '')) return webSearch;
  if (isObject(tool.function)) return functionSearches(tool.function, switched);
  return memberNamesIn(tool).some(isGoogleSearch) ? googleSearch : null;
}

/**
 * The most searches of a call, by their tools; empty: it searches nothing. `bodies`: the request, and as channels change
 * it. `names`: of the model, as asked for and as sent upstream. `switched`: functions named so are a provider's own tools.
 */
export function searchesOf(
  bodies: readonly JsonObject[],
  names: ReadonlySet<string>,
  answers: number,
  switched: ReadonlySet<string>,
): Usage {
  let most = noUsage;
  for (const body of bodies) most = larger(most, asked(body, names, answers, switched));
  for (const name of names) if (factsOf(name).searchesAlways) most = larger(most, { [webSearch]: answers });
  return most;
}

/** By the tools of one body. */
function asked(
  { tools, functions }: JsonObject,
  names: ReadonlySet<string>,
  answers: number,
  switched: ReadonlySet<string>,
): Usage {
  let sum = noUsage;
  for (const tool of objectsIn(tools)) {
    const name = toolSearches(tool, switched);
    if (name === null) continue;
    const times = name === webSearch ? (countIn(tool.max_uses) ?? maxSearches) : answers * perAnswer(names);
    sum = plus(sum, name, times);
  }
  for (const one of objectsIn(functions))
    if (functionSearches(one, switched) !== null) sum = plus(sum, googleSearch, answers * perAnswer(names));
  return sum;
}

/** The larger of two counts of each tool. */
function larger(one: Usage, other: Usage): Usage {
  if (one === noUsage || other === noUsage) return one === noUsage ? other : one;
  const most: Partial<Record<ToolCalls, number>> = { ...one };
  for (const name of Object.keys(other) as ToolCalls[]) most[name] = Math.max(most[name] ?? 0, other[name] ?? 0);
  return most;
}

/** In each answer of whichever of these models. */
function perAnswer(names: ReadonlySet<string>): number {
  for (const name of names) if (!factsOf(name).searchesByPrompt) return maxSearches;
  return 1;
}
