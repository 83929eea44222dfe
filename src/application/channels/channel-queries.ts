import { isServed, type ProviderFacts, type ProviderTable } from '../../domain/channel/provider.js';
import type { Position } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { ChannelId } from '../../domain/kernel/ids.js';
import type { Actor } from '../../domain/user/user.js';
import type { Page, PageRequest } from '../../projections/engine/page.js';
import {
  type ChannelFailureCause,
  type ChannelFailureRange,
  failuresByCause,
} from '../../projections/models/channel-failures.js';
import {
  type ChannelChangeRow,
  type ChannelHistoryPart,
  channelChanges,
  testErrors,
} from '../../projections/models/channel-history.js';
import {
  type ChannelFilter,
  type ChannelSort,
  channelById,
  channelPage,
  channelPageByTag,
  channelsById,
  searchChannels,
} from '../../projections/models/channel-queries.js';
import type { ChannelRow } from '../../projections/models/channels.js';
import { authorise } from '../authorise.js';
import type { Vault } from '../ports/storage-ports.js';
import { currentOf, type ReadingPorts } from '../viewer.js';

/* Channels, for administrators. */

interface ChannelQueryPorts extends ReadingPorts {
  readonly vault: Vault;
  readonly providers: ProviderTable;
}

interface ChannelHistoryRequest {
  /** null: all channels, also those that are gone. */
  readonly channelId: ChannelId | null;
  /** null: everything. */
  readonly part: ChannelHistoryPart | null;
  /** Only what is older than the change at this position; null: from the newest. */
  readonly before: Position | null;
  readonly first: number;
}

/** Upstreams may fail in more ways; who wants to read of the hundredth reads the log. */
const maxCauses = 100;

export function channelQueries({ vault, providers, ...reading }: ChannelQueryPorts) {
  const current = currentOf(reading);

  const withKeyHash = (filter: ChannelFilter): ChannelFilter =>
    filter.keyword ? { ...filter, keyHash: vault.hash(filter.keyword) } : filter;

  return {
    /** What a channel's type stands for. null: a number nobody knows. */
    provider: (type: number): ProviderFacts | null => providers.get(type) ?? null,

    /** All a channel may name, those the gateway cannot speak with yet included, by type number. */
    providers(viewer: Actor): readonly ProviderFacts[] {
      authorise(viewer, 'admin-reading');
      return [...providers.values()];
    },

    /** Those a channel can be set up for. */
    servedProviders: (): readonly ProviderFacts[] => [...providers.values()].filter(isServed),

    async channel(viewer: Actor, id: ChannelId): Promise<ChannelRow> {
      authorise(viewer, 'admin-reading');
      const row = await channelById(await current(), id);
      if (row === undefined) throw new Failure('channel-not-found');
      return row;
    },

    /** In the order of the ids; without those that are gone. */
    async channelsById(viewer: Actor, ids: readonly ChannelId[]): Promise<ChannelRow[]> {
      authorise(viewer, 'admin-reading');
      const rows = new Map((await channelsById(await current(), ids)).map((row) => [row.id, row]));
      return ids.flatMap((id) => rows.get(id) ?? []);
    },

    async channels(
      viewer: Actor,
      request: PageRequest & { readonly sort?: ChannelSort; readonly byTag?: boolean },
      filter: ChannelFilter = {},
    ): Promise<Page<ChannelRow>> {
      authorise(viewer, 'admin-reading');
      return (request.byTag ? channelPageByTag : channelPage)(await current(), request, withKeyHash(filter));
    },

    async searchChannels(viewer: Actor, filter: ChannelFilter, sort: ChannelSort): Promise<ChannelRow[]> {
      authorise(viewer, 'admin-reading');
      return searchChannels(await current(), withKeyHash(filter), sort);
    },

    /** Newest first. */
    async channelHistory(
      viewer: Actor,
      { first, ...range }: ChannelHistoryRequest,
    ): Promise<{ readonly items: readonly ChannelChangeRow[]; readonly hasMore: boolean }> {
      authorise(viewer, 'admin-reading');
      const rows = await channelChanges(await current(), { ...range, max: first + 1 });
      return { items: rows.slice(0, first), hasMore: rows.length > first };
    },

    /** How attempts failed, the most frequent cause first; of a channel that is gone as well. */
    async channelFailures(viewer: Actor, range: ChannelFailureRange): Promise<readonly ChannelFailureCause[]> {
      authorise(viewer, 'admin-reading');
      return failuresByCause(await current(), range, maxCauses);
    },

    /** Why the last test of each failed; those that passed it, or were never tested, are left out. */
    async channelTestErrors(viewer: Actor, ids: readonly ChannelId[]): Promise<ReadonlyMap<ChannelId, string>> {
      authorise(viewer, 'admin-reading');
      return testErrors(await current(), ids);
    },

    /** The proxy addresses of channels, which may hold passwords; '' for those without. */
    async channelProxies(viewer: Actor, rows: readonly ChannelRow[]): Promise<ReadonlyMap<ChannelId, string>> {
      authorise(viewer, 'admin-reading');
      const secrets = await vault.getMany(rows.flatMap(({ proxy_secret }) => proxy_secret ?? []));
      return new Map(rows.map(({ id, proxy_secret }) => [id, (proxy_secret && secrets.get(proxy_secret)) || '']));
    },
  };
}
