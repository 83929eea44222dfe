import { invalidField } from '../../domain/kernel/failure.js';
import type { Actor } from '../../domain/user/user.js';
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
import type { Clock, Directory } from '../ports/storage-ports.js';
import { edgesOf, type HistoryRange, pieceOf } from './history-pieces.js';
import type { LogPorts } from './log-lines.js';
import { type HistoryRequest, type NamedHistory, namedHistory } from './usage-history.js';

/* Hourly statistics of calls, and of those that got nowhere. `own`: ordinary users see their own. */

/** Why calls of a range got nowhere, in its pieces of time. */
export interface FailureHistory {
  /** Where the pieces begin, and where the last one ends: unix seconds. */
  readonly edges: readonly number[];
  readonly shares: readonly FailureShare[];
}

export interface FailureHistoryRequest extends Pick<FailureHistoryQuery, 'apiKeyId' | 'top'> {
  readonly range: HistoryRange;
}

interface StatisticsPorts extends LogPorts {
  readonly clock: Clock;
  readonly directory: Directory;
}

export type FailureFilter = Omit<UsageFailureFilter, 'userId'>;

/** Why calls got nowhere. */
export async function failures(
  { current }: LogPorts,
  viewer: Actor,
  filter: FailureFilter,
  own: boolean,
): Promise<UsageFailure[]> {
  if (!own) authorise(viewer, 'admin-reading');
  return usageFailures(await current(), own ? { ...filter, userId: viewer.id } : filter);
}

/** The same in pieces of time. Throws `invalid-field`. */
export async function failuresOverTime(
  { current, clock }: StatisticsPorts,
  viewer: Actor,
  { range, ...asked }: FailureHistoryRequest,
  own: boolean,
): Promise<FailureHistory> {
  if (!own) authorise(viewer, 'admin-reading');
  if (pieceOf(range.interval) !== 'hour') throw invalidField('interval', 'hours, days or weeks');
  const edges = edgesOf(range, clock.now());
  const query = { ...asked, edges, ...(own && { userId: viewer.id }) };
  return { edges, shares: await failureHistory(await current(), query) };
}

interface StatisticsRequest {
  readonly filter: UsageStatsFilter;
  readonly query: UsageStatsQuery;
  readonly own: boolean;
}

/** Nothing about channels for ordinary users. */
export async function statistics(
  { current }: LogPorts,
  viewer: Actor,
  { filter, query, own }: StatisticsRequest,
): Promise<UsageStatsGroup[]> {
  const aboutChannels = query.by.includes('channel_id') || filter.channelId !== undefined;
  if (!own || aboutChannels) authorise(viewer, 'admin-reading');
  return usageStatsBy(await current(), own ? { ...filter, username: undefined, userId: viewer.id } : filter, query);
}

/** In pieces of time with percentiles, and by what there is most of. Throws `invalid-field`. */
export async function usageOverTime(
  { current, directory, clock }: StatisticsPorts,
  viewer: Actor,
  { filter, ...asked }: HistoryRequest,
  own: boolean,
): Promise<NamedHistory> {
  if (!own || asked.by === 'channel_id' || filter.channelId !== undefined) authorise(viewer, 'admin-reading');
  const visible = own ? { ...filter, username: undefined, userId: viewer.id } : filter;
  return namedHistory({ db: await current(), directory, clock }, { ...asked, filter: visible });
}
