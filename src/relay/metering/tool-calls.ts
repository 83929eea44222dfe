import { noUsage, plus, type Usage } from '../../domain/call/usage.js';
import { assertNever } from '../../domain/kernel/failure.js';
import { factsOf } from '../../domain/models/model-facts.js';
import type { ToolCalls } from '../../domain/pricing/quantities.js';
import { type AskedTool, askedTools, toolsIn } from '../catalogue/asked-tools.js';
import { type InlineTool, inlineTools } from '../catalogue/inline-tools.js';
import { maxSearches } from '../catalogue/searching.js';
import { boundIn, countIn, type JsonObject, type JsonValue } from '../json/json.js';

/*
 * How often a provider may use tools of its own for a call, at a price for each time: as its caller says, or as it is
 * bounded here.
 */

const webSearch = 'calls:web_search';
/** Keeps every product of counts an exact integer. */
const maxCalls = 2 ** 30;
const noneSwitched: ReadonlySet<string> = new Set();

/**
 * The most calls of a request, by their tools; empty: it has none. `bodies`: the request, and as channels change it.
 * `names`: of the model, as asked for and as sent upstream. `switched`: functions named so are a provider's own tools.
 */
export function toolCallsOf(
  bodies: readonly JsonObject[],
  names: ReadonlySet<string>,
  answers: number,
  switched: ReadonlySet<string>,
): Usage {
  let max = noUsage;
  for (const body of bodies) {
    const searchLimit = Math.max(maxSearches, countIn(body.max_tool_calls) ?? 0);
    max = larger(max, maxIn(askedTools(body, switched), names, answers, searchLimit));
  }
  for (const name of names) {
    const { searchesAlways, searchesUnasked } = factsOf(name);
    if (searchesAlways) max = larger(max, { [webSearch]: answers });
    if (searchesUnasked) max = larger(max, { [webSearch]: answers * maxSearches });
  }
  return max;
}

/** Of the tools of one body. `searchLimit`: searches of one answer by a tool that names no bound of its own. */
function maxIn(tools: readonly AskedTool[], names: ReadonlySet<string>, answers: number, searchLimit: number): Usage {
  let sum = noUsage;
  for (const { calls, by, isSwitch } of tools)
    switch (calls) {
      case 'calls:web_search':
        sum = plus(sum, calls, answers * Math.min(searchesOf(by, isSwitch, names, searchLimit), maxCalls));
        break;
      case 'calls:google_search':
      case 'calls:google_maps':
        sum = plus(sum, calls, answers * perAnswer(names));
        break;
      case 'calls:code_execution':
      case 'calls:code_interpreter':
        // However often it is named, all code of an answer runs in one container.
        sum = larger(sum, { [calls]: answers });
        break;
      default:
        assertNever(calls);
    }
  return sum;
}

/** For one answer, by one tool. */
function searchesOf(by: JsonObject, isSwitch: boolean, names: ReadonlySet<string>, searchLimit: number): number {
  // None is no bound: a tool that may not be used is not asked for.
  if (!isSwitch) return boundIn(by.max_uses) ?? searchLimit;
  for (const name of names)
    if (!factsOf(name).searchesAlways) return Math.max(maxSearches, countIn(by.max_search_results) ?? 0);
  return 1;
}

/** The larger of two counts of each tool. */
function larger(one: Usage, other: Usage): Usage {
  if (one === noUsage || other === noUsage) return one === noUsage ? other : one;
  const max: Partial<Record<ToolCalls, number>> = { ...one };
  for (const name of Object.keys(other) as ToolCalls[]) max[name] = Math.max(max[name] ?? 0, other[name] ?? 0);
  return max;
}

/** In each answer of whichever of these models. */
function perAnswer(names: ReadonlySet<string>): number {
  for (const name of names) if (!factsOf(name).searchesByPrompt) return maxSearches;
  return 1;
}

/** Of how many tools of a provider's own a body asks for findings, functions that switch one on left out. */
export const toolsAsked = (body: JsonObject): number => askedTools(body, noneSwitched).length;

/** Every tool of a body, whoever carries it out. */
export const toolsOffered = (body: JsonObject): JsonObject[] => [...toolsIn(body)];

/** Tools that messages define on their way, with their places. */
export const toolsInMessages = (messages: JsonValue | undefined): InlineTool[] => [...inlineTools(messages)];
