import type { ChannelView } from '../../application/ports/storage-ports.js';
import { unboundedTokens } from '../../domain/call/usage-bound.js';
import { ownFunction } from '../../domain/pricing/provider-tools.js';
import { askedTools } from '../catalogue/asked-tools.js';
import { asksToKeepForHours } from '../catalogue/cache-lifetimes.js';
import type { Demand, Endpoint } from '../contracts/endpoint.js';
import { hostedSearchesIn, withSearchBy } from '../contracts/hosted-search.js';
import { asksForAudio } from '../contracts/neutral.js';
import type { Provider } from '../contracts/protocol.js';
import { jsonText } from '../json/exact-number.js';
import { countIn, isList, isObject, type JsonObject, memberNamesIn, objectsIn, textIn } from '../json/json.js';
import { compacts } from '../metering/compaction.js';
import { readByTool } from '../metering/media-tokens.js';
import { mappedModel, type ParsedChannel } from './channels/channel-settings.js';
import { servedAsAsked } from './channels/served-mode.js';

/*
 * Tools that a provider runs by itself, as far as they go upstream with a call: switched on by the name of a function,
 * or sent along by an operator.
 */

interface OwnToolsPorts {
  readonly providerOf: (channelType: number) => Provider | null;
  readonly parsedChannel: (channel: ChannelView) => ParsedChannel;
}

const none: ReadonlySet<string> = new Set();

/** Names of functions by which this endpoint's callers switch on a provider's own tools at any of these channels. */
export function switchedTools(
  { providerOf, parsedChannel }: OwnToolsPorts,
  { dialect, mode }: Endpoint,
  model: string,
  channels: readonly ChannelView[],
): ReadonlySet<string> {
  if (dialect.wire !== 'openai' || mode !== 'chat') return none;
  for (const channel of channels) {
    const { protocol } = providerOf(channel.settings.type) ?? {};
    if (protocol?.switchedTools === undefined) continue;
    const upstreamModel = mappedModel(parsedChannel(channel).modelMapping, model) ?? model;
    const switched = protocol.switchedTools(upstreamModel);
    if (switched.size > 0) return switched;
  }
  return none;
}

/**
 * The body as channels are asked for tools of a provider's own, each form once: as it came where a channel serves its
 * mode, with the search of the provider's wire where that is another.
 */
export function bodiesAsked(
  ports: OwnToolsPorts,
  endpoint: Endpoint,
  { body, model }: { readonly body: JsonObject; readonly model: string },
  channels: readonly ChannelView[],
): JsonObject[] {
  const bodies = new Map<JsonObject, JsonObject>();
  const searches = endpoint.dialect.wire === 'openai' && hostedSearchesIn(body).length > 0;
  for (const channel of channels) {
    const { protocol } = ports.providerOf(channel.settings.type) ?? {};
    const upstreamModel = mappedModel(ports.parsedChannel(channel).modelMapping, model) ?? model;
    const search = (searches && protocol?.hostedSearch?.(upstreamModel)) || null;
    if (search !== null) bodies.set(search, bodies.get(search) ?? withSearchBy(body, search));
    else if (servedAsAsked([channel], ports, endpoint)) bodies.set(body, body);
  }
  return [...bodies.values()];
}

/** What channels put into the requests they send. */
export function overridesOf(
  channels: readonly ChannelView[],
  { parsedChannel }: Pick<OwnToolsPorts, 'parsedChannel'>,
): JsonObject[] {
  const overrides: JsonObject[] = [];
  for (const channel of channels) {
    const { paramOverride } = parsedChannel(channel);
    if (paramOverride !== null) overrides.push(paramOverride);
  }
  return overrides;
}

/** A function of the client's, in the words of any wire. */
const isClients = (tool: JsonObject): boolean =>
  (isObject(tool.function) && tool.type !== ownFunction) ||
  tool.type === 'custom' ||
  // Anthropic's own tools have names as well, and kinds of their own.
  (textIn(tool.name) !== null && (tool.type ?? 'function') === 'function') ||
  memberNamesIn(tool).every((name) => /^function_?declarations$/i.test(name));

