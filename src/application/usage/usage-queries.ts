import type { Position } from '../../domain/events/events.js';
import type { Instant } from '../../domain/kernel/instant.js';
import type { Actor } from '../../domain/user/user.js';
import type { PageRequest } from '../../projections/engine/page.js';
import type { UsageLogEntry } from '../../projections/models/usage-log/usage-log-queries.js';
import type { UsageStatsFilter, UsageStatsQuery } from '../../projections/models/usage-stats/usage-stats-queries.js';
import type { UsageFeed } from '../memory/usage-feed.js';
import type { Clock, Directory, Vault } from '../ports/storage-ports.js';
import { currentOf, type ReadingPorts } from '../viewer.js';
import { logFigures, logStatistics, ownLogStatistics } from './log-figures.js';
import {
  apiKeyLog,
  billingOfLine,
  countLinesBefore,
  followLog,
  type KeysetRequest,
  logBefore,
  logPage,
} from './log-lines.js';
import type { HistoryRequest } from './usage-history.js';
import {
  type FailureFilter,
  type FailureHistoryRequest,
  failures,
  failuresOverTime,
  statistics,
  usageOverTime,
} from './usage-statistics.js';
import { type LogFilter, visibleLog } from './visible-log.js';

/* The log, and what it adds up to. */

interface UsageQueryPorts extends ReadingPorts {
  readonly vault: Vault;
  readonly directory: Directory;
  readonly clock: Clock;
  readonly usageFeed: UsageFeed;
}

/** `own`: what is the viewer's only, whoever asks. */
export function usageQueries({ vault, directory, clock, usageFeed, ...reading }: UsageQueryPorts) {
  const ports = { vault, directory, clock, usageFeed, current: currentOf(reading) };
  return {
    /** Throws `role-too-low` where the viewer may not ask so; for those who follow. */
    mayAskLog(viewer: Actor, filter: LogFilter, own: boolean): void {
      visibleLog(viewer, filter, own);
    },
    log: (viewer: Actor, filter: LogFilter, request: PageRequest, own: boolean) =>
      logPage(ports, viewer, { filter, own, request }),
    logBefore: (viewer: Actor, filter: LogFilter, request: KeysetRequest, own: boolean) =>
      logBefore(ports, viewer, { filter, own, request }),
    followLog: (viewer: Actor, filter: LogFilter, after: Position, own: boolean) =>
      followLog(ports, viewer, { filter, own, after }),
    linesBefore: (viewer: Actor, before: Instant) => countLinesBefore(ports, viewer, before),
    apiKeyLog: (key: string, allows: (allowIps: readonly string[]) => boolean) => apiKeyLog(ports, key, allows),
    billingOfLine: (line: UsageLogEntry) => billingOfLine(ports, line),

    logStatistics: (viewer: Actor, filter: LogFilter, own: boolean) => logStatistics(ports, viewer, filter, own),
    ownLogStatistics: (viewer: Actor, filter: LogFilter) => ownLogStatistics(ports, viewer, filter),
    logFigures: (viewer: Actor, filter: LogFilter, own: boolean) => logFigures(ports, viewer, filter, own),

    failures: (viewer: Actor, filter: FailureFilter, own: boolean) => failures(ports, viewer, filter, own),
    failureHistory: (viewer: Actor, request: FailureHistoryRequest, own: boolean) =>
      failuresOverTime(ports, viewer, request, own),
    statistics: (viewer: Actor, filter: UsageStatsFilter, query: UsageStatsQuery, own: boolean) =>
      statistics(ports, viewer, { filter, query, own }),
    history: (viewer: Actor, request: HistoryRequest, own: boolean) => usageOverTime(ports, viewer, request, own),
  };
}
