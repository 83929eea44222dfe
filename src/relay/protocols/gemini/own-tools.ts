import { isList, isObject, type JsonObject, type JsonValue, memberNamesIn } from '../../json/json.js';
import { camelOf } from './names.js';

/*
 * Tools of Google's. What they cost is known of some only: others are sold by the piece, at prices of their own, and new
 * ones come. So those that may be asked for are named, and no others.
 */

/** Functions of the client's, tools that cost their tokens, and searches, which have a price here. */
const priced: ReadonlySet<string> = new Set([
  'functionDeclarations',
  'googleSearch',
  'googleSearchRetrieval',
  'urlContext',
  'codeExecution',
  'computerUse',
]);

/** Those known to cost by the piece, for dialects in whose tools they may stand beside members of any name. */
const unpriced: ReadonlySet<string> = new Set([
  'googleMaps',
  'enterpriseWebSearch',
  'exaAiSearch',
  'parallelAiSearch',
  'fileSearch',
  'retrieval',
  'mcpServers',
]);

const without = (place: string, name: string) => ({
  param: `${place}.${name.slice(0, 100)}`,
  message: `${place}.${name.slice(0, 100)} has no price here; allowed are ${[...priced].join(', ')}`,
});

/** Of a request in Gemini's own words. null: there is nothing to be said against it. */
export function wrongTools(tools: JsonValue | undefined): { readonly param: string; readonly message: string } | null {
  if ((tools ?? null) === null) return null;
  if (!isList(tools) || !tools.every(isObject)) return { param: 'tools', message: 'tools is to be a list of objects' };
  for (const [at, tool] of tools.entries())
    for (const [name, value] of Object.entries(tool)) {
      if (value === null) continue;
      if (!priced.has(camelOf(name))) return without(`tools[${at}]`, name);
      if (camelOf(name) === 'functionDeclarations' && !(isList(value) && value.every(isObject))) {
        const param = `tools[${at}].${name}`;
        return { param, message: `${param} is to be a list of objects` };
      }
    }
  return null;
}

/** Of a tool in OpenAI's dialect, where other gateways take Google's by the names of their members. null: none. */
export function unpricedTool(tool: JsonObject): string | null {
  for (const name of memberNamesIn(tool)) if (unpriced.has(camelOf(name))) return name;
  return null;
}
