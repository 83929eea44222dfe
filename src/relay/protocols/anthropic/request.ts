import { reasoningEffortOf } from '../../../domain/call/call-texts.js';
import { factsOf } from '../../../domain/models/model-facts.js';
import type { ChatRequest } from '../../contracts/neutral-request.js';
import {
  type CallerRequest,
  NotConvertible,
  type Protocol,
  type RequestInput,
  type RequestOptions,
} from '../../contracts/protocol.js';
import {
  countIn,
  isList,
  isNumber,
  isObject,
  type JsonObject,
  type JsonValue,
  numberIn,
  textIn,
} from '../../json/json.js';
import { declinesThinking } from '../declined-thinking.js';
import { baseOf, neutralAs, written } from '../request-builder.js';
import { thinkingInAnthropic } from '../requested-thinking.js';
import { markedForCache } from './cache-marks.js';
import { betasOf, samplingRefusedBy } from './headers.js';
import { conversationOf } from './messages.js';
import { bounded, pricedBody, tierSent } from './priced-body.js';
import {
  anthropicThinkingSuffix,
  effortBeside,
  fitted,
  isEffort,
  minAnthropicThinking,
  minThinkingLimit,
  sampled,
  thoughtful,
  unsampled,
  withEffort,
} from './thinking.js';
import { toolsOf } from './tools.js';
import { keepsThread } from './usage.js';
import type { AnthropicVariant } from './variant.js';

/* From the caller's request to Anthropic's Messages: the caller's own body where it speaks them, else out of the neutral one. */

/** null: none. */
export const limitGiven = ({ max_tokens: older, max_completion_tokens: newer }: JsonObject): number | null => {
  const given = [countIn(older), countIn(newer)].filter((limit) => limit !== null && limit > 0) as number[];
  return given.length === 0 ? null : Math.max(...given);
};

/** The wire knows no answer without a limit. */
function limitOf(body: JsonObject, caller: CallerRequest, model: string, { claude }: RequestOptions): number {
  const given = caller.outputLimit ?? limitGiven(body);
  const usual = claude.defaultMaxTokens.get(model) ?? claude.otherwiseMaxTokens;
  return Math.min(given ?? usual, caller.maxOutput);
}

/** Anthropic refuses white space alone; others may stop at it. */
const stopsIn = ({ stop }: ChatRequest, model: string): JsonObject => {
  const stops: JsonValue[] = (isList(stop) ? stop : [stop ?? null]).filter(
    (one) => typeof one === 'string' && (factsOf(model).isClaude ? one.trim() : one) !== '',
  );
  return stops.length === 0 ? {} : { stop_sequences: stops };
};

const userIn = ({ user, metadata }: ChatRequest): JsonObject => {
  const id = textIn(isObject(metadata) ? metadata.user_id : null) ?? textIn(user);
  return id === null ? {} : { metadata: { user_id: id } };
};

const formatIn = ({ response_format: format }: ChatRequest, model: string): JsonObject => {
  if (!isObject(format) || format.type !== 'json_schema' || !factsOf(model).messages.schemas) return {};
  const { json_schema: given } = format;
  const schema = isObject(given) ? (given.schema ?? given) : null;
  return isObject(schema) ? { output_config: { format: { type: 'json_schema', schema } } } : {};
};

const samplingIn = ({ temperature, top_p, top_k }: ChatRequest): JsonObject => ({
  ...(isNumber(temperature) && { temperature }),
  ...(isNumber(top_p) && { top_p }),
  ...(isNumber(top_k) && { top_k }),
});

/** Throws NotConvertible. */
function fromNeutral(
  body: ChatRequest,
  { model, limit, stream, searches }: { model: string; limit: number; stream: boolean; searches: boolean },
): JsonObject {
  if ((countIn(body.n) ?? 1) > 1) throw new NotConvertible('caller', 'n: this provider gives one choice');
  const { thinking, reasoning_effort: effort } = body;
  const asked: JsonObject = {
    model,
    ...conversationOf(body.messages),
    max_tokens: limit,
    ...sampled(samplingIn(body), model),
    ...stopsIn(body, model),
    ...toolsOf(body, searches),
    ...userIn(body),
    ...formatIn(body, model),
    ...(stream && { stream }),
  };
  if (declinesThinking(body)) return { ...asked, ...minAnthropicThinking(asked, model) };
  if (isObject(thinking)) {
    const beside = thinking.type === 'adaptive' && isEffort(effort) ? effortBeside(asked, model, effort) : {};
    return { ...asked, thinking, ...beside };
  }
  return isEffort(effort) ? withEffort(asked, model, limit, effort) : asked;
}

/** The name that goes out, and whether the suffix that was taken off asks for thinking. */
function modelOf(upstreamModel: string, { claude }: RequestOptions): { model: string; thinks: boolean } {
  return claude.thinkingAdapter && upstreamModel.endsWith(anthropicThinkingSuffix)
    ? { model: upstreamModel.slice(0, -anthropicThinkingSuffix.length), thinks: true }
    : { model: upstreamModel, thinks: false };
}

