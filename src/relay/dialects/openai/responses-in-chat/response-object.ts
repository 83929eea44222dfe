import type { CallerRequest, CallInfo } from '../../../contracts/protocol.js';
import { jsonText } from '../../../json/exact-number.js';
import { isObject, type JsonObject, type JsonValue, textIn } from '../../../json/json.js';

/* The response that an answer of chat is put into. */

/** Members of the request that a response repeats; instructions and tools, which are long, are not repeated. */
const repeated = [
  'max_output_tokens',
  'max_tool_calls',
  'parallel_tool_calls',
  'prompt_cache_key',
  'reasoning',
  'safety_identifier',
  'temperature',
  'tool_choice',
  'top_logprobs',
  'top_p',
  'user',
  'metadata',
] as const;

/** Characters of a member, as JSON: a longer one is not repeated. */
const maxRepeated = 4_096;

const isShort = (value: JsonValue): boolean =>
  typeof value === 'string' ? value.length <= maxRepeated : jsonText(value).length <= maxRepeated;

/** What each is where the request does not say. */
const usual: JsonObject = {
  background: false,
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
  previous_response_id: null,
  reasoning: { effort: null, summary: null },
  service_tier: null,
  store: false,
  temperature: null,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: null,
  truncation: 'disabled',
  user: null,
};

function textFormat({ text }: JsonObject): JsonObject {
  const { format, verbosity } = isObject(text) ? text : {};
  const { type, name } = isObject(format) ? format : {};
  return {
    format: { type: textIn(type) ?? 'text', ...(textIn(name) !== null && { name }) },
    ...(textIn(verbosity) !== null && { verbosity }),
  };
}

/** What all forms of a response share. It holds nothing long of the request. */
export function responseHead(
  { body, conversation }: Pick<CallerRequest, 'body' | 'conversation'>,
  { callId, createdAt }: CallInfo,
): JsonObject {
  const head: JsonObject = { id: `resp_${callId}`, object: 'response', created_at: createdAt, ...usual };
  for (const name of repeated) {
    const value = body[name] ?? null;
    if (value !== null && isShort(value)) head[name] = value;
  }
  head.text = textFormat(body);
  if (conversation !== undefined) {
    head.previous_response_id = conversation.previous;
    head.store = conversation.stores;
  }
  return head;
}

const incompleteReasons: ReadonlyMap<string, string> = new Map([
  ['length', 'max_output_tokens'],
  ['content_filter', 'content_filter'],
]);

/** Why an answer is not whole; null: it is. */
export const incompleteReason = (finish: string | null): string | null => incompleteReasons.get(finish ?? '') ?? null;

/** A response that has ended. `reason`: why it is not whole; null: it is. */
export const endedResponse = (
  head: JsonObject,
  reason: string | null,
  ended: { readonly output: readonly JsonObject[]; readonly usage: JsonObject | null },
): JsonObject => ({
  ...head,
  status: reason === null ? 'completed' : 'incomplete',
  incomplete_details: reason === null ? null : { reason },
  ...ended,
});
