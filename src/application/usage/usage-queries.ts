import type { Position } from '../../domain/events/events.js';
import { invalidField } from '../../domain/kernel/failure.js';
import { type Instant, unixSeconds } from '../../domain/kernel/instant.js';
import { type Quota, zero } from '../../domain/kernel/quota.js';
import { type Billing, billingOf } from '../../domain/pricing/billing.js';
import type { Price } from '../../domain/pricing/pricing.js';
import type { Actor } from '../../domain/user/user.js';
import type { PageRequest } from '../../projections/engine/page.js';
import { apiKeyByHash } from '../../projections/models/api-keys.js';
import type { LogDetail } from '../../projections/models/usage-log/log-detail.js';
import { logTypes } from '../../projections/models/usage-log/usage-log.js';
import { linesBefore } from '../../projections/models/usage-log/usage-log-clearing.js';
import type { UsageLogFilter } from '../../projections/models/usage-log/usage-log-filter.js';
import {
  type UsageLogEntry,
  type UsageLogPage,
  usageLogBefore,
  usageLogPage,
} from '../../projections/models/usage-log/usage-log-queries.js';
import {
  noTotals,
  type Summed,
  type UsageTotals,
  usageOfLastMinute,
  usageTotals,
} from '../../projections/models/usage-log/usage-totals.js';
import {
  type FailureHistoryQuery,
  type FailureShare,
  failureHistory,
  type UsageFailure,
  type UsageFailureFilter,
  usageFailures,
} from '../../projections/models/usage-stats/usage-failures.js';
import {
  type UsageStatsFilter,
  type UsageStatsGroup,
  type UsageStatsQuery,
  usageStatsBy,
} from '../../projections/models/usage-stats/usage-stats-queries.js';
import { authorise } from '../authorise.js';
import type { UsageFeed } from '../memory/usage-feed.js';
import type { UsageFollower } from '../memory/usage-follower.js';
import type { Clock, Directory, Vault } from '../ports/storage-ports.js';
import { currentOf, type ReadingPorts } from '../viewer.js';
import { edgesOf, type HistoryRange, pieceOf } from './history-pieces.js';
import { type HistoryRequest, type NamedHistory, namedHistory } from './usage-history.js';

/* The log, and what it adds up to. */

interface UsageQueryPorts extends ReadingPorts {
  readonly vault: Vault;
  readonly directory: Directory;
  readonly clock: Clock;
  readonly usageFeed: UsageFeed;
}

export type LogStatistics = UsageTotals & { readonly rpm: number; readonly tpm: number };

export interface LogFigures extends LogStatistics {
  /** What channel tests would have cost; nobody was charged for them. */
  readonly testQuota: Quota;
  readonly testRequests: number;
}

const noFigures: LogFigures = {
  ...noTotals,
  rpm: 0,
  tpm: 0,
  testQuota: zero,
  testRequests: 0,
};

/** Why calls of a range got nowhere, in its pieces of time. */
export interface FailureHistory {
  /** Where the pieces begin, and where the last one ends: unix seconds. */
  readonly edges: readonly number[];
  readonly shares: readonly FailureShare[];
}

interface FailureHistoryRequest extends Pick<FailureHistoryQuery, 'apiKeyId' | 'top'> {
  readonly range: HistoryRange;
}

/** What may be asked of the log; whose lines are seen is decided by the viewer. */
export type LogFilter = Omit<UsageLogFilter, 'userId'>;

/** What a channel test would have been charged by; it does not keep the unit of its day. */
const testedPrice = (
  { modelRatio, completionRatio, modelPrice }: Extract<LogDetail, { kind: 'channel-tested' }>,
  quotaPerUnit: string,
): Price =>
  modelPrice === null
    ? { per: 'token', model: modelRatio, ratios: { output: completionRatio }, group: '1' }
    : { per: 'call', price: modelPrice, quotaPerUnit, group: '1' };

/** Lines shown for an API key: it can be asked for without signing in, so the answer is bounded. */
const apiKeyLogLines = 1_000;

const ownLog = ({ id }: Actor, filter: LogFilter): UsageLogFilter => ({ ...filter, username: undefined, userId: id });

/** Admins see everything; others their own lines, without what tells about channels. Throws `role-too-low`. */
export function visibleLog(viewer: Actor, filter: LogFilter, own: boolean): UsageLogFilter {
  if (!own || filter.channelId !== undefined) authorise(viewer, 'admin');
  return own ? ownLog(viewer, filter) : filter;
}

