import type { Settings } from '../../application/options/settings.js';
import type { ChannelView, Directory } from '../../application/ports/storage-ports.js';
import { isModelName } from '../../domain/call/call-texts.js';
import { noUsage } from '../../domain/call/usage.js';
import { unboundedTokens } from '../../domain/call/usage-bound.js';
import { ChannelId } from '../../domain/kernel/ids.js';
import { maxModelNameBytes } from '../../domain/kernel/names.js';
import { billedName, priceOf } from '../../domain/pricing/price-tables.js';
import type { Price } from '../../domain/pricing/pricing.js';
import { withTools } from '../../domain/pricing/tool-prices.js';
import type { Caller } from '../admission/authenticate.js';
import { searchWords } from '../admission/sensitive-words.js';
import { reasoningOverhead } from '../catalogue/reasoning-overhead.js';
import { minThinkingTokens } from '../catalogue/thinking-budget.js';
import type { Endpoint } from '../contracts/endpoint.js';
import { noChannel, RelayError, shortened, unknownModel } from '../contracts/errors.js';
import type { Provider } from '../contracts/protocol.js';
import type { Upload } from '../contracts/upload.js';
import { type JsonObject, textIn } from '../json/json.js';
import { type Estimate, estimateHold } from '../metering/hold.js';
import { searchesOf } from '../metering/searches.js';
import { atOnce } from '../text/large-work.js';
import { mappedModel, type ParsedChannel } from './channel-settings.js';
import { keptUpstream } from './kept-upstream.js';
import { overridesOf, speaksBy, switchedTools, withOverrides } from './own-tools.js';

/*
 * From a caller and a body to an order: what is asked, who may serve it, what to hold for it. Nothing is spent yet. The
 * order outlives the body, which may be large.
 */

export interface ResolvedCall {
  readonly endpoint: Endpoint;
  /** As asked for: selects channels. */
  readonly requestedModel: string;
  /** As billed and logged: custom assistants folded to their family. */
  readonly model: string;
  readonly group: string;
  readonly stream: boolean;
  readonly wantsUsage: boolean;
  /** Channels able to serve it; one, when the caller pinned it. */
  readonly channels: readonly ChannelView[];
  readonly pinned: boolean;
  readonly estimate: Estimate;
}

export interface ResolveCallPorts {
  readonly directory: Directory;
  readonly providerOf: (channelType: number) => Provider | null;
  readonly parsedChannel: (channel: ChannelView) => ParsedChannel;
}

/** The group the call is priced and routed by. `named`: by a user who calls in person; a key has its own. */
export function usedGroup({ apiKey, user }: Caller, settings: Settings, named = ''): string {
  const wanted = apiKey === null ? named : apiKey.terms.group;
  if (wanted === '') return user.group;
  if (wanted !== user.group && !settings.usableGroups.has(wanted)) {
    const whose = apiKey === null ? 'the group' : "the token's group";
    throw new RelayError(403, 'group_not_allowed', `${whose} ${shortened(wanted)} is not permitted`);
  }
  if (!settings.prices.groupRatio.has(wanted))
    throw new RelayError(403, 'group_retired', `the group ${wanted} has been retired`);
  return wanted;
}

function pinnedChannel(directory: Directory, text: string): ChannelView {
  const channel = /^\d{1,15}$/.test(text) && Number(text) > 0 ? directory.channel(ChannelId(Number(text))) : null;
  if (channel === null) throw new RelayError(400, 'invalid_channel_id', 'invalid channel id');
  if (channel.status !== 'enabled') throw new RelayError(403, 'channel_disabled', 'the channel is disabled');
  return channel;
}

/** In a body from the playground: for the gateway, and for nobody upstream. */
function groupIn({ group }: JsonObject): string {
  if (group === undefined || group === null) return '';
  if (typeof group === 'string') return group;
  throw new RelayError(400, 'invalid_request', 'invalid request: group is to be a text', { param: 'group' });
}

/** The same where it is one of those there are; else '': names that callers invent are not kept. */
export const knownGroupIn = ({ apiKey }: Caller, { group }: JsonObject, { prices }: Settings): string =>
  apiKey === null && typeof group === 'string' && prices.groupRatio.has(group) ? group : '';

/** What of a body is for whoever serves the call. */
export function servedBody(caller: Caller, body: JsonObject): JsonObject {
  if (caller.apiKey !== null) return body;
  const { group: _, ...served } = body;
  return served;
}

const checkModelLimit = ({ apiKey }: Caller, model: string): void => {
  if (apiKey === null) return;
  const { terms } = apiKey;
  if (!terms.modelLimitsEnabled || terms.modelLimits.includes(model) || terms.modelLimits.includes(billedName(model)))
    return;
  throw new RelayError(403, 'model_not_allowed', `the token may not use the model ${model}`);
};

function* checkWords(endpoint: Endpoint, body: JsonObject, words: readonly string[]): Generator<void, void> {
  if (words.length === 0) return;
  if (yield* searchWords(endpoint.promptTexts(body), words))
    throw new RelayError(400, 'sensitive_words_detected', 'sensitive words detected');
}

