import { isKeptId, type KeptKind, type KeptObject } from '../../../domain/call/kept-object.js';
import { cacheWriteTokens, completionTokens, noUsage, type Usage, used } from '../../../domain/call/usage.js';
import { joinedTiers, usualTier } from '../../../domain/pricing/service-tiers.js';
import { asksToKeepForHours, keptForHours } from '../../catalogue/cache-lifetimes.js';
import type { CallerRequest, UpstreamChannel } from '../../contracts/protocol.js';
import { reportedTier } from '../../contracts/service-tier.js';
import {
  countIn,
  isCount,
  isCountOrAbsent,
  isObject,
  type JsonObject,
  type JsonValue,
  objectsIn,
} from '../../json/json.js';

/*
 * Usage as Anthropic reports it. Its counts of input are disjoint already: `input_tokens` leaves out what was read from
 * a cache or written to one. Thinking is a part of the output.
 */

/** The expensive ones among Anthropic's own tools are sold by the call. */
const searches = 'calls:web_search';

/** A call of Anthropic's own search, whole or at its beginning. */
export const isSearch = ({ type, name }: JsonObject): boolean => type === 'server_tool_use' && name === 'web_search';

const codeTools: ReadonlySet<unknown> = new Set([
  'code_execution',
  'bash_code_execution',
  'text_editor_code_execution',
]);

/** It has its conversation kept, or goes on with one that is. */
export const keepsThread = ({ dialect, body }: Pick<CallerRequest, 'dialect' | 'body'>): boolean =>
  dialect.wire === 'anthropic' && isObject(body.thread);

/** What code was run in can be named by the next request, and so can the answer itself where its thread is kept. */
export const keptIn = ({ type, id, container }: JsonObject, inThread: boolean): readonly KeptObject[] => [
  ...keptAs('container', isObject(container) ? container.id : null),
  ...keptAs('message', type === 'message' && inThread ? id : null),
];

const keptAs = (kind: KeptKind, id: JsonValue | undefined): readonly KeptObject[] =>
  typeof id === 'string' && isKeptId(id) ? [{ kind, id }] : [];

/** undefined: its cache is not to be compared with that of a later request. */
export const comparedIdIn = ({ body }: Pick<CallerRequest, 'body'>, { id }: JsonObject): string | undefined =>
  isObject(body.diagnostics) && typeof id === 'string' ? id : undefined;

/** Anthropic runs code in a container of its own. */
export const runsCode = ({ type, name }: JsonObject): boolean => type === 'server_tool_use' && codeTools.has(name);

/** So many searches; and whether code was run, in one container. */
export const toolsSeen = (count: number, code: boolean): Usage =>
  count === 0 && !code ? noUsage : used({ [searches]: count, 'calls:code_execution': code ? 1 : 0 });

/** null: it is not reported. */
const reportedWithin = (reported: JsonObject, holder: string, name: string): number | null => {
  const details = reported[holder];
  return isObject(details) ? countIn(details[name]) : null;
};

const within = (reported: JsonObject, holder: string, name: string): number =>
  reportedWithin(reported, holder, name) ?? 0;

interface Counts {
  input: number;
  read: number;
  written: number;
  writtenForAnHour: number;
  output: number;
  thinking: number;
}

const countsIn = (reported: JsonObject): Counts => ({
  input: countIn(reported.input_tokens) ?? 0,
  read: countIn(reported.cache_read_input_tokens) ?? 0,
  written: countIn(reported.cache_creation_input_tokens) ?? 0,
  writtenForAnHour: within(reported, 'cache_creation', 'ephemeral_1h_input_tokens'),
  output: countIn(reported.output_tokens) ?? 0,
  thinking: within(reported, 'output_tokens_details', 'thinking_tokens'),
});

/** Whether lifetimes that an answer does not report are hours: looked for when somebody asks. */
export const hoursAskedBy =
  ({ body }: Pick<CallerRequest, 'body'>, { paramOverride }: Pick<UpstreamChannel, 'paramOverride'>) =>
  (): boolean =>
    asksToKeepForHours(body, 'anthropic') || (paramOverride !== null && asksToKeepForHours(paramOverride, 'anthropic'));

const askedForNothing = (): boolean => false;

/** The same, where lifetimes that are not reported go by what was asked for. */
function countsByRequest(reported: JsonObject, asksForHours: () => boolean): Counts {
  const counts = countsIn(reported);
  const minutes = reportedWithin(reported, 'cache_creation', 'ephemeral_5m_input_tokens');
  const hours = reportedWithin(reported, 'cache_creation', 'ephemeral_1h_input_tokens');
  counts.writtenForAnHour = keptForHours(counts.written, { minutes, hours }, asksForHours);
  return counts;
}

/** Rounds of one call of which the totals leave out some: what compacted the conversation first. */
function roundsIn({ iterations }: JsonObject, asksForHours = askedForNothing): Counts | null {
  const rounds = objectsIn(iterations);
  if (!rounds.some(({ type }) => type === 'compaction') || rounds.some(({ type }) => type === 'fallback_message'))
    return null;
  const sum: Counts = { input: 0, read: 0, written: 0, writtenForAnHour: 0, output: 0, thinking: 0 };
  for (const round of rounds) {
    if (round.type !== 'compaction' && round.type !== 'message') continue;
    const counts = countsByRequest(round, asksForHours);
    for (const name of Object.keys(sum) as (keyof Counts)[]) sum[name] += counts[name];
  }
  return sum;
}

/**
 * The tiers of service that a usage reports: its speed and where it was served. What it does not report is as it was
 * asked. Capacity that the account has bought ahead (`service_tier: "priority"`) changes no price. undefined: it
 * reports none.
 */
