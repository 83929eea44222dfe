import { reasoningEffortOf } from '../../../domain/call/call-texts.js';
import { isImageMode, isSoundMode, type Mode } from '../../../domain/channel/provider.js';
import { factsOf } from '../../../domain/models/model-facts.js';
import { budgetsBelow } from '../../catalogue/thinking-budget.js';
import type { CallerRequest, RequestInput, UpstreamRequest } from '../../contracts/protocol.js';
import type { ServiceSent } from '../../contracts/service-tier.js';
import { countIn, isObject, type JsonObject, numberIn, objectsIn, textIn } from '../../json/json.js';
import { contentTypeOf, formContent, type RequestContent } from '../../upstream/request-content.js';
import { refusePurpose } from '../embeddings.js';
import { formParts } from '../form-parts.js';
import { overriddenPictures } from '../picture-override.js';
import { baseOf, notServed, written } from '../request-builder.js';
import { thinkingInOpenAi } from '../requested-thinking.js';
import { withInlinedPictures } from './inlined-pictures.js';
import { refuseConversations } from './moderation.js';
import { inPlainWords } from './plain-words.js';
import { documentsAsTexts } from './rerank.js';
import type { Edit, OpenAiVariant, Target } from './variant.js';

/* From the caller's request to the upstream's, in the OpenAI family. */

const paths: Readonly<Record<Mode, string | null>> = {
  chat: '/v1/chat/completions',
  completions: '/v1/completions',
  responses: '/v1/responses',
  embeddings: '/v1/embeddings',
  speech: '/v1/audio/speech',
  transcription: '/v1/audio/transcriptions',
  translation: '/v1/audio/translations',
  rerank: '/v1/rerank',
  moderation: '/v1/moderations',
  'image-generation': '/v1/images/generations',
  'image-edit': '/v1/images/edits',
  realtime: '/v1/realtime',
  counting: null,
  task: null,
};

/** Cloudflare's gateway has the provider's root in its own path already. */
export const cloudflareGateway = 'https://gateway.ai.cloudflare.com';

/** OpenAI's path at the upstream's base. The caller's query stays here: a provider that needs some of it says so. */
export function standardUrl({ base, caller }: Target): string {
  const path = paths[caller.mode];
  if (path === null) throw notServed(caller.mode);
  return base + (base.startsWith(cloudflareGateway) ? path.slice('/v1'.length) : path);
}

/** The URL of a provider that keeps the OpenAI paths under other names. */
export const urlAt =
  (pathsByMode: Partial<Record<Mode, string>>) =>
  ({ base, caller }: Target): string => {
    const modePath = pathsByMode[caller.mode];
    if (modePath === undefined) throw notServed(caller.mode);
    return base + modePath;
  };

export const bearerKey = ({ channel }: Target): Record<string, string> => ({
  authorization: `Bearer ${channel.key.trim()}`,
});

/** Members removed by name. */
export const without =
  (...names: readonly string[]): Edit =>
  (body) => {
    for (const name of names) delete body[name];
    return body;
  };

/** A member sent under another name; what already bears that name stays. */
export const renamed =
  (from: string, to: string): Edit =>
  (body) => {
    if (body[from] === undefined) return body;
    body[to] ??= body[from];
    delete body[from];
    return body;
  };

/** `top_p` kept inside the open interval some upstreams insist on. */
export const boundedTopP =
  (lowest: number, highest: number): Edit =>
  (body) => {
    if (typeof body.top_p === 'number') body.top_p = Math.min(Math.max(body.top_p, lowest), highest);
    return body;
  };

/** `name-high` → name, with `reasoning_effort` high; for names that may say so at the interface of their maker. */
export const effortSuffix =
  (models: 'gpt' | 'grok'): Edit =>
  (body) => {
    const [, name, effort] = /^(.+)-(high|medium|low)$/.exec(textIn(body.model) ?? '') ?? [];
    if (name === undefined || effort === undefined || factsOf(name).effortSuffixOf !== models) return body;
    return { ...body, model: name, reasoning_effort: effort };
  };

