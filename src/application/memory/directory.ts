import type { ProviderTable } from '../../domain/channel/provider.js';
import { isCallStream, type Position, type Recorded, streams } from '../../domain/events/events.js';
import type { ApiKeyId, UserId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';
import type { OptionValue } from '../../domain/options/option.js';
import type { PriceTables } from '../../domain/pricing/price-tables.js';
import type { Directory, EventStore } from '../ports/storage-ports.js';
import type { AnnouncedPrices, DefaultPrices } from '../prices/default-prices.js';
import { type ChangedOption, ChangedOptions, type ChangedPrice, type ComingPrices } from './changed-options.js';
import { ChannelIndex, type Offer, type PositionedChannel } from './channel-index.js';
import { KnownApiKeys } from './known-api-keys.js';
import { foldStreams, type StreamFolds } from './stream-folds.js';
import type { TailConsumer } from './tail.js';
import { credentialsOf, type FoldedUser, userFold, userViewOf } from './user-fold.js';

/*
 * What a node keeps in memory. Channels and options are few: all of them, from their read models at a known position,
 * then by the tail. Users and API keys are many: folded from their own streams when first asked for.
 */

/** All channels and option values, with the position they are at: the older of the two. */
export interface DirectorySnapshot {
  readonly channels: readonly PositionedChannel[];
  readonly options: ReadonlyMap<string, ChangedOption>;
  /** Of the price table, by model. */
  readonly prices: ReadonlyMap<string, ChangedPrice>;
  readonly position: Position;
}

export interface DirectorySource {
  snapshot(): Promise<DirectorySnapshot>;
  apiKeyIdByHash(keyHash: string): Promise<ApiKeyId | null>;
}

export interface NodeDirectory extends Directory, TailConsumer {
  /** Where the tail must start for nothing to be missed. */
  readonly position: Position;
  /** What another process goes on from, which is sent everything after `position`: what this one was sent last. */
  snapshot(position: Position): DirectorySnapshot;
  /** Every model that is served, sorted by name: the same list until a channel changes. */
  offers(): readonly Offer[];
  /** Effective option texts, defaults included, secrets left out. */
  optionTexts(): ReadonlyMap<string, string>;
  /** The effective text of an option that is no secret; '' for an unknown key. */
  optionText(key: string): string;
  /** The last change of what an option shows, or a later one; `beginning`: there was none. */
  optionPosition(key: string): Position;
  /** What an option holds until it is changed; '' for an unknown key. */
  initialOptionText(key: string): string;
  /** The balance below which the user wants to be reminded; null: none has been chosen. */
  quotaWarningThreshold(id: UserId): Promise<number | null>;
  /** What operators have changed, secrets included. */
  changedOptions(): ReadonlyMap<string, ChangedOption>;
  /** Where a secret option's value lies in the vault; null: not set. */
  optionSecret(key: string): OptionValue | null;
  /** Of another day: what operators have not changed is priced by them from now on. */
  takeDefaultPrices(prices: DefaultPrices): void;
  /** Records of the price table that begin or end by then do so. */
  advancePrices(now: Instant): void;
  /** `announced` is asked when somebody wants to know, and once. */
  announcePrices(announced: () => AnnouncedPrices | null): void;
  /** What models will cost as far as it is announced, by ascending day. */
  comingPrices(): readonly ComingPrices[];
  /** What every model costs as long as no operator has said anything: the same tables until the day changes them. */
  builtInPrices(): PriceTables;
  /** The records of the price table, by model, also those that were taken out. */
  changedPrices(): ReadonlyMap<string, ChangedPrice>;
}

interface DirectoryOptions {
  readonly store: Pick<EventStore, 'streamPages'>;
  readonly source: DirectorySource;
  readonly prices: DefaultPrices;
  /** Now. */
  readonly at: Instant;
  readonly providers: ProviderTable;
  /** Users and API keys kept in memory, each. */
  readonly capacity: number;
}

export async function openDirectory(options: DirectoryOptions): Promise<NodeDirectory> {
  const { store, source, prices, at, providers, capacity } = options;
  const users = foldStreams(store, userFold, capacity);
  const apiKeys = new KnownApiKeys({ store, source }, capacity);
  const first = await source.snapshot();
  const channels = new ChannelIndex(first.channels, providers);
  const changedOptions = new ChangedOptions(first.options, first.prices, prices, at);
  const parts: DirectoryParts = { users, apiKeys, channels, options: changedOptions };
  return {
    position: first.position,
    take(batch) {
      for (const recorded of batch) takeEvent(parts, recorded);
    },
    snapshot: (position) => ({
      channels: channels.all(),
      options: new Map(changedOptions.all()),
      prices: new Map(changedOptions.allPrices()),
      position,
    }),

    remembersApiKey: (keyHash) => apiKeys.has(keyHash),
    apiKey: (keyHash) => apiKeys.find(keyHash),

    user: async (id) => userViewOf(id, await users.get(streams.user(id))),
    credentials: async (id) => credentialsOf(id, await users.get(streams.user(id))),
    quotaWarningThreshold: async (id) => (await users.get(streams.user(id))).quotaWarningThreshold,

    channel: (id) => channels.get(id),
    channels: () => channels.all(),
    serving: () => channels.serving(),
    candidates: (group, model) => channels.candidates(group, model),
    hasModel: (model) => channels.hasModel(model),
    models: (groups) => channels.models(groups),
    offers: () => channels.offers(),

    settings: () => changedOptions.settings(),
    optionTexts: () => changedOptions.texts(),
    optionText: (key) => changedOptions.textOf(key),
    optionPosition: (key) => changedOptions.positionOf(key),
    initialOptionText: (key) => changedOptions.initial.get(key) ?? '',
    changedOptions: () => changedOptions.all(),
    optionSecret: (key) => changedOptions.secret(key),
    takeDefaultPrices: (next) => changedOptions.takeDefaultPrices(next),
    advancePrices: (now) => changedOptions.advanceTo(now),
    announcePrices: (announced) => changedOptions.announcePrices(announced),
    comingPrices: () => changedOptions.comingPrices(),
    builtInPrices: () => changedOptions.builtInPrices(),
    changedPrices: () => changedOptions.allPrices(),
  };
}

interface DirectoryParts {
  readonly users: StreamFolds<FoldedUser>;
  readonly apiKeys: KnownApiKeys;
  readonly channels: ChannelIndex;
  readonly options: ChangedOptions;
}

function takeEvent({ users, apiKeys, channels, options }: DirectoryParts, recorded: Recorded): void {
  const { event, stream, position } = recorded;
  if (isCallStream(stream)) return;
  switch (event.type) {
    case 'ChannelAdded':
    case 'ChannelEdited':
    case 'ChannelEnabled':
    case 'ChannelDisabled':
    case 'ChannelRemoved':
      channels.take(recorded);
      return;
    case 'OptionChanged':
      options.take(event, position);
      return;
    case 'ModelPricesChanged':
      options.takePrices(event, position);
      return;
    default:
      if (stream.startsWith('user-')) users.take(recorded);
      else if (stream.startsWith('apikey-')) apiKeys.take(recorded);
  }
}
