import type { Position } from '../../domain/events.js';
import { Failure } from '../../domain/failure.js';
import type { ApiKeyId, ChannelId, Sealed, SecretId, UserId } from '../../domain/ids.js';
import { groupRatioOf } from '../../domain/price-tables.js';
import { type Actor, atLeast } from '../../domain/user.js';
import type { ReadModels } from '../../projections/database.js';
import type { Page, PageRequest } from '../../projections/engine/page.js';
import {
  type ApiKeyFilter,
  type ApiKeyRow,
  allApiKeysOf,
  apiKeyByHash,
  apiKeyById,
  apiKeyPage,
  apiKeyPageOf,
} from '../../projections/models/api-keys.js';
import {
  type ChannelFilter,
  type ChannelSort,
  channelById,
  channelPage,
  channelPageByTag,
  enabledModels,
  searchChannels,
} from '../../projections/models/channel-queries.js';
import type { ChannelRow } from '../../projections/models/channels.js';
import {
  type UsageLogEntry,
  type UsageLogFilter,
  type UsageLogPage,
  usageLogAfter,
  usageLogBefore,
  usageLogPage,
  usageOfLastMinute,
} from '../../projections/models/usage-log/usage-log-queries.js';
import { type UsageTotals, usageTotals } from '../../projections/models/usage-log/usage-totals.js';
import {
  type UsageStatsFilter,
  type UsageStatsGroup,
  type UsageStatsQuery,
  usageStatsBy,
} from '../../projections/models/usage-stats.js';
import {
  type UserFilter,
  type UserSort,
  userById,
  userPage,
  usersById,
} from '../../projections/models/user-queries.js';
import type { SealedUserRow, UserRow } from '../../projections/models/users.js';
import { authorise } from '../commands/authorise.js';
import type { Clock, Directory, EventStore, PersonalData, QuotaGate, Vault } from '../ports.js';
import { seenBy } from './overseen-user.js';
import { type PricedModel, priceList } from './price-list.js';
import { unlistedApiKey } from './unlisted-api-key.js';

/* Reads, each for a viewer: what one may see is decided here and nowhere else. */

export interface QueryPorts {
  readonly db: ReadModels;
  readonly store: Pick<EventStore, 'readStream'>;
  readonly vault: Vault;
  readonly personal: Pick<PersonalData, 'openAll' | 'searchToken'>;
  readonly directory: Directory;
  readonly gate: Pick<QuotaGate, 'remaining'>;
  readonly clock: Clock;
  /** Resolves when the read models hold all that has happened so far, or after a bounded while. */
  readonly fresh: () => Promise<unknown>;
}

/** An API key with its text, without prefix; '' when the vault has lost it. */
export type ReadableApiKey = ApiKeyRow & { readonly key: string };

export interface UsableGroup {
  readonly name: string;
  /** Decimal text. */
  readonly ratio: string;
  readonly description: string;
}

export type LogStatistics = UsageTotals & { readonly rpm: number; readonly tpm: number };

/** What may be asked of the log; whose lines are seen is decided by the viewer. */
export type LogFilter = Omit<UsageLogFilter, 'userId'>;

const ownGroupDescription = '用户分组';
/** The group of whoever is not signed in. */
const publicGroup = 'default';
/** Lines shown for an API key: it can be asked for without signing in, so the answer is bounded. */
const apiKeyLogLines = 1_000;