const samplingMembers = ['temperature', 'top_p', 'logprobs', 'top_logprobs'];
const penaltyMembers = ['presence_penalty', 'frequency_penalty', 'logit_bias'];

/** The first instructions as the role these models expect; the very first of them took none at all. */
const instructed: Edit = (body, { model }) => {
  const messages = objectsIn(body.messages);
  const [first, ...others] = messages;
  if (first?.role !== 'system') return body;
  return { ...body, messages: [{ ...first, role: factsOf(model).instructionsAs }, ...others] };
};

const reasoningParameters: Edit = (body, target) => {
  const model = textIn(body.model) ?? '';
  const { takesReasoningParameters, samplesUnthinking } = factsOf(model);
  if (!takesReasoningParameters) return body;
  renamed('max_tokens', 'max_completion_tokens')(body, target);
  const samples = samplesUnthinking && body.reasoning_effort === 'none';
  without(...(samples ? [] : samplingMembers), ...penaltyMembers)(body, target);
  return instructed(body, { ...target, model });
};

const searchParameters: Edit = (body, target) =>
  factsOf(textIn(body.model) ?? '').takesTemperature ? body : without('temperature')(body, target);

/** Models that report tokens of their pictures give them in base64, and refuse to be asked for it. */
const pictureParameters: Edit = (body, target) =>
  isImageMode(target.caller.mode) && factsOf(textIn(body.model) ?? '').drawsByToken !== null
    ? without('response_format')(body, target)
    : body;

/** What OpenAI's own models want, wherever they are served. */
export const openAiModelRules: readonly Edit[] = [
  effortSuffix('gpt'),
  reasoningParameters,
  searchParameters,
  pictureParameters,
];

/** Streams must end with usage, or must not be asked for it. */
const usageOption =
  (variant: OpenAiVariant): Edit =>
  (body, target) => {
    const { caller, options } = target;
    const { usageOnRequest = false } = variant;
    if (isImageMode(caller.mode) || isSoundMode(caller.mode)) return body;
    const possible = typeof usageOnRequest === 'boolean' ? usageOnRequest : usageOnRequest(target);
    if (!caller.stream || !possible) return options.passThrough ? body : without('stream_options')(body, target);
    if (!options.forceUsage && !caller.wantsUsage) return body;
    const asked = isObject(body.stream_options) ? body.stream_options : {};
    return { ...body, stream_options: { ...asked, include_usage: true } };
  };

/** By these a caller would have another model do the work than the one that is priced and allowed. */
const otherModels = ['models', 'fallbacks', 'route'];
/** None of them costs more than the price of the model says. */
const plainTiers = new Set<unknown>(['auto', 'default', 'standard', 'on_demand', 'flex']);

/** Those that other dialects may ask for too. */
const askableTiers = new Set(['flex', 'priority', 'fast', 'ultrafast']);

/**
 * What is reserved and charged is for one model at a rate with a price; an operator may send otherwise, and price it.
 */
export const asPriced: Edit = (body, { caller: { tiers = [], dialect, mode } }) => {
  for (const name of otherModels) if (body[name] !== undefined) delete body[name];
  if (dialect.wire !== 'openai' && mode === 'chat') {
    delete body.service_tier;
    const [tier] = tiers.filter((one) => askableTiers.has(one));
    return tier === undefined ? body : { ...body, service_tier: tier };
  }
  if (body.service_tier !== undefined && !plainTiers.has(body.service_tier) && tiers.length === 0)
    delete body.service_tier;
  return body;
};

/** Of a request as it goes out. */
export function serviceSent({ tiers = [] }: CallerRequest, body: JsonObject, override: JsonObject | null): ServiceSent {
  if (override !== null && 'service_tier' in override) return 'overridden';
  return tiers.length > 0 && body.service_tier !== undefined ? 'asked' : undefined;
}

/** A limit under a name the upstream does not know would be none. */
const knownLimit =
  ({ newerLimit = false }: OpenAiVariant): Edit =>
  (body, target) =>
    newerLimit ? body : renamed('max_completion_tokens', 'max_tokens')(body, target);