function priceFor(model: string, group: string, caller: Caller, settings: Settings): Price {
  const price = priceOf(settings.prices, model, group, settings.selfUseMode || caller.user.acceptUnpricedModels);
  if (price !== null) return price;
  throw new RelayError(
    400,
    'model_price_error',
    `ratio or price of model ${model} is not set, please contact the administrator`,
  );
}

/** Whether the answer may be sound, because its caller or an operator asks for it. */
function maySpeak(
  { endpoint, body }: ToOrder,
  price: Price,
  channels: readonly ChannelView[],
  ports: ResolveCallPorts,
): boolean {
  if (endpoint.asksForSound(body)) return true;
  // Where sound is no dearer it does not matter who asks.
  if (price.per === 'call' || price.ratios.audioOutput === undefined) return false;
  return overridesOf(channels, ports).some(speaksBy);
}

/** A model's names as asked for and as the channels would send it. */
function namesOf(model: string, channels: readonly ChannelView[], { parsedChannel }: ResolveCallPorts): Set<string> {
  const names = new Set([model]);
  for (const channel of channels) names.add(mappedModel(parsedChannel(channel).modelMapping, model) ?? model);
  return names;
}

/** What is asked for. */
interface ToOrder {
  readonly endpoint: Endpoint;
  readonly body: JsonObject;
  /** Of the body as it came. */
  readonly bytes: number;
  readonly upload: Upload | null;
}

/**
 * Yields where others may have the process. Throws RelayError, in the order callers know: group, channel, model limit,
 * validation, words, price.
 */
export function* orderSteps(ports: ResolveCallPorts, caller: Caller, asked: ToOrder): Generator<void, ResolvedCall> {
  const { directory, providerOf } = ports;
  const { endpoint, body, bytes, upload } = asked;
  const settings = directory.settings();
  const inPerson = caller.apiKey === null;
  const requestedModel = textIn(body.model) ?? endpoint.usualModel;
  if (requestedModel === null)
    throw new RelayError(
      400,
      inPerson ? 'model_required' : 'invalid_request',
      'invalid request: field model is required',
      { param: 'model' },
    );

  if (!isModelName(requestedModel))
    throw new RelayError(
      400,
      'invalid_request',
      `invalid request: model is to be at most ${maxModelNameBytes} bytes without control characters`,
      { param: 'model' },
    );

  const group = usedGroup(caller, settings, inPerson ? groupIn(body) : '');
  const { pinnedChannel: pin } = caller;
  const pinned = pin === null ? null : pinnedChannel(directory, pin);
  checkModelLimit(caller, requestedModel);
  let serving = pinned === null ? directory.candidates(group, requestedModel) : [pinned];
  const model = billedName(requestedModel);
  if (serving.length === 0 && model !== requestedModel) serving = directory.candidates(group, model);
  if (serving.length === 0)
    throw directory.hasModel(requestedModel) || directory.hasModel(model)
      ? noChannel(requestedModel, group, inPerson ? 'get_playground_channel_failed' : undefined)
      : unknownModel(requestedModel);

  const misspelled = endpoint.dialect.misspelled(body);
  if (misspelled !== null)
    throw new RelayError(400, 'invalid_request', misspelled.message, {
      type: 'invalid_request_error',
      param: misspelled.param,
    });
  const invalid = endpoint.invalid(body, upload);
  if (invalid !== null)
    throw new RelayError(400, invalid.code, invalid.message, { type: 'invalid_request_error', param: invalid.param });
  const kept = keptUpstream(body);
  if (kept !== null)
    throw new RelayError(400, 'invalid_request', kept.message, { type: 'invalid_request_error', param: kept.param });
  yield;
  yield* checkWords(endpoint, body, settings.sensitiveWords);
  yield;

  const channels = serving.filter(({ settings }) => providerOf(settings.type)?.modes.includes(endpoint.mode));
  if (channels.length === 0)
    throw new RelayError(400, 'convert_request_failed', `no channel of model ${requestedModel} supports this endpoint`);

  const price = priceFor(model, group, caller, settings);
  const names = namesOf(requestedModel, channels, ports);
  const switched = switchedTools(ports, endpoint, requestedModel, channels);
  const overrides = overridesOf(channels, ports);
  const demand = withOverrides(endpoint.demand({ body, bytes, model, names, upload, switched }), overrides);
  const searches =
    endpoint.mode === 'chat' ? searchesOf([body, ...overrides], names, demand.answers, switched) : noUsage;
  const allowed = maySpeak(asked, price, channels, ports) ? { ...searches, audioOutput: unboundedTokens } : searches;
  const said = endpoint.thinking === null ? body : endpoint.thinking(body);
  const thinking = endpoint.thinking === null ? 0 : reasoningOverhead(ports, said, names, channels);
  return {
    endpoint,
    requestedModel,
    model,
    group,
    stream: endpoint.asksForStream(body),
    wantsUsage: endpoint.asksForUsage(body),
    channels,
    pinned: pinned !== null,
    estimate: estimateHold({
      demand,
      names,
      price: withTools(price, settings.prices, model, searches),
      settings,
      thinking,
      allowed,
      minThinkingTokens: minThinkingTokens(said),
    }),
  };
}

/** The same without a pause. Throws RelayError. */
export const resolveCall = (...asked: Parameters<typeof orderSteps>): ResolvedCall => atOnce(orderSteps(...asked));
