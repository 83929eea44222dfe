import { isHostedSearch } from '../../contracts/hosted-search.js';
import type { ChatRequest } from '../../contracts/neutral-request.js';
import { NotConvertible } from '../../contracts/protocol.js';
import { isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../json/json.js';
import { requestedSearch } from '../requested-search.js';
import { boundedTool } from './priced-body.js';

/* Tools and the choice among them, from neutral words into Anthropic's. */

const schemaOf = (parameters: JsonValue | undefined): JsonObject => {
  const schema = isObject(parameters) ? parameters : {};
  return schema.type === 'object' ? schema : { ...schema, type: 'object' };
};

function toolOf(tool: JsonObject, path: string): JsonObject {
  const declared = isObject(tool.function) ? tool.function : null;
  if (declared === null || (tool.type ?? 'function') !== 'function')
    throw new NotConvertible('caller', `${path}: this provider takes tools of type function`);
  if (textIn(declared.name) === null) throw new NotConvertible('caller', `${path}.function.name is required`);
  const description = textIn(declared.description);
  return {
    name: declared.name,
    ...(description !== null && { description }),
    input_schema: schemaOf(declared.parameters),
    ...(isObject(tool.cache_control) && { cache_control: tool.cache_control }),
  };
}

function choiceOf(choice: JsonValue | undefined): JsonObject | null {
  switch (choice) {
    case undefined:
    case null:
      return null;
    case 'auto':
    case 'none':
      return { type: choice };
    case 'required':
    case 'any':
      return { type: 'any' };
    default: {
      const named = isObject(choice) ? (isObject(choice.function) ? choice.function.name : choice.name) : null;
      if (textIn(named) === null)
        throw new NotConvertible('caller', 'tool_choice must be auto, required, none or a function by its name');
      return { type: 'tool', name: named };
    }
  }
}

/** As every version of the interface has it. */
export const webSearch = { type: 'web_search_20250305', name: 'web_search' } as const;

/** What Anthropic is to search by itself, within a bound. Throws NotConvertible. */
function searchOf(body: ChatRequest, functions: readonly JsonObject[], searches: boolean): JsonObject[] {
  const search = requestedSearch(body);
  if (search === null) return [];
  if (!searches) throw new NotConvertible('caller', 'web_search: this provider runs no searches');
  if (functions.some(({ name }) => name === webSearch.name))
    throw new NotConvertible(
      'caller',
      'tools: a function must not be named web_search beside a search of the provider',
    );
  const { allowed, blocked, location, maxUses } = search;
  if (allowed.length > 0 && blocked.length > 0)
    throw new NotConvertible('caller', 'web_search: this provider takes allowed_domains or blocked_domains, not both');
  const tool: JsonObject = {
    ...webSearch,
    ...(allowed.length > 0 && { allowed_domains: allowed }),
    ...(blocked.length > 0 && { blocked_domains: blocked }),
    ...(location !== null && { user_location: { type: 'approximate', ...location } }),
    ...(maxUses !== null && { max_uses: maxUses }),
  };
  return [boundedTool(tool)];
}

/** `tools` and `tool_choice`, as far as there are any. `searches`: the house runs searches. Throws NotConvertible naming the tool. */
export function toolsOf(body: ChatRequest, searches: boolean): JsonObject {
  const { tools, functions, tool_choice, function_call, parallel_tool_calls } = body;
  const called = [
    ...objectsIn(tools).flatMap((tool, at): JsonObject[] =>
      isHostedSearch(tool) ? [] : [toolOf(tool, `tools[${at}]`)],
    ),
    ...objectsIn(functions).map((one, at) => toolOf({ function: one }, `functions[${at}]`)),
  ];
  const offered = [...called, ...searchOf(body, called, searches)];
  if (offered.length === 0) return {};
  const choice = choiceOf(tool_choice ?? function_call);
  if (parallel_tool_calls !== false || choice?.type === 'none')
    return { tools: offered, ...(choice !== null && { tool_choice: choice }) };
  return { tools: offered, tool_choice: { ...(choice ?? { type: 'auto' }), disable_parallel_tool_use: true } };
}
