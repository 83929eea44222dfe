import type { Settings } from '../../application/options/settings.js';
import type { ChannelView } from '../../application/ports/storage-ports.js';
import type { TaskView } from '../../application/ports/task-ports.js';
import { aliasedModel } from '../../domain/api-key/model-aliases.js';
import { noUsage } from '../../domain/call/usage.js';
import { unboundedTokens } from '../../domain/call/usage-bound.js';
import { textModes } from '../../domain/channel/provider.js';
import { billedName } from '../../domain/pricing/price-tables.js';
import type { Price } from '../../domain/pricing/pricing.js';
import { withService } from '../../domain/pricing/service-tiers.js';
import { withTools } from '../../domain/pricing/tool-prices.js';
import type { Caller } from '../admission/authenticate.js';
import { reasoningOverhead } from '../catalogue/reasoning-overhead.js';
import { minThinkingTokens } from '../catalogue/thinking-budget.js';
import type { Endpoint } from '../contracts/endpoint.js';
import { noChannel, RelayError, unknownModel } from '../contracts/errors.js';
import type { Upload } from '../contracts/upload.js';
import type { JsonObject } from '../json/json.js';
import { type Estimate, estimateReservation } from '../metering/reservation-estimate.js';
import { toolCallsOf } from '../metering/tool-calls.js';
import {
  checkBody,
  checkModelLimit,
  checkPiecePrices,
  checkToolPrices,
  checkWords,
  modelIn,
  picturesPriced,
  pinnedChannel,
  priceFor,
} from './call-checks.js';
import { groupIn, usedGroup } from './call-group.js';
import { mappedModel } from './channels/channel-settings.js';
import { servedAsAsked, serves } from './channels/served-mode.js';
import { type KeptCall, keepingChannels, withKept } from './kept/kept-call.js';
import { bodiesAsked, enablesAudio, overridesOf, switchedTools, withOverrides, withOwnPrompts } from './own-tools.js';
import { chooseService } from './service-choice.js';
import type { StagePorts } from './stage-ports.js';
import { channelOfParent } from './tasks/parent-task.js';

/*
 * From a caller and a body to what is asked, who may serve it and what to reserve for it. Nothing is spent yet. A
 * resolution outlives the body, which may be large.
 */

export interface Resolution {
  readonly endpoint: Endpoint;
  /** As asked for: selects channels. */
  readonly requestedModel: string;
  /** What the caller wrote, where that is an alias of the key; null: the model itself. */
  readonly alias: string | null;
  /** As billed and logged: custom assistants folded to their family. */
  readonly model: string;
  readonly group: string;
  readonly stream: boolean;
  readonly wantsUsage: boolean;
  /** Channels able to serve it; one, when the caller pinned it. */
  readonly channels: readonly ChannelView[];
  readonly pinned: boolean;
  /** Its provider may work on after it has answered. */
  readonly background: boolean;
  /** The task that it goes on from; null: none. */
  readonly parent: TaskView | null;
  readonly estimate: Estimate;
  /** Of service, asked for and priced. Empty: as usual. */
  readonly tiers: readonly string[];
}

export type ResolutionPorts = Pick<StagePorts, 'directory' | 'providerOf' | 'parsedChannel'>;

/** What is asked for. */
interface ToResolve {
  readonly endpoint: Endpoint;
  readonly body: JsonObject;
  /** Of the body as it came. */
  readonly bytes: number;
  readonly upload: Upload | null;
  /** null: nothing that a provider keeps is named. */
  readonly kept: KeptCall | null;
  /** null: it goes on from no task. */
  readonly parent: TaskView | null;
}

/** Which model is asked for, in which group, and who has it. */
interface ModelChoice extends Pick<Resolution, 'requestedModel' | 'alias' | 'model' | 'group' | 'pinned'> {
  readonly serving: readonly ChannelView[];
}

/** Who asks for which model, as what and in which group. */
interface ModelAsked extends Pick<ModelChoice, 'requestedModel' | 'model' | 'group'> {
  readonly inPerson: boolean;
  /** null: the caller has pinned none. */
  readonly pinned: ChannelView | null;
}

/** The channels that have the model: those of the group, or the one that the call must go to. Throws RelayError. */
function channelsOf(
  { directory }: ResolutionPorts,
  { kept, parent }: Pick<ToResolve, 'kept' | 'parent'>,
  { requestedModel, model, group, inPerson, pinned }: ModelAsked,
): readonly ChannelView[] {
  if (parent !== null) return [channelOfParent(directory, parent, requestedModel)];
  let serving = pinned === null ? directory.candidates(group, requestedModel) : [pinned];
  if (serving.length === 0 && model !== requestedModel) serving = directory.candidates(group, model);
  if (serving.length === 0)
    throw directory.hasModel(requestedModel) || directory.hasModel(model)
      ? noChannel(requestedModel, group, inPerson ? 'get_playground_channel_failed' : undefined)
      : unknownModel(requestedModel);
  return kept === null ? serving : keepingChannels(serving, kept, requestedModel);
}

