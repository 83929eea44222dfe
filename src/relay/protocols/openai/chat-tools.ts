import type { ChatRequest, ToolWords } from '../../contracts/neutral-request.js';
import { NotConvertible } from '../../contracts/protocol.js';
import { isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../json/json.js';

/* Neutral tools, the choice among them and the form of the answer, as the Responses interface has them: without an object around what they say. */

const refused = (what: string): NotConvertible => new NotConvertible('caller', what);

const noParameters: JsonObject = { type: 'object', properties: {} };

const described = ({ description }: JsonObject): JsonObject => (textIn(description) === null ? {} : { description });

/** Here a function is strict unless it says otherwise; in chat it is not. */
function functionOf(declared: JsonValue | undefined, place: string): JsonObject {
  if (!isObject(declared) || textIn(declared.name) === null) throw refused(`${place}.name is required`);
  const { name, parameters, strict } = declared;
  return {
    type: 'function',
    name,
    ...described(declared),
    parameters: isObject(parameters) ? parameters : noParameters,
    strict: strict === true,
  };
}

/** A grammar stands in the format itself here. */
const formatOf = (format: JsonValue | undefined): JsonObject => {
  if (!isObject(format)) return {};
  return { format: isObject(format.grammar) ? { type: format.type, ...format.grammar } : format };
};

function toolOf(tool: JsonObject, place: string): JsonObject {
  const { type = 'function', custom } = tool;
  if (type === 'function') return functionOf(tool.function, `${place}.function`);
  if (type !== 'custom') throw refused(`${place}.type must be function or custom: this upstream is asked by Responses`);
  if (!isObject(custom) || textIn(custom.name) === null) throw refused(`${place}.custom.name is required`);
  return { type, name: custom.name, ...described(custom), ...formatOf(custom.format) };
}

/** A tool by its name, as a choice names it; null: it names none. */
function namedTool(choice: JsonObject): JsonObject | null {
  for (const type of ['function', 'custom']) {
    const named = choice[type];
    if ((choice.type ?? 'function') === type && isObject(named) && textIn(named.name) !== null)
      return { type, name: named.name };
  }
  return choice.type === undefined && textIn(choice.name) !== null ? { type: 'function', name: choice.name } : null;
}

const unknownChoice = (): NotConvertible =>
  refused('tool_choice must be auto, none, required, allowed_tools, or a function or custom tool by its name');

function choiceOf(choice: JsonValue | undefined): JsonValue | undefined {
  if ((choice ?? null) === null) return undefined;
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice;
  if (!isObject(choice)) throw unknownChoice();
  if (choice.type === 'allowed_tools' && isObject(choice.allowed_tools)) {
    const { mode, tools } = choice.allowed_tools;
    return { type: 'allowed_tools', mode: textIn(mode) ?? 'auto', tools: objectsIn(tools).map(namedOrRefused) };
  }
  return namedOrRefused(choice);
}

function namedOrRefused(choice: JsonObject): JsonObject {
  const named = namedTool(choice);
  if (named === null) throw unknownChoice();
  return named;
}

/** `tools`, `tool_choice` and whether calls may be parallel, as far as there are any. Throws NotConvertible. */
export function responsesToolsOf({
  tools,
  functions,
  tool_choice,
  function_call,
  parallel_tool_calls: parallel,
}: ToolWords): JsonObject {
  const offered = [
    ...objectsIn(tools).map((tool, at) => toolOf(tool, `tools[${at}]`)),
    ...objectsIn(functions).map((one, at) => functionOf(one, `functions[${at}]`)),
  ];
  if (offered.length === 0) return {};
  const choice = choiceOf(tool_choice ?? function_call);
  return {
    tools: offered,
    ...(choice !== undefined && { tool_choice: choice }),
    ...(typeof parallel === 'boolean' && { parallel_tool_calls: parallel }),
  };
}

/** `text`: the form of the answer, and how much is said. Throws NotConvertible. */
export function responsesTextOf(
  { response_format: format }: ChatRequest,
  verbosity: JsonValue | undefined,
): JsonObject {
  const form = formOf(format);
  const level = textIn(verbosity);
  if (form === null && level === null) return {};
  return { text: { ...(form !== null && { format: form }), ...(level !== null && { verbosity: level }) } };
}

function formOf(format: JsonValue | undefined): JsonObject | null {
  if ((format ?? null) === null) return null;
  if (isObject(format) && (format.type === 'text' || format.type === 'json_object')) return { type: format.type };
  if (!isObject(format) || format.type !== 'json_schema')
    throw refused('response_format.type must be text, json_object or json_schema');
  const { json_schema: given } = format;
  if (!isObject(given) || !isObject(given.schema)) throw refused('response_format.json_schema.schema is required');
  const { schema, strict, name } = given;
  return {
    type: 'json_schema',
    name: textIn(name) ?? 'response',
    ...described(given),
    schema,
    ...(typeof strict === 'boolean' && { strict }),
  };
}
