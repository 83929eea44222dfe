import { isHostedSearch, isOfferedAnyway } from '../contracts/hosted-search.js';
import { asksForAudio } from '../contracts/neutral.js';
import type { ChatMessage, ChatRequest, ToolWords } from '../contracts/neutral-request.js';
import { type CallerRequest, NotConvertible } from '../contracts/protocol.js';
import { countIn, isList, isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../json/json.js';

/* Neutral chats read for wires that have fewer words than OpenAI's: what they lack is refused by its name. */

const refused = (what: string): NotConvertible => new NotConvertible('caller', what);

/** A part of a message as a text; null: it is none. */
export const textOfPart = (part: JsonValue): string | null => {
  if (typeof part === 'string') return part;
  if (!isObject(part)) return null;
  if (part.type === 'refusal') return textIn(part.refusal) ?? '';
  return (part.type ?? 'text') === 'text' ? (textIn(part.text) ?? '') : null;
};

/** What a message says, where the wire takes nothing but a text. Throws NotConvertible naming the part. */
export function plainText(content: JsonValue | undefined, path: string): string {
  if (!isList(content)) return textIn(content) ?? '';
  return content
    .map((part, at) => {
      const text = textOfPart(part);
      if (text === null) throw refused(`${path}[${at}]: this provider takes text only`);
      return text;
    })
    .join('\n');
}

/** The result of a tool as a text: a failure says that it is one. Throws NotConvertible. */
export const resultText = ({ content, is_error: failed }: ChatMessage, path: string): string => {
  const text = plainText(content, path);
  return failed === true ? `Error: ${text}` : text;
};

/** A call of a function in a message of the assistant. */
export interface SaidCall {
  /** Of the older kind of calls the name. */
  readonly id: string;
  readonly name: string;
  /** JSON. */
  readonly arguments: string;
}

/** Throws NotConvertible naming the call. */
export function callsSaid({ tool_calls: calls, function_call: legacy }: ChatMessage, path: string): SaidCall[] {
  const said = objectsIn(calls).map((call, at): SaidCall => {
    const { name, arguments: given } = isObject(call.function) ? call.function : {};
    const called = textIn(name);
    if (called === null) throw refused(`${path}.tool_calls[${at}].function.name is required`);
    return { id: textIn(call.id) ?? called, name: called, arguments: textIn(given) ?? '{}' };
  });
  const name = isObject(legacy) ? textIn(legacy.name) : null;
  if (!isObject(legacy) || name === null) return said;
  return [...said, { id: name, name, arguments: textIn(legacy.arguments) ?? '{}' }];
}

/** Calls of the older kind, which have no ids, and their results as calls with ids of their own, paired in their order. */
export function withCallIds(messages: readonly ChatMessage[]): ChatMessage[] {
  const made = new Map<string, number>();
  const open = new Map<string, string[]>();
  return messages.map((message) => {
    const { role, function_call: legacy, ...rest } = message;
    const name = isObject(legacy) ? textIn(legacy.name) : null;
    if (name !== null) {
      const number = (made.get(name) ?? 0) + 1;
      made.set(name, number);
      const id = number === 1 ? `function_${name}` : `function_${name}_${number}`;
      open.set(name, [...(open.get(name) ?? []), id]);
      const call: JsonObject = { id, type: 'function', function: legacy ?? null };
      return { ...rest, role, tool_calls: [...objectsIn(message.tool_calls), call] };
    }
    if (role !== 'function') return message;
    const called = textIn(message.name) ?? '';
    return { ...rest, role: 'tool', tool_call_id: open.get(called)?.shift() ?? `function_${called}` };
  });
}

/** A function that the model may call. */
export interface OfferedFunction {
  readonly name: string;
  readonly description: string | null;
  /** A JSON Schema. */
  readonly parameters: JsonObject;
}

function offered({ name, description, parameters }: JsonObject, path: string): OfferedFunction {
  const called = textIn(name);
  if (called === null) throw refused(`${path}.name is required`);
  const schema = isObject(parameters) ? parameters : { type: 'object', properties: {} };
  return { name: called, description: textIn(description), parameters: schema };
}

/** Functions alone. A search that is offered anyway is left out; any other tool throws NotConvertible. */
export const functionsOffered = ({ tools, functions }: ToolWords): OfferedFunction[] => [
  ...objectsIn(tools).flatMap((tool, at): OfferedFunction[] => {
    if (isOfferedAnyway(tool)) return [];
    if (isHostedSearch(tool)) throw refused('tools: web_search is not offered by this provider');
    if (!isObject(tool.function)) throw refused(`tools[${at}].type: this provider takes tools of type function`);
    return [offered(tool.function, `tools[${at}].function`)];
  }),
  ...objectsIn(functions).map((one, at) => offered(one, `functions[${at}]`)),
];

/** Whether a function is to be called, or which one. */
export type FunctionChoice = 'auto' | 'none' | 'required' | { readonly name: string };

/** null: nothing is said. Throws NotConvertible. */
export function functionChoice({ tool_choice, function_call }: ToolWords): FunctionChoice | null {
  const choice = tool_choice ?? function_call ?? null;
  if (choice === null || choice === 'auto' || choice === 'none' || choice === 'required') return choice;
  if (choice === 'any') return 'required';
  const named = isObject(choice) ? (isObject(choice.function) ? choice.function.name : choice.name) : null;
  const name = textIn(named);
  if (name === null) throw refused('tool_choice must be auto, required, none or a function by its name');
  return { name };
}

const isPlainFormat = (format: JsonValue | undefined): boolean =>
  (format ?? null) === null || (isObject(format) && (format.type ?? 'text') === 'text');

/** `formats`: the wire takes `response_format`, in whatever words. */
interface Supported {
  readonly formats?: boolean;
}

/** Throws NotConvertible naming what the wire has no words for and what would change the answer. */
export function refuseUnsupported(body: ChatRequest, { formats = false }: Supported = {}): void {
  if ((countIn(body.n) ?? 1) > 1) throw refused('n: this provider gives one choice');
  if (!formats && !isPlainFormat(body.response_format))
    throw refused('response_format: this provider answers with plain text only');
  if (body.logprobs === true) throw refused('logprobs: this provider reports none');
  if (asksForAudio(body)) throw refused('modalities: this provider answers with text only');
  if (isObject(body.web_search_options)) throw refused('web_search_options: this provider is not asked to search');
}

/** Texts at which an answer is to end; empty: none. */
export const stopTexts = ({ stop }: Pick<ChatRequest, 'stop'>): string[] =>
  (isList(stop) ? stop : [stop]).flatMap((text) => textIn(text) ?? []);

/** Tokens of an answer at most; null: neither the caller nor what is reserved for the call says so. */
export const outputLimitOf = (
  { max_tokens: older, max_completion_tokens: newer }: ChatRequest,
  { outputLimit, maxOutput }: Pick<CallerRequest, 'outputLimit' | 'maxOutput'>,
): number | null => {
  const asked = outputLimit ?? countIn(newer) ?? countIn(older);
  return asked === null ? null : Math.min(asked, maxOutput);
};
