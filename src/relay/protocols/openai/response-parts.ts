import { openAiReasoning, type ReasoningDetail } from '../../contracts/neutral.js';
import type { CallerRequest, CallInfo } from '../../contracts/protocol.js';
import { isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../json/json.js';

/* What items of a response say, in neutral words. */

/** Between the messages of one response, and between the parts of a summary: a chat has but one text for each. */
export const paragraph = '\n\n';

const textsOf = (parts: JsonValue | undefined, member: 'text' | 'refusal', type: string): string[] =>
  objectsIn(parts).flatMap((part) => (part.type === type && typeof part[member] === 'string' ? [part[member]] : []));

export const outputTextIn = ({ content }: JsonObject): string => textsOf(content, 'text', 'output_text').join('');

export const refusalTextIn = ({ content }: JsonObject): string => textsOf(content, 'refusal', 'refusal').join('');

/** What is shown of thinking: its summary, or, of models that show it, the thinking itself. */
export const thoughtsIn = ({ summary, content }: JsonObject): string => {
  const summaries = textsOf(summary, 'text', 'summary_text');
  return (summaries.length > 0 ? summaries : textsOf(content, 'text', 'reasoning_text')).join(paragraph);
};

/** What lets the model be shown its thinking again; null: there is nothing of the kind. */
export function sealedIn({ id, encrypted_content: data }: JsonObject): ReasoningDetail | null {
  const sealed = textIn(data);
  if (sealed === null) return null;
  const of = textIn(id);
  return { type: 'reasoning.encrypted', data: sealed, format: openAiReasoning, ...(of !== null && { id: of }) };
}

/** Names of the custom tools that a caller has: xAI tells calls of its own tools in items of the same type. */
export type CustomTools = ReadonlySet<string>;

const noTools: CustomTools = new Set();

/** Looked for at once: a stream outlives its request. */
export function customToolsOf({ dialect, body }: Pick<CallerRequest, 'dialect' | 'body'>): CustomTools {
  if (dialect.wire !== 'openai') return noTools;
  const names = objectsIn(body.tools).flatMap(({ custom }) => (isObject(custom) ? [textIn(custom.name) ?? ''] : []));
  return names.length === 0 ? noTools : new Set(names);
}

/** Of a tool that the caller carries out. */
export const isCall = ({ type, name }: JsonObject, custom: CustomTools): boolean =>
  type === 'function_call' || (type === 'custom_tool_call' && custom.has(textIn(name) ?? ''));

/** A call of a tool of the caller's. */
export function chatCallOf({ type, ...item }: JsonObject, id: string): JsonObject {
  const name = textIn(item.name) ?? '';
  return type === 'custom_tool_call'
    ? { id, type: 'custom', custom: { name, input: textIn(item.input) ?? '' } }
    : { id, type: 'function', function: { name, arguments: textIn(item.arguments) ?? '' } };
}

/** By what events name an item that has no number: some upstreams give a call only the id of its result. */
const nameOf = ({ id, call_id: callId }: JsonObject): string | null => textIn(id) ?? textIn(callId);

/** The place of an item in its response: its number, else its name; null: neither is said. */
export const placeOf = ({ output_index: index, item_id: id, item }: JsonObject): JsonValue =>
  index ?? textIn(id) ?? (isObject(item) ? nameOf(item) : null);

/** The same of an item of the whole response. `numbered`: its events had numbers. */
export const placeInOutput = (item: JsonObject, at: number, numbered: boolean): JsonValue =>
  numbered ? at : (nameOf(item) ?? at);

/** The id that its result is to name. */
export const callIdOf = (item: JsonObject): string => textIn(item.call_id) ?? textIn(item.id) ?? '';

/** `start`: where its text begins in all that was said. */
export function citationOf(cited: JsonObject, start: number): JsonObject | null {
  const { type, url, title, start_index: from, end_index: to } = cited;
  if (type !== 'url_citation' || textIn(url) === null) return null;
  const at = (index: JsonValue | undefined): number => start + (typeof index === 'number' ? index : 0);
  return { type, url_citation: { start_index: at(from), end_index: at(to), title: textIn(title) ?? '', url } };
}

/** How likely each word was; null: nobody has asked for it. */
export function logprobsIn(parts: JsonValue | undefined): JsonObject | null {
  const content = objectsIn(parts).flatMap(({ logprobs }) => objectsIn(logprobs));
  return content.length === 0 ? null : { content, refusal: null };
}

/** What a chat has at its head, as far as the response tells it. */
export function chatHeadOf({ id, created_at: created, model, service_tier: tier }: JsonObject, info: CallInfo) {
  return {
    id: textIn(id) ?? info.callId,
    created: typeof created === 'number' ? Math.trunc(created) : info.createdAt,
    model: textIn(model) ?? info.model,
    ...(textIn(tier) !== null && { service_tier: tier }),
  };
}
