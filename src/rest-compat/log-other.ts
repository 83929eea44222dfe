import { aliasIn } from '../application/usage/log-alias.js';
import { cacheWriteTokens } from '../domain/call/usage.js';
import { priceByPlainInput } from '../domain/pricing/context-tiers.js';
import type { Price, TokenPrice } from '../domain/pricing/pricing.js';
import type { TokenQuantity } from '../domain/pricing/quantities.js';
import { quantityRatio } from '../domain/pricing/rates.js';
import type { LogDetail } from '../projections/models/usage-log/log-detail.js';
import type { UsageLogEntry } from '../projections/models/usage-log/usage-log-queries.js';
import { audioRatiosOf, isAudioChat } from './audio-chat.js';

/* The `other` member of a log line: JSON text with everything the record has no column for. */

/** The contract's way of saying "billed by ratio" and "no first token was seen". */
const noPrice = -1;
const noFirstToken = -1000;
const noUserGroupRatio = -1;

type Members = Readonly<Record<string, unknown>>;

/** Of a call that was not served at the usual tier. */
const serviceMembers = (price: Price | null): Members =>
  price?.service === undefined
    ? {}
    : { service_tier: price.service.tier, service_tier_ratio: Number(price.service.factor) };

const priceMembers = (price: Price | null): Members => {
  if (price === null) return {};
  const picture = price.pieces?.picture;
  const usd = price.pieces?.dollars.images;
  if (picture !== undefined && usd !== undefined)
    return {
      ...{ model_ratio: 0, model_price: Number(usd), completion_ratio: 0, group_ratio: Number(price.group) },
      ...{ image_size: picture.size, image_quality: picture.quality },
    };
  return price.per === 'call'
    ? { model_ratio: 0, model_price: Number(price.price), completion_ratio: 0, group_ratio: Number(price.group) }
    : {
        model_ratio: Number(price.model),
        model_price: noPrice,
        completion_ratio: Number(quantityRatio(price, 'output')),
        group_ratio: Number(price.group),
      };
};

const perToken = (price: Price | null, name: TokenQuantity): number =>
  price?.per === 'token' ? Number(quantityRatio(price, name)) : 0;

/** Its clients send and read tokens the Claude way: what was cached is not part of the prompt. */
export const isClaudeCall = ({ path }: UsageLogEntry): boolean => path?.startsWith('/v1/messages') ?? false;

function audioMembers({ usage, prompt_tokens, completion_tokens }: UsageLogEntry, price: TokenPrice): Members {
  const { audioInput = 0, audioOutput = 0 } = usage;
  const { input, completion } = audioRatiosOf(price);
  return {
    audio: true,
    audio_input: audioInput,
    audio_output: audioOutput,
    text_input: prompt_tokens - audioInput,
    text_output: completion_tokens - audioOutput,
    audio_ratio: input,
    audio_completion_ratio: completion,
  };
}

function searchMembers({ price, usage }: UsageLogEntry): Members {
  const searches = usage['calls:web_search'] ?? usage['calls:google_search'] ?? 0;
  if (searches === 0) return {};
  const { dollars } = price?.pieces ?? {};
  const each = dollars?.['calls:web_search'] ?? dollars?.['calls:google_search'] ?? 0;
  return { web_search: true, web_search_call_count: searches, web_search_price: Number(each) * 1_000 };
}

/** Ratios by which it was charged, at the length of its prompt. */
const priceInForce = ({ price, usage }: UsageLogEntry): Price | null =>
  price?.per === 'token' ? priceByPlainInput(price, usage) : price;

