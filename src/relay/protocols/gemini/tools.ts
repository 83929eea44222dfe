import { isHostedSearch } from '../../contracts/hosted-search.js';
import { providerTools } from '../../contracts/neutral.js';
import type { ChatRequest, ToolWords } from '../../contracts/neutral-request.js';
import { NotConvertible } from '../../contracts/protocol.js';
import { isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../json/json.js';
import { requestedSearch } from '../requested-search.js';
import { geminiSchema } from './schema.js';

/* What a model may call, in Gemini's words. */

/** Throws NotConvertible. */
function declaration({ name, description, parameters }: JsonObject, path: string): JsonObject {
  const given = isObject(parameters) ? geminiSchema(parameters, `${path}.parameters`) : null;
  const takesSomething = given !== null && (given.type !== 'object' || given.properties !== undefined);
  return { name, description, ...(takesSomething && { parameters: given }) };
}

interface Offered {
  readonly called: JsonObject;
  readonly path: string;
}

const offeredIn = ({ tools, functions }: ToolWords): Offered[] => [
  ...objectsIn(tools).flatMap((tool, at): Offered[] => {
    if (isHostedSearch(tool)) return [];
    if (!isObject(tool.function))
      throw new NotConvertible('caller', `tools[${at}].type: this provider is offered functions and web_search only`);
    return [{ called: tool.function, path: `tools[${at}].function` }];
  }),
  ...objectsIn(functions).map((called, at) => ({ called, path: `functions[${at}]` })),
];

/** What Google is to search by itself. */
export const googleSearch: JsonObject = { googleSearch: {} };

const has = (tools: readonly JsonObject[], name: string): boolean => tools.some((tool) => name in tool);

/** Throws NotConvertible: of where to look and how often, Google is told nothing. */
function asksToSearch(body: ChatRequest): boolean {
  const search = requestedSearch(body);
  if (search === null) return false;
  const untold = [
    ['filters', search.allowed.length + search.blocked.length > 0],
    ['user_location', search.location !== null],
    ['a bound of searches (max_uses, max_tool_calls)', search.maxUses !== null],
  ] as const;
  const [first] = untold.filter(([, isAsked]) => isAsked);
  if (first !== undefined) throw new NotConvertible('caller', `web_search: ${first[0]} cannot be put to this provider`);
  return true;
}

/** `switches`: functions named so switch on tools of the provider's own. Empty: there are none. Throws NotConvertible. */
export function geminiTools(body: ChatRequest, switches: boolean): JsonObject[] {
  const own: JsonObject[] = [];
  const functionDeclarations: JsonObject[] = [];
  for (const { called, path } of offeredIn(body)) {
    const name = textIn(called.name);
    if (switches && name !== null && providerTools.has(name)) own.push({ [name]: {} });
    else functionDeclarations.push(declaration(called, path));
  }
  if (asksToSearch(body) && !has(own, 'googleSearch')) own.push(googleSearch);
  return functionDeclarations.length > 0 ? [...own, { functionDeclarations }] : own;
}

const modes: ReadonlyMap<JsonValue, string> = new Map([
  ['auto', 'AUTO'],
  ['required', 'ANY'],
  ['any', 'ANY'],
  ['none', 'NONE'],
]);

/** null: nothing is said. */
export function toolConfig({ tool_choice: choice, function_call: legacy }: ToolWords): JsonObject | null {
  const asked = choice ?? legacy;
  if (isObject(asked)) {
    const name = textIn(isObject(asked.function) ? asked.function.name : asked.name);
    return name === null ? null : { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: [name] } };
  }
  const mode = modes.get(asked ?? null);
  return mode === undefined ? null : { functionCallingConfig: { mode } };
}
