import type { ChatRequest, NeutralRequestOf } from '../../../contracts/neutral-request.js';
import { NotConvertible } from '../../../contracts/protocol.js';
import { isList, isObject, type JsonObject, type JsonValue, textIn } from '../../../json/json.js';
import { messagesOf } from './conversation.js';
import { toolWordsIn } from './functions.js';

/* A request of the Responses interface in neutral words, for upstreams that have chat alone. What chat has no words for is refused by name. */

const isNone = (value: JsonValue | undefined): boolean => (value ?? null) === null || value === false;

/** What only a provider that keeps responses can do, and what to do instead. */
const unknownInChat: readonly (readonly [string, string])[] = [
  ['previous_response_id', 'send the whole conversation as input'],
  ['conversation', 'send the whole conversation as input'],
  ['prompt', 'send its words as input'],
  ['background', 'stream the answer where it takes long'],
  ['store', 'leave it out, and send the whole conversation with every request'],
  ['context_management', 'leave it out, and send a shorter conversation'],
];

function checkMembers(body: JsonObject): void {
  for (const [name, instead] of unknownInChat)
    if (!isNone(body[name]))
      throw new NotConvertible(
        'caller',
        `${name} cannot be put to this channel, which has chat alone and keeps nothing: ${instead}`,
      );
}

/** Under the same name and with the same meaning. */
const asTheyAre = [
  'model',
  'temperature',
  'top_p',
  'stream',
  'user',
  'prompt_cache_key',
  'safety_identifier',
] as const satisfies readonly (keyof ChatRequest)[];

function formatOf({ text }: JsonObject): Pick<ChatRequest, 'response_format' | 'verbosity'> {
  if (!isObject(text)) return {};
  const { format, verbosity } = text;
  const said = textIn(verbosity) === null ? {} : { verbosity };
  if (!isObject(format)) return said;
  if (format.type === 'json_object') return { ...said, response_format: { type: 'json_object' } };
  if ((format.type ?? 'text') === 'text') return said;
  if (format.type !== 'json_schema')
    throw new NotConvertible(
      'caller',
      `text.format.type: ${(textIn(format.type) ?? 'this').slice(0, 100)} cannot be put to this channel, which has chat alone; allowed are text, json_schema, json_object`,
    );
  const { type, ...schema } = format;
  return { ...said, response_format: { type, json_schema: schema } };
}

const includedLogprobs = 'message.output_text.logprobs';

function logprobsOf({ top_logprobs: top, include }: JsonObject): Pick<ChatRequest, 'logprobs' | 'top_logprobs'> {
  const asked = isList(include) && include.includes(includedLogprobs);
  if (!asked && isNone(top)) return {};
  return { logprobs: true, ...(!isNone(top) && { top_logprobs: top }) };
}

/** Throws NotConvertible. */
export function responsesInChat(body: JsonObject): NeutralRequestOf<'chat'> {
  checkMembers(body);
  const kept: { [name in (typeof asTheyAre)[number]]?: JsonValue } = {};
  for (const name of asTheyAre) if ((body[name] ?? null) !== null) kept[name] = body[name];
  const { reasoning, max_output_tokens: limit } = body;
  const effort = isObject(reasoning) ? textIn(reasoning.effort) : null;
  const request: ChatRequest = {
    ...kept,
    messages: messagesOf(body),
    ...((limit ?? null) !== null && { max_tokens: limit }),
    ...(effort !== null && { reasoning_effort: effort }),
    ...toolWordsIn(body),
    ...formatOf(body),
    ...logprobsOf(body),
  };
  return { mode: 'chat', body: request };
}
