import type { Position } from '../../domain/events.js';
import type { Actor } from '../../domain/user.js';
import type { PageRequest } from '../../projections/engine/page.js';
import { apiKeyByHash } from '../../projections/models/api-keys.js';
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
import { authorise } from '../authorise.js';
import type { Clock, Directory, Vault } from '../ports.js';
import { currentOf, type ReadingPorts } from './viewer.js';

/* The log, and what it adds up to. */

export interface UsageQueryPorts extends ReadingPorts {
  readonly vault: Vault;
  readonly directory: Directory;
  readonly clock: Clock;
}

export type LogStatistics = UsageTotals & { readonly rpm: number; readonly tpm: number };

/** What may be asked of the log; whose lines are seen is decided by the viewer. */
export type LogFilter = Omit<UsageLogFilter, 'userId'>;

/** Lines shown for an API key: it can be asked for without signing in, so the answer is bounded. */
const apiKeyLogLines = 1_000;

export function usageQueries({ vault, directory, clock, ...reading }: UsageQueryPorts) {
  const { db } = reading;
  const current = currentOf(reading);

  /** Admins see everything; others their own lines, without what tells about channels. */
  const visibleLog = (viewer: Actor, filter: LogFilter, own: boolean): UsageLogFilter => {
    if (own) return { ...filter, username: undefined, userId: viewer.id };
    authorise(viewer, 'admin');
    return filter;
  };

  return {
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
}