function chooseModel(ports: ResolutionPorts, caller: Caller, asked: ToResolve): ModelChoice {
  const { endpoint, body, kept, parent } = asked;
  const { directory } = ports;
  const inPerson = caller.apiKey === null;
  const named = modelIn(endpoint, body, inPerson);
  const aliased = aliasedModel(caller.apiKey?.terms.modelAliases, named);
  const requestedModel = aliased ?? named;
  const group = usedGroup(caller, directory.settings(), inPerson ? groupIn(body) : '');
  const pinned = caller.pinnedChannel === null ? null : pinnedChannel(directory, caller.pinnedChannel);
  checkModelLimit(caller, requestedModel);
  const model = billedName(requestedModel);
  return {
    requestedModel,
    alias: aliased && named,
    model,
    group,
    pinned: pinned !== null || kept !== null || parent !== null || endpoint.task?.asksOnce === true,
    serving: channelsOf(ports, asked, { requestedModel, model, group, inPerson, pinned }),
  };
}

/** Whether the answer may be sound, because its caller or an operator asks for it. */
function maySpeak(
  { endpoint, body }: ToResolve,
  price: Price,
  channels: readonly ChannelView[],
  ports: ResolutionPorts,
): boolean {
  if (endpoint.asksForAudio(body)) return true;
  // Where sound costs no more it does not matter who asks.
  if (price.per === 'call' || price.ratios.audioOutput === undefined) return false;
  return overridesOf(channels, ports).some(enablesAudio);
}

/** A model's names as asked for and as the channels would send it. */
function namesOf(model: string, channels: readonly ChannelView[], { parsedChannel }: ResolutionPorts): Set<string> {
  const names = new Set([model]);
  for (const channel of channels) names.add(mappedModel(parsedChannel(channel).modelMapping, model) ?? model);
  return names;
}

/** What a call is priced by, and who may serve it. */
interface Priced {
  readonly price: Price;
  /** Of the model, as asked for and as sent upstream. */
  readonly names: ReadonlySet<string>;
  readonly settings: Settings;
  readonly channels: readonly ChannelView[];
  readonly caller: Caller;
}

function estimateOf(
  ports: ResolutionPorts,
  given: ToResolve,
  { requestedModel, model }: ModelChoice,
  { price, names, settings, channels, caller }: Priced,
): Estimate {
  const { endpoint, body, bytes, upload, kept } = given;
  const switched = switchedTools(ports, endpoint, requestedModel, channels);
  const overrides = overridesOf(channels, ports);
  const own = endpoint.demand({ body, bytes, model, names, upload, switched });
  const sent = withOwnPrompts(own, ports, requestedModel, channels);
  const demand = withOverrides(kept === null ? sent : withKept(sent, kept), overrides);
  if (endpoint.task !== undefined) checkPiecePrices(demand.prompt.max, price, model, settings);
  const asked = bodiesAsked(ports, endpoint, { body, model: requestedModel }, channels);
  const calls = textModes.has(endpoint.mode)
    ? toolCallsOf([...asked, ...overrides], names, demand.answers, switched)
    : noUsage;
  if (calls !== noUsage) checkToolPrices(toolCallsOf(asked, names, demand.answers, switched), model, settings, caller);
  const allowed = maySpeak(given, price, channels, ports) ? { ...calls, audioOutput: unboundedTokens } : calls;
  const said = endpoint.thinking === null ? body : endpoint.thinking(body);
  return estimateReservation({
    demand,
    names,
    price: withTools(price, settings.prices, model, calls),
    settings,
    thinking: endpoint.thinking === null ? 0 : reasoningOverhead(ports, said, names, channels),
    allowed,
    minThinkingTokens: minThinkingTokens(said),
    unlimited:
      demand.unlimited === true ||
      channels.every(({ settings: { type } }) => ports.providerOf(type)?.hasNoLimit?.({}) === true),
  });
}

/**
 * Yields where others may have the process. Throws RelayError, in the order callers know: group, channel, model limit,
 * validation, words, price.
 */
export function* resolutionSteps(
  ports: ResolutionPorts,
  caller: Caller,
  asked: ToResolve,
): Generator<void, Resolution> {
  const { endpoint, body } = asked;
  const settings = ports.directory.settings();
  const choice = chooseModel(ports, caller, asked);
  const { requestedModel, alias, model, group, pinned, serving } = choice;
  const storedHere =
    endpoint.conversation !== undefined && settings.storesResponses && !servedAsAsked(serving, ports, endpoint);
  checkBody({ ...asked, storedHere }, settings);
  yield;
  yield* checkWords(endpoint, body, settings.sensitiveWords);
  yield;

  const action = endpoint.task?.action(body) ?? null;
  const channels = serving.filter((channel) => serves(channel, ports, endpoint, action));
  if (channels.length === 0)
    throw new RelayError(400, 'convert_request_failed', `no channel of model ${requestedModel} supports this endpoint`);
  const listed = priceFor({ model, group, mode: endpoint.mode }, caller, settings);
  const { tiers, terms } = chooseService(endpoint, body, model, settings);
  const names = namesOf(requestedModel, channels, ports);
  const price = withService(picturesPriced(listed, asked, { model, names, settings }), terms);
  return {
    tiers,
    endpoint,
    requestedModel,
    alias,
    model,
    group,
    stream: endpoint.asksForStream(body),
    wantsUsage: endpoint.asksForUsage(body),
    channels,
    pinned,
    background: endpoint.inBackground?.(body) === true,
    parent: asked.parent,
    estimate: estimateOf(ports, asked, choice, { price, names, settings, channels, caller }),
  };
}