export function reportedAnthropicTier(reported: JsonObject, asked: readonly string[]): string | undefined {
  const [speed, geo] = [reportedTier(reported.speed), reportedTier(reported.inference_geo)];
  if (speed === undefined && geo === undefined) return undefined;
  const byCaller = (isGeo: boolean): readonly string[] => asked.filter((tier) => isGeo !== (tier === 'fast'));
  const tiers = [
    ...(speed === undefined ? byCaller(false) : [speed]),
    ...(geo === undefined ? byCaller(true) : [geo]),
  ].filter((tier) => !usualTiers.has(tier));
  return tiers.length === 0 ? usualTier : joinedTiers(tiers);
}

const usualTiers = new Set(['standard', 'global', 'not_available']);

/**
 * `code`: some was run for the answer, which shows in its blocks alone. `asksForHours`: what is written to a cache was
 * to be kept for an hour. null: nothing usable, which is not the same as nothing used.
 */
export function readAnthropicUsage(reported: JsonObject, code = false, asksForHours = askedForNothing): Usage | null {
  const top = countsByRequest(reported, asksForHours);
  const counts = roundsIn(reported, asksForHours) ?? top;
  const { written } = counts;
  const hour = Math.min(counts.writtenForAnHour, written);
  const thinking = Math.min(counts.thinking || top.thinking, counts.output);
  if (counts.input + counts.read + written + counts.output === 0) return null;
  return used({
    input: counts.input,
    output: counts.output - thinking,
    cachedInput: counts.read,
    cacheWrite: written - hour,
    cacheWriteHour: hour,
    reasoning: thinking,
    [searches]: within(reported, 'server_tool_use', 'web_search_requests'),
    'calls:code_execution': code ? 1 : 0,
  });
}

/** Figures that only grow while an answer comes. */
const growing: ReadonlySet<string> = new Set([
  ...['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens', 'output_tokens'],
]);

const saysNothing = (name: string, value: JsonValue | undefined): boolean =>
  (value ?? null) === null || (growing.has(name) && (countIn(value) ?? 0) === 0);

/** The newer figures of a stream replace the older, where they say something. */
export function newerUsage(before: JsonObject | null, reported: JsonObject): JsonObject {
  const known: JsonObject = { ...before };
  for (const [name, value] of Object.entries(reported))
    if (!(name in known) || !saysNothing(name, value)) known[name] = value;
  return known;
}

/** Whether a client that knew these words by the end gets `usage` by the last of them. */
export const endsWith = (last: JsonObject, usage: Usage): boolean => {
  const written = writeAnthropicUsage(usage);
  // Where its totals leave rounds out, the rounds are what is charged, and clients add them up as well.
  const said = roundsIn(last) === null ? last : writeAnthropicUsage(readAnthropicUsage(last) ?? noUsage);
  return [...growing].every((name) => (said[name] ?? null) === null || said[name] === written[name]);
};

/** Usage in Anthropic's words. */
export function writeAnthropicUsage(usage: Usage): JsonObject {
  const written = cacheWriteTokens(usage);
  const hour = usage.cacheWriteHour ?? 0;
  return {
    input_tokens: (usage.input ?? 0) + (usage.imageInput ?? 0) + (usage.audioInput ?? 0),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: usage.cachedInput ?? 0,
    ...(written > 0 && {
      cache_creation: { ephemeral_5m_input_tokens: written - hour, ephemeral_1h_input_tokens: hour },
    }),
    output_tokens: completionTokens(usage),
    ...((usage.reasoning ?? 0) > 0 && { output_tokens_details: { thinking_tokens: usage.reasoning } }),
    ...((usage[searches] ?? 0) > 0 && { server_tool_use: { web_search_requests: usage[searches] } }),
  };
}

/** Nothing is reported there, or counts that are ones. Some members may be null in this wire, some may not. */
const hasCounts = (holder: JsonValue | undefined, ...names: readonly string[]): boolean =>
  !isObject(holder) || names.every((name) => isCountOrAbsent(holder[name] ?? undefined));

/** Whether these words say what is read from them: counts, and no part larger than its whole. */
export function isConsistentAnthropicUsage(reported: JsonObject): boolean {
  const { input_tokens: input, output_tokens: output, cache_creation_input_tokens: written } = reported;
  const { cache_creation: kept, output_tokens_details: details } = reported;
  const counts = countsIn(reported);
  return (
    isCountOrAbsent(input) &&
    isCountOrAbsent(output) &&
    hasCounts(reported, 'cache_creation_input_tokens', 'cache_read_input_tokens') &&
    hasCounts(kept, 'ephemeral_5m_input_tokens', 'ephemeral_1h_input_tokens') &&
    hasCounts(details, 'thinking_tokens') &&
    hasCounts(reported.server_tool_use, 'web_search_requests') &&
    (!isCount(written) || counts.writtenForAnHour <= written) &&
    (!isCount(output) || counts.thinking <= output) &&
    objectsIn(reported.iterations).every(isConsistentAnthropicUsage)
  );
}

/**
 * Upstream's own words, made to say what is charged; what they say of other tools stays. Nobody here knows how the
 * charge is spread over its rounds.
 */
export function correctedAnthropicUsage(reported: JsonObject, usage: Usage): JsonObject {
  const { server_tool_use: tools, iterations: _, cache_creation: __, output_tokens_details: ___, ...words } = reported;
  return {
    ...words,
    ...writeAnthropicUsage(usage),
    ...(isObject(tools) && { server_tool_use: { ...tools, web_search_requests: usage[searches] ?? 0 } }),
  };
}
