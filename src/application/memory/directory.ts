import { growingLru } from '../../data-structures/growing-lru.js';
import { apiKeyDecider, isLiveApiKey } from '../../domain/api-key/api-key.js';
import { channelDecider, isLiveChannel } from '../../domain/channel/channel.js';
import { type ProviderTable, servesType } from '../../domain/channel/provider.js';
import {
  beginning,
  isCallStream,
  type Position,
  type Recorded,
  streamKey,
  streams,
} from '../../domain/events/events.js';
import { ApiKeyId, ChannelId, type UserId } from '../../domain/kernel/ids.js';
import type { OptionEvent, OptionValue } from '../../domain/options/option.js';
import { fixedBecause } from '../../domain/options/option-table.js';
import { isEndOfSignIns } from '../../domain/user/end-of-sign-ins.js';
import { type User, type UserEvent, userDecider } from '../../domain/user/user.js';
import type { DefaultPrices } from '../options/default-prices.js';
import { initialOptions, type Settings, settingsFrom } from '../options/settings.js';
import type { ChannelView, Directory, EventStore, UserCredentials, UserView } from '../ports/storage-ports.js';
import { type Fold, foldStreams } from './stream-folds.js';
import type { TailConsumer } from './tail.js';

/*
 * What a node knows by heart. Channels and options are few: all of them, from their read models at a known position,
 * then by the tail. Users and API keys are many: folded from their own streams when first asked for.
 */

/** What an option was changed to, and by the event at which position. */
export interface ChangedOption {
  readonly value: OptionValue;
  readonly position: Position;
}

/** All channels and option values, with the position they are at: the older of the two. */
export interface DirectorySnapshot {
  readonly channels: readonly (ChannelView & { readonly position: Position })[];
  readonly options: ReadonlyMap<string, ChangedOption>;
  readonly position: Position;
}

export interface DirectorySource {
  snapshot(): Promise<DirectorySnapshot>;
  apiKeyIdByHash(keyHash: string): Promise<ApiKeyId | null>;
}

/** A user with what the relay and reminders ask its settings for, and what it signs in with. */
type KnownUser = { user: User; acceptUnpricedModels: boolean; quotaWarningThreshold: number | null } & Omit<
  UserCredentials,
  'user'
>;

const knownUser: Fold<KnownUser, UserEvent> = {
  initial: {
    user: userDecider.initial,
    acceptUnpricedModels: false,
    quotaWarningThreshold: null,
    passwordSecret: null,
    accessToken: null,
    endedAt: beginning,
  },
  evolve(known, event, { position }) {
    const folded = { ...known, user: userDecider.evolve(known.user, event) };
    if (isEndOfSignIns(event)) folded.endedAt = position;
    switch (event.type) {
      case 'UserRegistered':
      case 'PasswordChanged':
        return { ...folded, passwordSecret: event.passwordSecret };
      case 'AccessTokenIssued':
        return { ...folded, accessToken: { hash: event.tokenHash, issuedAt: position } };
      case 'UserSettingsChanged':
        return {
          ...folded,
          acceptUnpricedModels: event.acceptUnpricedModels,
          quotaWarningThreshold: event.quotaWarningThreshold,
        };
      default:
        return folded;
    }
  },
};

function viewOf(id: UserId, { user, acceptUnpricedModels }: KnownUser): UserView | null {
  if (user.status === 'absent') return null;
  const { username, role, status, group } = user;
  return { id, username, role, status, group, acceptUnpricedModels };
}

/** A model that some serving channel has. */
export interface Offer {
  readonly model: string;
  /** That it is served for, sorted. */
  readonly groups: readonly string[];
  /** Of the first channel that has it. */
  readonly type: number;
}

