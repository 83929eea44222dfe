import {
  cacheWriteTokens,
  completionTokens,
  noUsage,
  promptTokens,
  type Usage,
  used,
} from '../../../domain/call/usage.js';
import { keptForHours } from '../../catalogue/cache-lifetimes.js';
import { countIn, isCount, isObject, type JsonObject, type JsonValue } from '../../json/json.js';
import { withoutCost } from './reported-cost.js';

/* Usage as the OpenAI family reports it, and as OpenAI would report it. */

const firstCount = (...values: unknown[]): number | null => {
  for (const value of values) {
    const count = countIn(value);
    if (count !== null) return count;
  }
  return null;
};

const detailsIn = (usage: JsonObject, name: string): JsonObject => {
  const details = usage[name];
  return isObject(details) ? details : {};
};

/** Anthropic's name, DashScope's, xAI's and Perplexity's. null: none is reported. */
const reportedSearches = (reported: JsonObject): number | null =>
  firstCount(
    detailsIn(reported, 'server_tool_use').web_search_requests,
    detailsIn(detailsIn(reported, 'plugins'), 'search').count,
    reported.num_sources_used,
    reported.num_search_queries,
  );

/** What goes by the request where upstream reports nothing of it. */
export interface Unreported {
  /** Of tools. */
  readonly calls: Usage;
  /** What was written to a cache is kept for hours. */
  readonly keepsForHours: () => boolean;
}

const nothingUnreported: Unreported = { calls: noUsage, keepsForHours: () => false };

/** OpenAI's name for what is written to a cache, and the one that gateways had before OpenAI reported it. */
const writtenNames = ['cache_write_tokens', 'cache_creation_tokens'] as const;

/**
 * null: nothing usable, which is not the same as nothing used. `reasoningIsSeparate`: this upstream counts reasoning beside
 * the completion and in the total only. `unreported`: what is charged where upstream does not report it.
 */
export function readOpenAiUsage(
  reported: JsonObject,
  reasoningIsSeparate: boolean,
  unreported: Unreported = nothingUnreported,
): Usage | null {
  const input = detailsIn(reported, 'prompt_tokens_details');
  const total = countIn(reported.total_tokens);
  const saidPrompt = countIn(reported.prompt_tokens);
  const saidCompletion = countIn(reported.completion_tokens);
  // Embedding and rerank services give the total only. One of the two parts may be reported alone.
  const prompt = saidPrompt ?? (total === null ? 0 : Math.max(total - (saidCompletion ?? 0), 0));
  const spoken = saidCompletion ?? (total === null ? 0 : Math.max(total - prompt, 0));
  if (prompt + spoken === 0) return null;

  const saidReasoning = countIn(detailsIn(reported, 'completion_tokens_details').reasoning_tokens) ?? 0;
  // The sum gives it away also where an upstream of that kind stands behind another one.
  const beside = reasoningIsSeparate || (saidReasoning > 0 && total === prompt + spoken + saidReasoning);
  const completion = beside ? Math.max(total === null ? spoken + saidReasoning : total - prompt, spoken) : spoken;
  const saidCached = firstCount(
    input.cached_tokens,
    reported.prompt_cache_hit_tokens,
    reported.cached_tokens,
    reported.num_cached_tokens,
  );
  const output = detailsIn(reported, 'completion_tokens_details');
  // What costs more goes first where parts overlap: sound that came from a cache is reported as both.
  const audioInput = Math.min(countIn(input.audio_tokens) ?? 0, prompt);
  const cached = Math.min(saidCached ?? 0, prompt - audioInput);
  const saidWritten = firstCount(...writtenNames.map((name) => input[name])) ?? 0;
  const written = Math.min(saidWritten, prompt - audioInput - cached);
  const lifetimes = detailsIn(input, 'cache_write_tokens_details');
  const lastingWritten = keptForHours(
    written,
    { minutes: countIn(lifetimes.ttl_30m_tokens), hours: countIn(lifetimes.ttl_12h_tokens) },
    unreported.keepsForHours,
  );
  const image = Math.min(countIn(input.image_tokens) ?? 0, prompt - audioInput - cached - written);
  const audioOutput = Math.min(countIn(output.audio_tokens) ?? 0, completion);
  const imageOutput = Math.min(countIn(output.image_tokens) ?? 0, completion - audioOutput);
  const reasoning = Math.min(saidReasoning, completion - audioOutput - imageOutput);
  return used({
    input: prompt - cached - written - image - audioInput,
    output: completion - reasoning - imageOutput - audioOutput,
    cachedInput: cached,
    cacheWrite: written - lastingWritten,
    cacheWriteHour: lastingWritten,
    imageInput: image,
    audioInput,
    reasoning,
    imageOutput,
    audioOutput,
    ...unreported.calls,
    'calls:web_search': reportedSearches(reported) ?? unreported.calls['calls:web_search'],
  });
}

/** The parts that a caller is informed of, by OpenAI's names; `earlier`: by what name some upstreams report it. */
type Parts = readonly (readonly [name: string, count: (usage: Usage) => number, earlier?: string])[];