/** The limit a caller can afford, by the name the model knows; other upstreams' names are among their edits. */
const outputLimit: Edit = (body, { caller: { outputLimit: limit }, model }) => {
  if (limit === null) return body;
  delete body.max_tokens;
  delete body.max_completion_tokens;
  return {
    ...budgetsBelow(body, limit),
    [factsOf(model).takesReasoningParameters ? 'max_completion_tokens' : 'max_tokens']: limit,
  };
};

/**
 * An operator's own parameters may change the limit, but neither raise it above what is reserved for the call nor take
 * it away.
 */
function overridden(asked: JsonObject, override: JsonObject, max: number): JsonObject {
  const body: JsonObject = { ...asked, ...override };
  for (const name of ['max_tokens', 'max_completion_tokens']) {
    if (name in override && !countIn(body[name])) body[name] = asked[name];
    if ((numberIn(body[name]) ?? 0) > max) body[name] = max;
  }
  return body;
}

const contentFor = ({ files, dialect, source }: CallerRequest, body: JsonObject): RequestContent =>
  files === null
    ? { kind: 'json', text: written(body, dialect.wire === 'openai' ? source : undefined) }
    : formContent(formParts(body, files));

/** What the caller did not say it takes. */
function usualAccept({ stream, answersAudio, files }: CallerRequest): string {
  if (stream) return 'text/event-stream';
  return answersAudio || files !== null ? '*/*' : 'application/json';
}

/** Below an address, which may have a query. */
const urlBelow = (url: string, below: string | undefined): string =>
  below === undefined ? url : url.replace(/\/?(\?|$)/, `/${below}$1`);

/** Where a body goes, and with which headers. */
export const postOf = (
  variant: OpenAiVariant,
  target: Target,
  content: RequestContent,
): Pick<UpstreamRequest, 'method' | 'url' | 'headers' | 'content' | 'model'> => ({
  method: 'POST',
  url: urlBelow((variant.url ?? standardUrl)(target), target.caller.below),
  headers: {
    'content-type': contentTypeOf(content) ?? '',
    accept: target.caller.headers.accept ?? usualAccept(target.caller),
    ...(variant.authorize ?? bearerKey)(target),
    ...variant.headers?.(target),
  },
  content,
  model: target.model,
});

/** Throws NotConvertible. */
export function openAiRequest(
  variant: OpenAiVariant,
  { provider, channel, caller, model, options }: RequestInput,
): UpstreamRequest {
  const asked: Target = { base: baseOf(provider, channel), model, channel, caller, options };
  const first = [
    ...(caller.mode === 'rerank' ? [documentsAsTexts] : []),
    ...(variant.inlinesPictures ? [withInlinedPictures] : []),
  ];
  const own = first.length > 0 ? [...first, ...(variant.edits ?? [])] : (variant.edits ?? []);
  const edits = [...(options.passThrough ? [] : own), ...(variant.reshape ? [variant.reshape] : [])];
  refuseConversations(variant, caller);
  const asCalled: JsonObject = caller.dialect.wire === 'openai' ? caller.body : caller.neutral().body;
  let body: JsonObject = { ...asCalled, model };
  if (caller.dialect.wire !== 'openai' && caller.mode === 'chat') body = inPlainWords(variant)(body, asked);
  if (caller.dialect.wire !== 'openai' && caller.mode === 'embeddings' && variant.embedsForPurpose !== true)
    refusePurpose(body);
  for (const edit of [asPriced, knownLimit(variant), outputLimit, usageOption(variant), ...edits])
    body = edit(body, asked);
  const target: Target = { ...asked, model: textIn(body.model) ?? model };
  const override = options.passThrough ? null : channel.paramOverride;
  if (override !== null)
    body = isImageMode(caller.mode) ? overriddenPictures(body, override) : overridden(body, override, caller.maxOutput);
  const content = contentFor(caller, body);
  return {
    ...postOf(variant, target, content),
    // Some take it in other words.
    reasoningEffort: reasoningEffortOf(textIn(body.reasoning_effort) ?? textIn(asCalled.reasoning_effort)),
    thinking: thinkingInOpenAi(body),
    service: serviceSent(caller, body, override),
  };
}