export interface NodeDirectory extends Directory, TailConsumer {
  /** Where the tail must start for nothing to be missed. */
  readonly position: Position;
  /** What another process goes on from, which is told of everything after `position`: what this one has been told last. */
  snapshot(position: Position): DirectorySnapshot;
  /** Every model that is served, sorted by name: the same list until a channel changes. */
  offers(): readonly Offer[];
  /** Effective option texts, defaults included, secrets left out. */
  optionTexts(): ReadonlyMap<string, string>;
  /** What an option holds until it is changed; '' for an unknown key. */
  initialOptionText(key: string): string;
  /** Of another day: what operators have not changed is priced by them from now on. */
  takeDefaultPrices(prices: DefaultPrices): void;
  /** The balance below which the user wants to be reminded; null: none has been chosen. */
  quotaWarningThreshold(id: UserId): Promise<number | null>;
  /** What operators have changed, secrets included. */
  changedOptions(): ReadonlyMap<string, ChangedOption>;
  /** Where a secret option's value lies in the vault; null: not set. */
  optionSecret(key: string): OptionValue | null;
}

function offersOf(channels: readonly ChannelView[]): Offer[] {
  const found = new Map<string, { readonly type: number; readonly groups: Set<string> }>();
  for (const { settings } of channels) {
    for (const model of settings.models) {
      const known = found.get(model) ?? { type: settings.type, groups: new Set<string>() };
      for (const group of settings.groups) known.groups.add(group);
      found.set(model, known);
    }
  }
  return [...found]
    .map(([model, { type, groups }]) => ({ model, type, groups: [...groups].sort() }))
    .sort((a, b) => (a.model < b.model ? -1 : 1));
}

interface DirectoryOptions {
  readonly store: Pick<EventStore, 'streamPages'>;
  readonly source: DirectorySource;
  readonly prices: DefaultPrices;
  readonly providers: ProviderTable;
  /** Users and API keys kept in memory, each. */
  readonly capacity: number;
}

