import { anthropicToolCharge, anthropicToolTypes } from '../../../domain/pricing/provider-tools.js';
import type { InvalidRequest } from '../../contracts/endpoint.js';
import { isList, isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../json/json.js';
import { toolsInMessages } from '../../metering/tool-calls.js';

/* What a body must hold to be taken at all; everything else is the upstream's to judge. */

/** Bounds every estimate: with it no product of limits leaves the range of exact integers. */
const maxOutputTokens = 2 ** 30 - 1;

const wrong = (param: string, message: string): InvalidRequest => ({
  code: 'invalid_text_request',
  param,
  message,
});

/** A tool of Anthropic's is in the list of those that have a price, or it is refused by its type. */
function unpricedTool({ type }: JsonObject, place: string): InvalidRequest | null {
  if ((type ?? null) === null || type === 'custom') return null;
  const param = `${place}.type`;
  if (typeof type !== 'string') return wrong(param, `${param} must be a string`);
  // Named in its own words where the request is made.
  if (type.startsWith('advisor') || anthropicToolCharge(type) !== undefined) return null;
  const named = `${param}: ${type.slice(0, 100)} has no price here`;
  return wrong(param, `${named}; allowed are custom, ${anthropicToolTypes.join(', ')}`);
}

/** Of the request, and of the messages that add some. */
function unpricedTools({ tools, messages }: JsonObject): InvalidRequest | null {
  for (const [at, tool] of objectsIn(tools).entries()) {
    const unpriced = unpricedTool(tool, `tools[${at}]`);
    if (unpriced !== null) return unpriced;
  }
  for (const { tool, place } of toolsInMessages(messages)) {
    const unpriced = unpricedTool(tool, place);
    if (unpriced !== null) return unpriced;
  }
  return null;
}

/**
 * Members by which another model's tokens, another account's bill or an earlier refusal's credit would come into the
 * call. In Anthropic's own words for a member it does not take: clients that know these send the request again without.
 */
const withoutPrice: Readonly<Record<string, string>> = {
  models: 'the tokens of another model have no price in this call',
  fallbacks: 'the tokens of another model have no price in this call',
  fallback_credit_token: 'a credit belongs to the account of the provider, which callers share',
  billing_policy: 'a call is charged to the caller of the gateway',
};

const asksForNothing = (value: JsonValue | undefined): boolean =>
  (value ?? null) === null || (isList(value) && value.length === 0) || (isObject(value) && value.bill_to === 'self');

function memberWithoutPrice(body: JsonObject): InvalidRequest | null {
  for (const [name, why] of Object.entries(withoutPrice))
    if (!asksForNothing(body[name])) return wrong(name, `${name}: Extra inputs are not permitted: ${why}`);
  return null;
}

/** A conversation that Anthropic keeps. */
function invalidThread(thread: JsonValue | undefined): InvalidRequest | null {
  if ((thread ?? null) === null) return null;
  if (!isObject(thread)) return wrong('thread', 'thread must be an object with a type');
  const { type, previous_message_id: id = null, ...others } = thread;
  if (type !== 'create' && type !== 'continue') return wrong('thread.type', 'thread.type must be create or continue');
  if (type === 'create' && id !== null)
    return wrong('thread.previous_message_id', 'thread.previous_message_id goes with thread.type continue alone');
  if (type === 'continue' && (textIn(id) ?? '') === '')
    return wrong('thread.previous_message_id', 'thread.previous_message_id must be the id of the previous response');
  const [other] = Object.keys(others);
  return other === undefined
    ? null
    : wrong(`thread.${other}`, `thread.${other.slice(0, 100)}: Extra inputs are not permitted`);
}

/** null: it can be taken. */
export function invalidMessages(body: JsonObject): InvalidRequest | null {
  const { model, messages, max_tokens: limit, stream, system, tools, thread } = body;
  if (textIn(model) === null) return wrong('model', 'field model is required');
  if (!isList(messages) || messages.length === 0) return wrong('messages', 'field messages is required');
  if (!messages.every(isObject)) return wrong('messages', 'every message must be an object');
  if ((system ?? null) !== null && typeof system !== 'string' && !(isList(system) && system.every(isObject)))
    return wrong('system', 'system must be a string or a list of blocks');
  for (const [at, { content }] of messages.entries())
    if ((content ?? null) !== null && typeof content !== 'string' && !isList(content))
      return wrong(`messages[${at}].content`, `messages[${at}].content must be a string or a list of blocks`);
  if ((tools ?? null) !== null && !(isList(tools) && tools.every(isObject)))
    return wrong('tools', 'tools must be a list of objects');
  const unpriced = unpricedTools(body) ?? memberWithoutPrice(body);
  if (unpriced !== null) return unpriced;
  const wrongThread = invalidThread(thread);
  if (wrongThread !== null) return wrongThread;
  const given = (limit ?? null) !== null;
  if (given && !(Number.isInteger(limit) && Number(limit) >= 0 && Number(limit) <= maxOutputTokens))
    return wrong('max_tokens', `max_tokens must be an integer from 0 to ${maxOutputTokens}; 0 only fills the cache`);
  if ((stream ?? null) !== null && typeof stream !== 'boolean') return wrong('stream', 'stream must be true or false');
  return null;
}
