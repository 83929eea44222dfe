import type { ToolWords } from '../../contracts/neutral-request.js';
import { NotConvertible } from '../../contracts/protocol.js';
import { isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../json/json.js';

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

/** `tools` and `tool_choice`, as far as there are any. Throws NotConvertible naming the tool. */
export function toolsOf({ tools, functions, tool_choice, function_call, parallel_tool_calls }: ToolWords): JsonObject {
  const offered = [
    ...objectsIn(tools).map((tool, at) => toolOf(tool, `tools[${at}]`)),
    ...objectsIn(functions).map((one, at) => toolOf({ function: one }, `functions[${at}]`)),
  ];
  if (offered.length === 0) return {};
  const choice = choiceOf(tool_choice ?? function_call);
  if (parallel_tool_calls !== false || choice?.type === 'none')
    return { tools: offered, ...(choice !== null && { tool_choice: choice }) };
  return { tools: offered, tool_choice: { ...(choice ?? { type: 'auto' }), disable_parallel_tool_use: true } };
}