const inputParts: Parts = [
  ['cached_tokens', ({ cachedInput = 0 }) => cachedInput],
  [writtenNames[0], cacheWriteTokens, writtenNames[1]],
  ['image_tokens', ({ imageInput = 0 }) => imageInput],
  ['audio_tokens', ({ audioInput = 0 }) => audioInput],
];
const outputParts: Parts = [
  ['reasoning_tokens', ({ reasoning = 0 }) => reasoning],
  ['image_tokens', ({ imageOutput = 0 }) => imageOutput],
  ['audio_tokens', ({ audioOutput = 0 }) => audioOutput],
];

/** Names that some vendors have for what came from a cache, beside the prompt itself. */
const cacheNames: Parts = [
  ['prompt_cache_hit_tokens', ({ cachedInput = 0 }) => cachedInput],
  ['prompt_cache_miss_tokens', (usage) => promptTokens(usage) - (usage.cachedInput ?? 0)],
  ['cached_tokens', ({ cachedInput = 0 }) => cachedInput],
  ['num_cached_tokens', ({ cachedInput = 0 }) => cachedInput],
];

/** As far as upstream names them: one of them may be reported where another is. */
function reportsCached(reported: JsonObject, usage: Usage): boolean {
  for (const [name, count] of cacheNames)
    if ((reported[name] ?? null) !== null && reported[name] !== count(usage)) return false;
  return true;
}

function mendedCached(reported: JsonObject, usage: Usage): JsonObject {
  const mended: JsonObject = {};
  for (const [name, count] of cacheNames) if (name in reported) mended[name] = count(usage);
  return mended;
}

/** By its name it is a count, and it is none: clients add such members up. */
const isOddCount = (name: string, value: JsonValue | undefined): boolean =>
  name.endsWith('_tokens') && value !== null && value !== undefined && !isCount(value);

function hasCounts(reported: JsonObject): boolean {
  for (const name in reported) if (isOddCount(name, reported[name])) return false;
  return true;
}

const countsAlone = (reported: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(reported).filter(([name, value]) => !isOddCount(name, value)));

function reportsParts(details: JsonObject, parts: Parts, usage: Usage): boolean {
  if (!hasCounts(details)) return false;
  for (const [name, count, earlier = name] of parts) {
    const counted = count(usage);
    if ((details[name] ?? details[earlier] ?? 0) !== counted || (details[earlier] ?? counted) !== counted) return false;
  }
  return true;
}

/** Details that say what is charged, where there is something to report; null: there is not. */
function mendedParts(reported: JsonValue | undefined, parts: Parts, usage: Usage): JsonObject | null {
  const details: JsonObject = isObject(reported) ? countsAlone(reported) : {};
  let isReported = isObject(reported);
  for (const [name, counted, earlier = name] of parts) {
    const count = counted(usage);
    if (count > 0) isReported = true;
    if (earlier in details) details[earlier] = count;
    if (name in details || (count > 0 && !(earlier in details))) details[name] = count;
  }
  return isReported ? details : null;
}

/**
 * The upstream's own usage object, made to say what is charged where it counts otherwise; everything else in it stays,
 * but for counts that are none and what it cost upstream. The same object when there is nothing to mend.
 */
export function correctedOpenAiUsage(given: JsonObject, usage: Usage): JsonObject {
  const reported = withoutCost(given);
  const prompt = promptTokens(usage);
  const completion = completionTokens(usage);
  const total = prompt + completion;
  const isReported =
    (reported.prompt_tokens === undefined || reported.prompt_tokens === prompt) &&
    (reported.completion_tokens === undefined ? completion === 0 : reported.completion_tokens === completion) &&
    (reported.total_tokens === undefined || reported.total_tokens === total) &&
    hasCounts(reported) &&
    reportsCached(reported, usage) &&
    reportsParts(detailsIn(reported, 'prompt_tokens_details'), inputParts, usage) &&
    reportsParts(detailsIn(reported, 'completion_tokens_details'), outputParts, usage);
  if (isReported) return reported;
  const input = mendedParts(reported.prompt_tokens_details, inputParts, usage);
  const output = mendedParts(reported.completion_tokens_details, outputParts, usage);
  return {
    ...countsAlone(reported),
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: total,
    ...mendedCached(reported, usage),
    ...(input !== null && { prompt_tokens_details: input }),
    ...(output !== null && { completion_tokens_details: output }),
  };
}

/** Usage in OpenAI's words; details only where there is something to report. */
export function writeOpenAiUsage(usage: Usage): JsonObject {
  const prompt = promptTokens(usage);
  const completion = completionTokens(usage);
  const input = mendedParts(undefined, inputParts, usage);
  const output = mendedParts(undefined, outputParts, usage);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...(input !== null && { prompt_tokens_details: input }),
    ...(output !== null && { completion_tokens_details: output }),
    ...((usage.searchUnits ?? 0) > 0 && { search_units: usage.searchUnits }),
  };
}