const ownIn = ({ tools }: JsonObject): number => objectsIn(tools).filter((tool) => !isClients(tool)).length;

const noneSwitched: ReadonlySet<string> = new Set();

/** Members that switch a search on, beside the tools. */
const switchesIn = (body: JsonObject): number =>
  askedTools(body, noneSwitched).filter(({ isSwitch }) => isSwitch).length;

/** The most choices that any of these asks for; 0: none says. */
const choicesIn = ({ n, generationConfig, generation_config: other }: JsonObject): number => {
  const config = isObject(generationConfig) ? generationConfig : isObject(other) ? other : {};
  return Math.max(countIn(n) ?? 0, countIn(config.candidateCount ?? config.candidate_count) ?? 0);
};

/** An answer in sound, asked for in the words of any wire. */
export const enablesAudio = (override: JsonObject): boolean => {
  const { generationConfig, generation_config: other } = override;
  const config = isObject(generationConfig) ? generationConfig : isObject(other) ? other : {};
  const modalities = config.responseModalities ?? config.response_modalities;
  return asksForAudio(override) || (isList(modalities) && modalities.some((one) => /^audio$/i.test(String(one))));
};

/** Of each override, for it stays the same from call to call. */
const sizes = new WeakMap<JsonObject, number>();

function sizeOf(override: JsonObject): number {
  let size = sizes.get(override);
  if (size === undefined) {
    size = Buffer.byteLength(jsonText(override));
    sizes.set(override, size);
  }
  return size;
}

/** The same demand where one of these channels answers with a prompt of its own, which may be read more than once. */
export function withOwnPrompts(
  demand: Demand,
  { providerOf, parsedChannel }: OwnToolsPorts,
  model: string,
  channels: readonly ChannelView[],
): Demand {
  const brings = channels.some((channel) => {
    const { bringsPrompt } = providerOf(channel.settings.type) ?? {};
    return bringsPrompt?.(mappedModel(parsedChannel(channel).modelMapping, model) ?? model) === true;
  });
  if (!brings || demand.answers === 0) return demand;
  const { prompt } = demand;
  const { conservative, max } = prompt;
  return {
    ...demand,
    readApart: true,
    prompt: {
      ...prompt,
      conservative: { ...conservative, input: conservative.input + readByTool.conservative },
      max: { ...max, input: max.input + readByTool.max },
      uncounted: true,
      brings: true,
    },
  };
}

/** The same demand where operators' parameters add to it: prompt, tools that read, choices, what is kept for hours. */
export function withOverrides<Asked extends Pick<Demand, 'prompt' | 'answers' | 'compacts' | 'pictureTokens'>>(
  demand: Asked,
  overrides: readonly JsonObject[],
): Asked {
  if (overrides.length === 0 || demand.answers === 0) return demand;
  let [bytes, tools, answers] = [0, 0, demand.answers];
  let summed = demand.compacts === true;
  let keeps = false;
  for (const override of overrides) {
    bytes = Math.max(bytes, sizeOf(override));
    tools = Math.max(tools, ownIn(override) + switchesIn(override));
    // How many pictures are made stays as it was ordered.
    if (demand.pictureTokens === undefined) answers = Math.max(answers, choicesIn(override));
    summed ||= compacts(override);
    keeps ||= asksToKeepForHours(override, 'openai');
  }
  const { prompt } = demand;
  const conservative = prompt.conservative.input + tools * readByTool.conservative;
  const max = prompt.max.input + bytes + tools * readByTool.max;
  return {
    ...demand,
    answers,
    compacts: summed,
    prompt: {
      ...prompt,
      conservative: { ...prompt.conservative, input: conservative },
      max: { ...prompt.max, input: max, ...(keeps && { cacheWriteHour: unboundedTokens }) },
      uncounted: prompt.uncounted || tools > 0,
      brings: prompt.brings || tools > 0,
    },
  };
}