const settledMembers = (line: UsageLogEntry): Members => {
  const { usage } = line;
  const price = priceInForce(line);
  const claude = isClaudeCall(line);
  const written = cacheWriteTokens(usage);
  const images = usage.imageInput ?? 0;
  return {
    ...priceMembers(price),
    ...serviceMembers(price),
    ...(price?.like === undefined ? {} : { priced_like: price.like }),
    user_group_ratio: noUserGroupRatio,
    group: line.group,
    cache_tokens: line.cached_tokens,
    cache_ratio: perToken(price, 'cachedInput'),
    ...(claude || written > 0
      ? { cache_creation_tokens: written, cache_creation_ratio: perToken(price, 'cacheWrite') }
      : {}),
    ...(line.reasoning_tokens > 0
      ? { reasoning_tokens: line.reasoning_tokens, reasoning_ratio: perToken(price, 'reasoning') }
      : {}),
    // Despite its name the count is of image tokens that came in.
    ...(images > 0 ? { image: true, image_ratio: perToken(price, 'imageInput'), image_output: images } : {}),
    ...((usage.images ?? 0) > 0 ? { image_count: usage.images } : {}),
    ...searchMembers(line),
    ...(price?.per === 'token' && isAudioChat(line) ? audioMembers(line, price) : {}),
    ...(claude ? { claude } : {}),
    frt: line.first_token_ms ?? noFirstToken,
    ...(line.reasoning_effort === null ? {} : { reasoning_effort: line.reasoning_effort }),
    ...(line.upstream_model === null ? {} : { is_model_mapped: true, upstream_model_name: line.upstream_model }),
    request_path: line.path,
  };
};

/** Drawings, music and videos: what they cost, and nothing of tokens. */
function taskMembers({ price, group, path }: UsageLogEntry): Members {
  if (price === null) return {};
  const model_price = price.per === 'call' ? Number(price.price) : noPrice;
  return { model_price, group_ratio: Number(price.group), group, request_path: path };
}

/** Of a call that was asked for by an alias of its key. */
function aliasMembers({ detail }: UsageLogEntry): Members {
  const alias = aliasIn(detail);
  return alias === null ? {} : { model_alias: alias };
}

function membersOf(line: UsageLogEntry): Members {
  const { detail } = line;
  switch (detail?.kind) {
    case 'granted':
    case 'adjusted':
    case 'api-key-revoked':
    case 'code-issued':
    case 'topped-up':
    case 'top-up-returned':
    case 'redeemed':
    case 'task-refunded':
    case 'corrected':
      return {};
    case 'task-submitted':
      return { ...taskMembers(line), ...aliasMembers(line) };
    case 'released':
      return {
        ...{ error_code: detail.code ?? detail.reason, status_code: detail.status ?? 0, request_path: line.path },
        ...aliasMembers(line),
      };
    case 'refused':
      return { error_code: detail.code, status_code: detail.status, request_path: line.path };
    case 'channel-tested':
      return {
        model_ratio: Number(detail.modelRatio),
        model_price: detail.modelPrice === null ? noPrice : Number(detail.modelPrice),
        completion_ratio: Number(detail.completionRatio),
        group_ratio: 1,
        frt: noFirstToken,
      };
    case 'aliased':
    case undefined:
      return { ...settledMembers(line), ...aliasMembers(line) };
  }
}

const aboutNoCall: ReadonlySet<string> = new Set<LogDetail['kind']>([
  'granted',
  'api-key-revoked',
  'adjusted',
  'topped-up',
  'top-up-returned',
  'task-refunded',
  'corrected',
  'redeemed',
]);
const isAboutCall = ({ detail }: UsageLogEntry): boolean => detail === null || !aboutNoCall.has(detail.kind);

/** The upstream reported no usage, or none that could be believed. */
const wasCountedHere = ({ usage_source }: UsageLogEntry): boolean =>
  usage_source === 'estimated' || usage_source === 'disbelieved';

/** For administrators: '' for lines that are not about a call. */
export const otherForAdmin = (line: UsageLogEntry): string =>
  isAboutCall(line)
    ? JSON.stringify({
        ...membersOf(line),
        admin_info: {
          use_channel: line.attempts.map(String),
          ...(wasCountedHere(line) ? { local_count_tokens: true } : {}),
        },
      })
    : '';

/** For users: nothing about channels; and `null` where there is nothing, as their clients know it. */
export const otherForUser = (line: UsageLogEntry): string =>
  isAboutCall(line) ? JSON.stringify(membersOf(line)) : 'null';
