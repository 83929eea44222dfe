import { jsonText } from '../../../json/exact-number.js';
import { isObject, type JsonObject, type JsonValue, textIn } from '../../../json/json.js';
import { functionNameOf } from './tool-forms.js';

/* Calls of tools and their outputs among the items of a conversation, as calls of functions. */

interface FunctionCall {
  readonly name: string;
  /** JSON. */
  readonly arguments: string;
}

const namedIn = ({ name, namespace }: JsonObject): string => {
  const held = textIn(namespace);
  return functionNameOf({ name: textIn(name) ?? '', ...(held !== null && { namespace: held }) });
};

const objectIn = (value: JsonValue | undefined): JsonObject => (isObject(value) ? value : {});

/** The members of a local shell's action that the model gave. */
const localShell = ({ command, working_directory: directory, timeout_ms: timeout }: JsonObject): JsonObject => ({
  command: command ?? [],
  ...((directory ?? null) !== null && { working_directory: directory }),
  ...((timeout ?? null) !== null && { timeout_ms: timeout }),
});

const searchArguments = (given: JsonValue | undefined): string =>
  typeof given === 'string' ? given : jsonText(objectIn(given));

/** By the type of the item: the function that was called. */
const calls: ReadonlyMap<string, (item: JsonObject) => FunctionCall> = new Map<
  string,
  (item: JsonObject) => FunctionCall
>([
  ['function_call', (item) => ({ name: namedIn(item), arguments: textIn(item.arguments) ?? '{}' })],
  ['custom_tool_call', (item) => ({ name: namedIn(item), arguments: jsonText({ input: item.input ?? '' }) })],
  ['local_shell_call', ({ action }) => ({ name: 'local_shell', arguments: jsonText(localShell(objectIn(action))) })],
  ['shell_call', ({ action }) => ({ name: 'shell', arguments: jsonText(objectIn(action)) })],
  ['apply_patch_call', ({ operation }) => ({ name: 'apply_patch', arguments: jsonText(objectIn(operation)) })],
  ['tool_search_call', (item) => ({ name: 'tool_search', arguments: searchArguments(item.arguments) })],
]);

const outputs: ReadonlySet<string> = new Set([...calls.keys()].map((type) => `${type}_output`));
const searchOutput = 'tool_search_output';

export const callOf = (item: JsonObject): FunctionCall | null => calls.get(textIn(item.type) ?? '')?.(item) ?? null;

export const isOutputItem = ({ type }: JsonObject): boolean =>
  typeof type === 'string' && (outputs.has(type) || type === searchOutput);

/** A search among tools that a provider ran has no id by which its caller answered it. */
export const isOfProvider = ({ type, call_id: id, execution }: JsonObject): boolean =>
  (type === 'tool_search_call' || type === searchOutput) && (execution === 'server' || textIn(id) === null);

const foundNames = (tools: JsonValue | undefined): string[] =>
  (Array.isArray(tools) ? tools.filter(isObject) : []).flatMap((tool) =>
    tool.type === 'namespace'
      ? (Array.isArray(tool.tools) ? tool.tools.filter(isObject) : []).map((inner) =>
          namedIn({ ...inner, namespace: tool.name ?? null }),
        )
      : [namedIn(tool)],
  );

/** What a tool has put out: a text, or parts as those of a message. */
export function outputOf({ type, output, tools, status }: JsonObject): JsonValue {
  if (type === searchOutput) return `Tools found, which can be called now: ${foundNames(tools).join(', ') || 'none'}`;
  if (type === 'shell_call_output') return jsonText(output ?? []);
  if (type === 'apply_patch_call_output') return textIn(output) ?? textIn(status) ?? '';
  return typeof output === 'string' || isObject(output) || Array.isArray(output) ? (output as JsonValue) : '';
}

/** Whether the item says that its tool has failed. */
export const hasFailed = ({ type, status }: JsonObject): boolean =>
  type === 'apply_patch_call_output' && status === 'failed';