export async function openDirectory(options: DirectoryOptions): Promise<NodeDirectory> {
  const { store, source, prices, providers, capacity } = options;
  const users = foldStreams(store, knownUser, capacity);
  const apiKeys = foldStreams(store, apiKeyDecider, capacity);
  const apiKeyIds = growingLru<string, ApiKeyId>(capacity);
  let defaults = prices;
  let initial = initialOptions(defaults);

  const first = await source.snapshot();
  const channels = new Map<ChannelId, ChannelView & { position: Position }>(
    first.channels.map((channel) => [channel.id, channel]),
  );
  const changedOptions = new Map(first.options);

  let settings: Settings | null = null;
  let byGroupAndModel: Map<string, ChannelView[]> | null = null;
  let everyModel: ReadonlySet<string> | null = null;
  let everyOffer: readonly Offer[] | null = null;

  const takeChannel = ({ stream, event, position }: Recorded): void => {
    const id = ChannelId(streamKey(stream));
    const known = channels.get(id);
    if (known !== undefined && known.position >= position) return;
    const folded = channelDecider.evolve(known ?? channelDecider.initial, event as never);
    if (!isLiveChannel(folded)) channels.delete(id);
    else channels.set(id, { id, status: folded.status, settings: folded.settings, secrets: folded.secrets, position });
    byGroupAndModel = null;
    everyModel = null;
    everyOffer = null;
  };

  const takeOption = ({ key, value }: OptionEvent, position: Position): void => {
    const known = changedOptions.get(key);
    if (known !== undefined && known.position >= position) return;
    changedOptions.set(key, { value, position });
    settings = null;
  };

  const changedTexts = (): Map<string, string> => {
    const texts = new Map<string, string>();
    for (const [key, { value }] of changedOptions)
      if ('text' in value && fixedBecause(key) === null) texts.set(key, value.text);
    return texts;
  };

  /** Channels that calls can be sent through as soon as they are switched on. */
  const served = (): ChannelView[] =>
    [...channels.values()].filter(({ settings }) => servesType(providers, settings.type));
  const serving = (): ChannelView[] => served().filter(({ status }) => status === 'enabled');

  const index = (): Map<string, ChannelView[]> => {
    const built = new Map<string, ChannelView[]>();
    for (const channel of serving()) {
      for (const group of new Set(channel.settings.groups)) {
        for (const model of new Set(channel.settings.models)) {
          const key = `${group}\n${model}`;
          const found = built.get(key);
          if (found === undefined) built.set(key, [channel]);
          else found.push(channel);
        }
      }
    }
    for (const found of built.values()) found.sort((a, b) => b.settings.priority - a.settings.priority);
    return built;
  };

  const take = (recorded: Recorded): void => {
    const { event, stream } = recorded;
    switch (event.type) {
      case 'ChannelAdded':
      case 'ChannelEdited':
      case 'ChannelEnabled':
      case 'ChannelDisabled':
      case 'ChannelRemoved':
        takeChannel(recorded);
        return;
      case 'OptionChanged':
        takeOption(event, recorded.position);
        return;
      case 'ApiKeyIssued':
        apiKeyIds.set(event.keyHash, ApiKeyId(streamKey(stream)));
        apiKeys.take(recorded);
        return;
      default:
        if (stream.startsWith('user-')) users.take(recorded);
        else if (stream.startsWith('apikey-')) apiKeys.take(recorded);
    }
  };

  return {
    position: first.position,
    take: (batch) => {
      for (const recorded of batch) if (!isCallStream(recorded.stream)) take(recorded);
    },

    snapshot: (position) => ({ channels: [...channels.values()], options: new Map(changedOptions), position }),

    remembersApiKey: (keyHash) => apiKeyIds.has(keyHash),

    async apiKey(keyHash) {
      let id = apiKeyIds.get(keyHash);
      if (id === undefined) {
        const stored = await source.apiKeyIdByHash(keyHash);
        // A key too new for the read model has passed by on the tail meanwhile.
        id = stored ?? apiKeyIds.get(keyHash);
        if (id === undefined) return null;
        apiKeyIds.set(keyHash, id);
      }
      const key = await apiKeys.get(streams.apiKey(id));
      if (!isLiveApiKey(key)) return null;
      return { id, owner: key.owner, status: key.status, terms: key.terms };
    },

    user: async (id) => viewOf(id, await users.get(streams.user(id))),

    async credentials(id) {
      const known = await users.get(streams.user(id));
      const user = viewOf(id, known);
      if (user === null) return null;
      const { passwordSecret, accessToken, endedAt } = known;
      return { user, passwordSecret, accessToken, endedAt };
    },

    channel: (id) => channels.get(id) ?? null,
    channels: () => [...channels.values()],
    serving,
    candidates: (group, model) => {
      byGroupAndModel ??= index();
      return byGroupAndModel.get(`${group}\n${model}`) ?? [];
    },
    hasModel: (model) => {
      everyModel ??= new Set(served().flatMap(({ settings }) => settings.models));
      return everyModel.has(model);
    },
    models: (groups) => {
      const found = new Set<string>();
      for (const { settings } of serving()) {
        if (groups !== null && !settings.groups.some((group) => groups.includes(group))) continue;
        for (const model of settings.models) found.add(model);
      }
      return [...found].sort();
    },
    offers: () => {
      everyOffer ??= offersOf(serving());
      return everyOffer;
    },
    settings: () => {
      settings ??= settingsFrom(changedTexts(), defaults, initial);
      return settings;
    },
    quotaWarningThreshold: async (id) => (await users.get(streams.user(id))).quotaWarningThreshold,

    optionTexts: () => new Map([...initial, ...changedTexts()]),
    takeDefaultPrices(next) {
      defaults = next;
      initial = initialOptions(next);
      settings = null;
    },
    initialOptionText: (key) => initial.get(key) ?? '',
    changedOptions: () => changedOptions,
    optionSecret: (key) => {
      const value = changedOptions.get(key)?.value;
      return value !== undefined && 'secret' in value ? value : null;
    },
  };
}