export function usageQueries({ vault, directory, clock, usageFeed, ...reading }: UsageQueryPorts) {
  const current = currentOf(reading);

  const sums = async (visible: UsageLogFilter, of: Summed): Promise<LogStatistics> => {
    const { type: _type, from: _from, to: _to, ...timeless } = visible;
    const db = await current();
    const [totals, { requests: rpm, tokens: tpm }] = await Promise.all([
      usageTotals(db, visible, of),
      usageOfLastMinute(db, timeless, Math.floor(clock.now() / 1000), of),
    ]);
    return { ...totals, rpm, tpm };
  };

  return {
    /** Throws `role-too-low` where the viewer may not ask so; for those who follow. */
    mayAskLog(viewer: Actor, filter: LogFilter, own: boolean): void {
      visibleLog(viewer, filter, own);
    },

    /** `own`: the viewer's lines only, whoever asks. */
    async log(viewer: Actor, filter: LogFilter, request: PageRequest, own: boolean): Promise<UsageLogPage> {
      const visible = visibleLog(viewer, filter, own);
      return usageLogPage(await current(), visible, request);
    },

    /** Keyset pages, newest first. */
    async logBefore(
      viewer: Actor,
      filter: LogFilter,
      request: { readonly before?: Position; readonly limit: number },
      own: boolean,
    ): Promise<UsageLogEntry[]> {
      const visible = visibleLog(viewer, filter, own);
      return usageLogBefore(await current(), visible, request);
    },

    /** What is added after `after`, oldest first, to one reader; whether it still may is asked at delivery. */
    followLog(viewer: Actor, filter: LogFilter, after: Position, own: boolean): UsageFollower {
      const visible = visibleLog(viewer, filter, own);
      return usageFeed.follow(visible, after);
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

    /** How the charge of a line came about; null: it is about none. */
    billingOfLine({ usage, price, detail }: UsageLogEntry): Billing | null {
      if (price !== null) return billingOf(usage, price);
      return detail?.kind === 'channel-tested'
        ? billingOf(usage, testedPrice(detail, directory.settings().prices.quotaPerUnit))
        : null;
    },

    /** As the legacy contract has it: whatever type is asked for, calls and channel tests together. */
    async logStatistics(viewer: Actor, filter: LogFilter, own: boolean): Promise<LogStatistics> {
      return sums(visibleLog(viewer, filter, own), 'both');
    },

    /** How many lines of what happened before clearing the log would take away. */
    async linesBefore(viewer: Actor, before: Instant): Promise<number> {
      authorise(viewer, 'admin');
      return linesBefore(await current(), unixSeconds(before));
    },

    /** The viewer's own; by channel too, whoever asks: what somebody used is no secret to them. */
    ownLogStatistics: (viewer: Actor, filter: LogFilter): Promise<LogStatistics> =>
      sums(ownLog(viewer, filter), 'both'),

    /** What the lines of the filter come to, and apart from it what channel tests would have cost. */
    async logFigures(viewer: Actor, filter: LogFilter, own: boolean): Promise<LogFigures> {
      const visible = visibleLog(viewer, filter, own);
      // Lines of other types spend nothing.
      if (visible.type !== undefined && visible.type !== logTypes.consume) return noFigures;
      const [calls, tests] = await Promise.all([
        sums(visible, 'calls'),
        usageTotals(await current(), visible, 'tests'),
      ]);
      return { ...calls, testQuota: tests.quota, testRequests: tests.requests };
    },

    /** Why calls got nowhere; ordinary users see their own. */
    async failures(viewer: Actor, filter: Omit<UsageFailureFilter, 'userId'>, own: boolean): Promise<UsageFailure[]> {
      if (!own) authorise(viewer, 'admin');
      return usageFailures(await current(), own ? { ...filter, userId: viewer.id } : filter);
    },

    /** The same in pieces of time. Throws `invalid-field`. */
    async failureHistory(
      viewer: Actor,
      { range, ...asked }: FailureHistoryRequest,
      own: boolean,
    ): Promise<FailureHistory> {
      if (!own) authorise(viewer, 'admin');
      if (pieceOf(range.interval) !== 'hour') throw invalidField('interval', 'hours, days or weeks');
      const edges = edgesOf(range, clock.now());
      const query = { ...asked, edges, ...(own && { userId: viewer.id }) };
      return { edges, shares: await failureHistory(await current(), query) };
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

    /** The same in pieces of time with percentiles, and by what there is most of. Throws `invalid-field`. */
    async history(viewer: Actor, { filter, ...asked }: HistoryRequest, own: boolean): Promise<NamedHistory> {
      if (!own || asked.by === 'channel_id' || filter.channelId !== undefined) authorise(viewer, 'admin');
      const visible = own ? { ...filter, username: undefined, userId: viewer.id } : filter;
      return namedHistory({ db: await current(), directory, clock }, { ...asked, filter: visible });
    },
  };
}