/** What callers of other dialects can ask for by names of theirs. */
const tiersIn = ({ tiers = [] }: CallerRequest): JsonObject => (tiers.includes('fast') ? { speed: 'fast' } : {});

/** What a caller says itself to a version that it has chosen itself is for the upstream to judge. */
function ownSampling({ body }: CallerRequest, own: boolean, refusedBy: 'caller' | 'operator'): JsonObject {
  if (!own || refusedBy === 'operator') return {};
  const { temperature, top_p, top_k } = body;
  return {
    ...(temperature !== undefined && { temperature }),
    ...(top_p !== undefined && { top_p }),
    ...(top_k !== undefined && { top_k }),
  };
}

interface MessagesBody {
  readonly body: JsonObject;
  readonly model: string;
}

/**
 * The body that goes upstream. An operator's own parameters may change the limit, but not raise it above what is
 * reserved. Throws NotConvertible.
 */
function messagesBody(
  { channel, caller, model: upstreamModel, options }: RequestInput,
  { ownVersion, withoutSearch, withoutThreads }: AnthropicVariant,
): MessagesBody {
  if (withoutThreads === true && keepsThread(caller))
    throw new NotConvertible('caller', 'thread: Extra inputs are not permitted: this provider keeps no conversations');
  const { model, thinks } = modelOf(upstreamModel, options);
  const own = caller.dialect.wire === 'anthropic';
  const given = own ? caller.body : neutralAs(caller, 'chat');
  const asked = limitOf(given, caller, upstreamModel, options);
  // For these the reservation allows that the limit is raised so far.
  // Nothing is to be put out where the cache alone is to be filled.
  const limit = thinks && asked > 0 && !options.passThrough ? Math.max(asked, minThinkingLimit) : asked;
  const plain: JsonObject = own
    ? { ...pricedBody(given, caller.tiers), model, max_tokens: limit }
    : {
        ...fromNeutral(neutralAs(caller, 'chat'), {
          ...{ model, limit, stream: caller.stream },
          searches: withoutSearch !== true,
        }),
        ...tiersIn(caller),
      };
  const asks = thinks && asked > 0 && !options.passThrough && !isObject(plain.thinking);
  const thought = asks ? thoughtful(plain, model, limit, options.claude.thinkingShare) : plain;
  const override = options.passThrough ? null : channel.paramOverride;
  const merged: JsonObject = override === null ? thought : { ...thought, ...override };
  const refusedBy = ownVersion === true ? null : samplingRefusedBy(caller, upstreamModel, options);
  const body = refusedBy === null ? merged : { ...unsampled(merged), ...ownSampling(caller, own, refusedBy) };
  if (override !== null) {
    if (isList(override.tools)) body.tools = override.tools.map(bounded);
    // They may change the limit, and not take it away.
    if (!countIn(body.max_tokens)) body.max_tokens = thought.max_tokens;
  }
  const max = Math.max(caller.maxOutput, limit);
  if ((numberIn(body.max_tokens) ?? 0) > max) body.max_tokens = max;
  const lowered = caller.outputLimit !== null || limitGiven(given) === null;
  const fit = lowered ? fitted(body) : body;
  const marks = !own && !options.passThrough && options.claude.cachesPrompts && caller.savesByCache?.() === true;
  return { body: marks ? markedForCache(fit, model, given, caller.promptTokens) : fit, model };
}

/** What is to be counted, and nothing that only an answer has. */
function countedBody({ body }: CallerRequest, upstreamModel: string, options: RequestOptions): MessagesBody {
  const { model } = modelOf(upstreamModel, options);
  return { body: { ...pricedBody(body), model }, model };
}

/** What the model is asked by, in this variant. Throws NotConvertible. */
export const anthropicRequest =
  (variant: AnthropicVariant): Protocol['request'] =>
  (asked) => {
    const { provider, channel, caller, model: upstreamModel, options } = asked;
    const own = caller.dialect.wire === 'anthropic';
    const counts = caller.mode === 'counting' && own;
    if (caller.mode !== 'chat' && !counts)
      throw new NotConvertible('caller', `this provider does not serve ${caller.mode}`);
    const { body, model } = counts ? countedBody(caller, upstreamModel, options) : messagesBody(asked, variant);
    const effort = isObject(body.output_config) ? body.output_config.effort : null;
    const betas = betasOf(caller, upstreamModel, options);
    const base = baseOf(provider, channel);
    const target = { base, model, asModel: upstreamModel, channel, caller, counts, betas, options };
    const sent = variant.reshape?.(body, target) ?? body;
    return {
      method: 'POST',
      url: variant.url(target),
      headers: {
        'content-type': 'application/json',
        accept: caller.headers.accept ?? (caller.stream ? 'text/event-stream' : 'application/json'),
        ...variant.headers(target),
      },
      content: {
        kind: 'json',
        text: written(sent, own ? caller.source : undefined),
      },
      model,
      reasoningEffort: reasoningEffortOf(
        textIn(effort) ?? (own ? null : textIn(neutralAs(caller, 'chat').reasoning_effort)),
      ),
      thinking: thinkingInAnthropic(body),
      // What was not put into the request is not charged for.
      service: tierSent(caller, sent, options.passThrough ? null : channel.paramOverride),
    };
  };