export function queries({ db, store, vault, personal, directory, gate, clock, fresh }: QueryPorts) {
  /** What is read is never older than what the asker may have seen: a call's answer, another page. */
  const current = async (): Promise<ReadModels> => {
    await fresh();
    return db;
  };

  const readable = async (rows: readonly ApiKeyRow[]): Promise<ReadableApiKey[]> => {
    const secrets = await vault.getMany(rows.map(({ secret }) => secret));
    return rows.map((row) => ({ ...row, key: secrets.get(row.secret) ?? '' }));
  };

  /** Personal texts are opened for whoever may see the user, and nowhere before. */
  const opened = async (rows: readonly SealedUserRow[]): Promise<UserRow[]> => {
    const texts = rows.flatMap(({ id, display_name, email, settings }) =>
      [display_name, email, settings].flatMap((sealed) => (sealed === null ? [] : { user: id, sealed })),
    );
    const found = await personal.openAll(texts);
    const plain = new Map(texts.map(({ sealed }, place) => [sealed, found[place] ?? '']));
    const textOf = (sealed: Sealed | null): string => (sealed === null ? '' : (plain.get(sealed) ?? ''));
    return rows.map((row) => ({
      ...row,
      display_name: textOf(row.display_name),
      email: textOf(row.email),
      settings: textOf(row.settings),
    }));
  };

  const openedOne = async (row: SealedUserRow): Promise<UserRow> => {
    const [user] = await opened([row]);
    if (user === undefined) throw new Failure('user-not-found');
    return user;
  };

  /** Admins see everything; others their own lines, without what tells about channels. */
  const visibleLog = (viewer: Actor, filter: LogFilter, own: boolean): UsageLogFilter => {
    if (own) return { ...filter, username: undefined, userId: viewer.id };
    authorise(viewer, 'admin');
    return filter;
  };

  const usableGroups = (group: string): UsableGroup[] => {
    const { prices, usableGroups } = directory.settings();
    const names = new Set([...usableGroups.keys(), group]);
    return [...names]
      .filter((name) => prices.groupRatio.has(name))
      .map((name) => ({
        name,
        ratio: groupRatioOf(prices, name),
        description: usableGroups.get(name) ?? ownGroupDescription,
      }));
  };

  return {
    /** Oneself. */
    async self(viewer: Actor): Promise<UserRow> {
      const row = await userById(await current(), viewer.id);
      if (row === undefined || row.deleted_at !== null) throw new Failure('user-not-found');
      return openedOne(row);
    },

    /** What the viewer's own webhooks are signed with; '' without one. */
    async webhookSecret(viewer: Actor): Promise<string> {
      const secret = (await userById(await current(), viewer.id))?.webhook_secret ?? null;
      return secret === null ? '' : ((await vault.get(secret)) ?? '');
    },

    /** A live user; equal and higher roles are for root only. */
    async user(viewer: Actor, id: UserId): Promise<UserRow> {
      authorise(viewer, 'admin');
      const row = await userById(await current(), id);
      if (row === undefined || row.deleted_at !== null) throw new Failure('user-not-found');
      if (viewer.role !== 'root' && atLeast(row.role, viewer.role)) throw new Failure('peer-read-forbidden');
      return seenBy(viewer, await openedOne(row));
    },

    async users(
      viewer: Actor,
      request: PageRequest & { readonly sort?: UserSort },
      filter: UserFilter = {},
    ): Promise<Page<UserRow>> {
      authorise(viewer, 'admin');
      const { items, total } = await userPage(await current(), personal, request, filter);
      return { items: (await opened(items)).map((user) => seenBy(viewer, user)), total };
    },

    /** As rows beside others and as what a change has led to; deleted users included. */
    async usersById(viewer: Actor, ids: readonly UserId[]): Promise<UserRow[]> {
      authorise(viewer, 'admin');
      const rows = ids.length === 0 ? [] : await usersById(await current(), ids);
      return (await opened(rows)).map((user) => seenBy(viewer, user));
    },

    async apiKeys(viewer: Actor, request: PageRequest): Promise<Page<ReadableApiKey>> {
      const { items, total } = await apiKeyPageOf(await current(), viewer.id, request);
      return { items: await readable(items), total };
    },

    /** Own keys whose name contains `name` and whose text contains `key`, newest first. */
    async searchApiKeys(viewer: Actor, { name, key }: { name: string; key: string }): Promise<ReadableApiKey[]> {
      const own = await readable(await allApiKeysOf(await current(), viewer.id));
      return own.filter((row) => row.name.includes(name) && row.key.includes(key));
    },

    async apiKey(viewer: Actor, id: ApiKeyId): Promise<ReadableApiKey> {
      const row = (await apiKeyById(await current(), id)) ?? (await unlistedApiKey({ store, gate }, id));
      if (row === undefined || row.owner_id !== viewer.id) throw new Failure('api-key-not-found');
      const [found] = await readable([row]);
      if (found === undefined) throw new Failure('api-key-not-found');
      return found;
    },

    /** Everybody's keys, without their texts: an administrator manages keys, it does not use them. */
    async allApiKeys(
      viewer: Actor,
      request: PageRequest,
      filter: ApiKeyFilter & { key?: string },
    ): Promise<Page<ApiKeyRow>> {
      authorise(viewer, 'admin');
      const { key = '', ...rest } = filter;
      return apiKeyPage(await current(), request, key === '' ? rest : { ...rest, keyHash: vault.hash(key) });
    },

    async channel(viewer: Actor, id: ChannelId): Promise<ChannelRow> {
      authorise(viewer, 'admin');
      const row = await channelById(await current(), id);
      if (row === undefined) throw new Failure('channel-not-found');
      return row;
    },

    async channels(
      viewer: Actor,
      request: PageRequest & { readonly sort?: ChannelSort; readonly byTag?: boolean },
      filter: ChannelFilter = {},
    ): Promise<Page<ChannelRow>> {
      authorise(viewer, 'admin');
      return (request.byTag ? channelPageByTag : channelPage)(await current(), request, withKeyHash(filter));
    },

    async searchChannels(viewer: Actor, filter: ChannelFilter, sort: ChannelSort): Promise<ChannelRow[]> {
      authorise(viewer, 'admin');
      return searchChannels(await current(), withKeyHash(filter), sort);
    },

    /** The proxy address of a channel, which may hold a password. */
    async channelProxy(viewer: Actor, proxy: SecretId | null): Promise<string> {
      authorise(viewer, 'admin');
      return proxy === null ? '' : ((await vault.get(proxy)) ?? '');
    },

    /** The same for many channels at once; '' for those without. */
    async channelProxies(viewer: Actor, rows: readonly ChannelRow[]): Promise<ReadonlyMap<ChannelId, string>> {
      authorise(viewer, 'admin');
      const secrets = await vault.getMany(rows.flatMap(({ proxy_secret }) => proxy_secret ?? []));
      return new Map(rows.map(({ id, proxy_secret }) => [id, (proxy_secret && secrets.get(proxy_secret)) || '']));
    },

    async enabledModels(viewer: Actor): Promise<string[]> {
      authorise(viewer, 'admin');
      return enabledModels(await current());
    },

    /** Models enabled in any group the viewer may use. */
    async ownModels(viewer: Actor): Promise<string[]> {
      const { group } = await directoryUser(viewer);
      return enabledModels(
        await current(),
        usableGroups(group).map(({ name }) => name),
      );
    },

    async ownGroups(viewer: Actor): Promise<UsableGroup[]> {
      return usableGroups((await directoryUser(viewer)).group);
    },

    /** What somebody who is not signed in could use. */
    publicGroups: (): UsableGroup[] => usableGroups(publicGroup),

    /** Prices are public. */
    prices: (): PricedModel[] => priceList(directory),

    groupNames(viewer: Actor): string[] {
      authorise(viewer, 'admin');
      return [...directory.settings().prices.groupRatio.keys()];
    },

    /** `own`: the viewer's lines only, whoever asks. */
    async log(viewer: Actor, filter: LogFilter, request: PageRequest, own: boolean): Promise<UsageLogPage> {
      return usageLogPage(await current(), visibleLog(viewer, filter, own), request);
    },

    /** Keyset pages, newest first. */
    async logBefore(
      viewer: Actor,
      filter: LogFilter,
      request: { readonly before?: Position; readonly limit: number },
      own: boolean,
    ): Promise<UsageLogEntry[]> {
      return usageLogBefore(await current(), visibleLog(viewer, filter, own), request);
    },

    /** What has been added since, oldest first; as far as the read model has come: a follower waits for it once. */
    async logAfter(
      viewer: Actor,
      filter: LogFilter,
      request: { readonly after: Position; readonly limit: number },
      own: boolean,
    ): Promise<UsageLogEntry[]> {
      return usageLogAfter(db, visibleLog(viewer, filter, own), request);
    },

    /**
     * The newest lines of an API key, given without prefix. Who has the key may ask, from where `allows` says of its
     * allow list; of a used-up and of a deleted key too. null: the key may not be used, as the relay would say.
     */
    async apiKeyLog(key: string, allows: (allowIps: readonly string[]) => boolean): Promise<UsageLogEntry[] | null> {
      const row = await apiKeyByHash(await current(), vault.hash(key));
      if (row === undefined) return [];
      const expired = row.expires_at !== null && row.expires_at * 1000 < clock.now();
      const owner = await directory.user(row.owner_id);
      if (row.status === 'disabled' || expired || owner?.status !== 'enabled' || !allows(row.allow_ips)) return null;
      return usageLogBefore(await current(), { apiKeyId: row.id }, { limit: apiKeyLogLines });
    },

    async logStatistics(viewer: Actor, filter: LogFilter, own: boolean): Promise<LogStatistics> {
      const visible = visibleLog(viewer, filter, own);
      const { type: _type, from: _from, to: _to, ...timeless } = visible;
      const [totals, { requests: rpm, tokens: tpm }] = await Promise.all([
        usageTotals(await current(), visible),
        usageOfLastMinute(await current(), timeless, Math.floor(clock.now() / 1000)),
      ]);
      return { ...totals, rpm, tpm };
    },

    /** Hourly statistics; ordinary users see their own, and nothing about channels. */
    async statistics(
      viewer: Actor,
      filter: UsageStatsFilter,
      query: UsageStatsQuery,
      own: boolean,
    ): Promise<UsageStatsGroup[]> {
      const aboutChannels = query.by.includes('channel_id') || filter.channelId !== undefined;
      if (!own || aboutChannels) authorise(viewer, 'admin');
      return usageStatsBy(await current(), own ? { ...filter, username: undefined, userId: viewer.id } : filter, query);
    },
  };

  function withKeyHash(filter: ChannelFilter): ChannelFilter {
    return filter.keyword ? { ...filter, keyHash: vault.hash(filter.keyword) } : filter;
  }

  async function directoryUser(viewer: Actor) {
    const user = await directory.user(viewer.id);
    if (user === null) throw new Failure('user-not-found');
    return user;
  }
}

export type Queries = ReturnType<typeof queries>;
