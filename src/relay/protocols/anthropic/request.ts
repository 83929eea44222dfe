import { reasoningEffortOf } from '../../../domain/call/call-texts.js';
import { factsOf } from '../../../domain/models/model-facts.js';
import { maxSearches } from '../../catalogue/searching.js';
import type { ChatRequest } from '../../contracts/neutral-request.js';
import {
  type CallerRequest,
  NotConvertible,
  type Protocol,
  type RequestInput,
  type RequestOptions,
} from '../../contracts/protocol.js';
import type { ServiceSent } from '../../contracts/service-tier.js';
import {
  countIn,
  isList,
  isNumber,
  isObject,
  type JsonObject,
  type JsonValue,
  numberIn,
  objectsIn,
  textIn,
} from '../../json/json.js';
import { declinesThinking } from '../declined-thinking.js';
import { baseOf, neutralAs, written } from '../request-builder.js';
import { thinkingInAnthropic } from '../requested-thinking.js';
import { withoutMadeBlocks } from './carried-members.js';
import { betasOf } from './headers.js';
import { conversationOf } from './messages.js';
import {
  anthropicThinkingSuffix,
  fitted,
  isEffort,
  minAnthropicThinking,
  minThinkingLimit,
  sampled,
  thoughtful,
  withEffort,
} from './thinking.js';
import { toolsOf } from './tools.js';
import type { AnthropicVariant } from './variant.js';

/* From the caller's request to Anthropic's Messages: the caller's own body where it speaks them, else out of the neutral one. */

/** By these a caller would have another model do the work, or the same at another rate, than is priced and allowed. */
const unpriced = ['models', 'fallbacks', 'route', 'anthropic_beta', 'billing_policy'];
const plainTiers = new Set<unknown>(['auto', 'standard_only']);
/** A tool that asks another model, whose tokens are in no total. */
const asksAnother = /^advisor/;

/** A search is sold by the piece: who names no bound is charged for at most this one, so it is sent upstream too. */
const bounded = (tool: JsonValue): JsonValue => {
  if (!isObject(tool) || !/^web_search/.test(textIn(tool.type) ?? '')) return tool;
  const max = countIn(tool.max_uses) ?? maxSearches;
  return tool.max_uses === max ? tool : { ...tool, max_uses: max };
};

/**
 * What is reserved and charged is for one model at a rate with a price; an operator may send otherwise, and price it.
 */
function asPriced(body: JsonObject, tiers: readonly JsonValue[] = []): JsonObject {
  for (const [at, { type }] of objectsIn(body.tools).entries())
    if (typeof type === 'string' && asksAnother.test(type))
      throw new NotConvertible('caller', `tools[${at}]: a tool that asks another model is not offered`);
  const priced: JsonObject = { ...body };
  if (isList(body.messages)) priced.messages = withoutMadeBlocks(body.messages);
  if (isList(body.tools)) priced.tools = body.tools.map(bounded);
  for (const name of unpriced) delete priced[name];
  const { speed, inference_geo: geo, service_tier: tier } = priced;
  if (speed !== undefined && speed !== 'standard' && !tiers.includes(speed)) delete priced.speed;
  if (geo !== undefined && !tiers.includes(geo)) delete priced.inference_geo;
  if (tier !== undefined && !plainTiers.has(tier) && !tiers.includes(tier)) delete priced.service_tier;
  return priced;
}

const tierMembers = ['speed', 'inference_geo', 'service_tier'];

/** Of a request as it goes out. */
function serviceSent({ tiers = [] }: CallerRequest, body: JsonObject, override: JsonObject | null): ServiceSent {
  if (override !== null && tierMembers.some((name) => name in override)) return 'overridden';
  return tierMembers.some((name) => tiers.some((tier) => tier === body[name])) ? 'asked' : undefined;
}

const limitGiven = ({ max_tokens: older, max_completion_tokens: newer }: JsonObject): number | null => {
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
function fromNeutral(body: ChatRequest, model: string, limit: number, stream: boolean): JsonObject {
  if ((countIn(body.n) ?? 1) > 1) throw new NotConvertible('caller', 'n: this provider gives one choice');
  const { thinking, reasoning_effort: effort } = body;
  const asked: JsonObject = {
    model,
    ...conversationOf(body.messages),
    max_tokens: limit,
    ...sampled(samplingIn(body), model),
    ...stopsIn(body, model),
    ...toolsOf(body),
    ...userIn(body),
    ...formatIn(body, model),
    ...(stream && { stream }),
  };
  if (declinesThinking(body)) return { ...asked, ...minAnthropicThinking(asked, model) };
  if (isObject(thinking)) return { ...asked, thinking };
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

interface MessagesBody {
  readonly body: JsonObject;
  readonly model: string;
}

/**
 * The body that goes upstream. An operator's own parameters may change the limit, but not raise it above what is
 * reserved. Throws NotConvertible.
 */
function messagesBody({ channel, caller, model: upstreamModel, options }: RequestInput): MessagesBody {
  const { model, thinks } = modelOf(upstreamModel, options);
  const own = caller.dialect.wire === 'anthropic';
  const given = own ? caller.body : neutralAs(caller, 'chat');
  const asked = limitOf(given, caller, upstreamModel, options);
  // For these the reservation allows that the limit is raised so far.
  // Nothing is to be put out where the cache alone is to be filled.
  const limit = thinks && asked > 0 && !options.passThrough ? Math.max(asked, minThinkingLimit) : asked;
  const plain: JsonObject = own
    ? { ...asPriced(given, caller.tiers), model, max_tokens: limit }
    : { ...fromNeutral(neutralAs(caller, 'chat'), model, limit, caller.stream), ...tiersIn(caller) };
  const asks = thinks && asked > 0 && !options.passThrough && !isObject(plain.thinking);
  const thought = asks ? thoughtful(plain, model, limit, options.claude.thinkingShare) : plain;
  const override = options.passThrough ? null : channel.paramOverride;
  const body: JsonObject = override === null ? thought : { ...thought, ...override };
  if (override !== null) {
    if (isList(override.tools)) body.tools = override.tools.map(bounded);
    // They may change the limit, and not take it away.
    if (!countIn(body.max_tokens)) body.max_tokens = thought.max_tokens;
  }
  const max = Math.max(caller.maxOutput, limit);
  if ((numberIn(body.max_tokens) ?? 0) > max) body.max_tokens = max;
  const lowered = caller.outputLimit !== null || limitGiven(given) === null;
  return { body: lowered ? fitted(body) : body, model };
}

/** What is to be counted, and nothing that only an answer has. */
function countedBody({ body }: CallerRequest, upstreamModel: string, options: RequestOptions): MessagesBody {
  const { model } = modelOf(upstreamModel, options);
  return { body: { ...asPriced(body), model }, model };
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
    const { body, model } = counts ? countedBody(caller, upstreamModel, options) : messagesBody(asked);
    const effort = isObject(body.output_config) ? body.output_config.effort : null;
    const betas = betasOf(caller, upstreamModel, options);
    const base = baseOf(provider, channel);
    const target = { base, model, asModel: upstreamModel, channel, caller, counts, betas, options };
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
        text: written(variant.reshape?.(body, target) ?? body, own ? caller.source : undefined),
      },
      model,
      reasoningEffort: reasoningEffortOf(
        textIn(effort) ?? (own ? null : textIn(neutralAs(caller, 'chat').reasoning_effort)),
      ),
      thinking: thinkingInAnthropic(body),
      service: serviceSent(caller, body, options.passThrough ? null : channel.paramOverride),
    };
  };
