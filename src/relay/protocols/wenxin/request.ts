import type { ChatRequest, EmbeddingRequest } from '../../contracts/neutral-request.js';
import { type CallerRequest, NotConvertible, type Protocol } from '../../contracts/protocol.js';
import { isObject, type JsonObject, type JsonValue, numberIn, textIn } from '../../json/json.js';
import { functionChoice, functionsOffered, outputLimitOf, refuseUnsupported, stopTexts } from '../chat-words.js';
import { refusePurpose, textsToEmbed } from '../embeddings.js';
import { baseOf, neutralAs, noThinking, notServed, written } from '../request-builder.js';
import { wenxinConversation } from './messages.js';

/* What is asked of Wenxin, version 1. The model stands in the address, under a name of its own there. */

/** Below `/chat/` or `/embeddings/`. */
type WenxinPathOf = (model: string) => string;

function formatOf({ response_format: format }: ChatRequest): JsonObject {
  const type = isObject(format) ? textIn(format.type) : null;
  if (type === null || type === 'text') return {};
  if (type === 'json_object') return { response_format: type };
  throw new NotConvertible('caller', 'response_format: this provider takes text and json_object');
}

function functionsOf(body: ChatRequest): JsonObject {
  const functions = functionsOffered(body);
  const choice = functionChoice(body);
  if (functions.length === 0 || choice === 'none') return {};
  if (choice !== null && choice !== 'auto')
    throw new NotConvertible('caller', 'tool_choice: this provider leaves it to the model whether it calls a tool');
  return { functions: functions.map(({ description, ...rest }) => ({ ...rest, description: description ?? '' })) };
}

/** 0 is refused, and so is what is above 1. */
const temperatureOf = (asked: JsonValue | undefined): number | undefined => {
  const temperature = numberIn(asked);
  return temperature === null ? undefined : Math.min(Math.max(temperature, 0.01), 1);
};

/** What lies in the range that the interface has for it. */
const penaltyOf = (asked: JsonValue | undefined): number | undefined => {
  const penalty = numberIn(asked);
  return penalty !== null && penalty >= 1 && penalty <= 2 ? penalty : undefined;
};

/** Switches of its search, which none of OpenAI's names has. Throws NotConvertible. */
function searchOf({ disable_search: off, enable_citation: cited }: JsonObject): JsonObject {
  const switches = { disable_search: off ?? undefined, enable_citation: cited ?? undefined };
  for (const [name, value] of Object.entries(switches))
    if (value !== undefined && typeof value !== 'boolean')
      throw new NotConvertible('caller', `${name} must be true or false`);
  return switches;
}

const minLimit = 2;

function chatBody(body: ChatRequest, caller: CallerRequest): JsonObject {
  refuseUnsupported(body, { formats: true });
  const limit = outputLimitOf(body, caller);
  const stops = stopTexts(body);
  return {
    ...wenxinConversation(body.messages),
    ...(caller.stream && { stream: true }),
    temperature: temperatureOf(body.temperature),
    top_p: body.top_p ?? undefined,
    penalty_score: penaltyOf(body.frequency_penalty),
    max_output_tokens: limit === null ? undefined : Math.max(limit, minLimit),
    stop: stops.length > 0 ? stops : undefined,
    user_id: textIn(body.user) ?? undefined,
    ...functionsOf(body),
    ...formatOf(body),
    ...searchOf({ ...body }),
  };
}

function embeddingBody(body: EmbeddingRequest): JsonObject {
  refusePurpose(body);
  if (body.dimensions !== undefined)
    throw new NotConvertible('caller', 'dimensions: the length of vectors cannot be chosen at this provider');
  return { input: textsToEmbed(body), user_id: textIn(body.user) ?? undefined };
}

/** An operator's own parameters may change the limit, but not raise it above what is reserved for the call. */
function overridden(body: JsonObject, override: JsonObject, max: number): JsonObject {
  const sent = { ...body, ...override };
  if ((numberIn(sent.max_output_tokens) ?? 0) > max) sent.max_output_tokens = Math.max(max, minLimit);
  return sent;
}

/** The token is added later. */
export const wenxinRequest =
  (pathOf: WenxinPathOf): Protocol['request'] =>
  ({ provider, channel, caller, model, options }) => {
    const { mode } = caller;
    if (mode !== 'chat' && mode !== 'embeddings') throw notServed(mode);
    const body =
      mode === 'chat' ? chatBody(neutralAs(caller, 'chat'), caller) : embeddingBody(neutralAs(caller, 'embeddings'));
    const override = options.passThrough ? null : channel.paramOverride;
    return {
      method: 'POST',
      url: `${baseOf(provider, channel)}/rpc/2.0/ai_custom/v1/wenxinworkshop/${mode}/${pathOf(model)}`,
      headers: { 'content-type': 'application/json', accept: caller.stream ? 'text/event-stream' : 'application/json' },
      content: {
        kind: 'json',
        text: written(override === null ? body : overridden(body, override, caller.maxOutput)),
      },
      model,
      ...noThinking,
    };
  };
