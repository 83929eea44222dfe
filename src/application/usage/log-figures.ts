import { type Quota, zero } from '../../domain/kernel/quota.js';
import type { Actor } from '../../domain/user/user.js';
import { logTypes } from '../../projections/models/usage-log/usage-log.js';
import type { UsageLogFilter } from '../../projections/models/usage-log/usage-log-filter.js';
import {
  noTotals,
  type Summed,
  type UsageTotals,
  usageOfLastMinute,
  usageTotals,
} from '../../projections/models/usage-log/usage-totals.js';
import type { Clock } from '../ports/storage-ports.js';
import type { LogPorts } from './log-lines.js';
import { type LogFilter, ownLog, visibleLog } from './visible-log.js';

/* What lines of the usage log come to. */

export type LogStatistics = UsageTotals & { readonly rpm: number; readonly tpm: number };

export interface LogFigures extends LogStatistics {
  /** What channel tests would have cost; nobody was charged for them. */
  readonly testQuota: Quota;
  readonly testRequests: number;
}

interface LogFigurePorts extends LogPorts {
  readonly clock: Clock;
}

const noFigures: LogFigures = {
  ...noTotals,
  rpm: 0,
  tpm: 0,
  testQuota: zero,
  testRequests: 0,
};

async function sums({ current, clock }: LogFigurePorts, visible: UsageLogFilter, of: Summed): Promise<LogStatistics> {
  const { type: _type, from: _from, to: _to, ...timeless } = visible;
  const db = await current();
  const [totals, { requests: rpm, tokens: tpm }] = await Promise.all([
    usageTotals(db, visible, of),
    usageOfLastMinute(db, timeless, Math.floor(clock.now() / 1000), of),
  ]);
  return { ...totals, rpm, tpm };
}

/** As the legacy contract has it: whatever type is asked for, calls and channel tests together. */
export async function logStatistics(
  ports: LogFigurePorts,
  viewer: Actor,
  filter: LogFilter,
  own: boolean,
): Promise<LogStatistics> {
  return sums(ports, visibleLog(viewer, filter, own), 'both');
}

/** The viewer's own; by channel too, whoever asks: what somebody used is no secret to them. */
export function ownLogStatistics(ports: LogFigurePorts, viewer: Actor, filter: LogFilter): Promise<LogStatistics> {
  return sums(ports, ownLog(viewer, filter), 'both');
}

/** What the lines of the filter come to, and apart from it what channel tests would have cost. */
export async function logFigures(
  ports: LogFigurePorts,
  viewer: Actor,
  filter: LogFilter,
  own: boolean,
): Promise<LogFigures> {
  const visible = visibleLog(viewer, filter, own);
  // Lines of other types spend nothing.
  if (visible.type !== undefined && visible.type !== logTypes.consume) return noFigures;
  const [calls, tests] = await Promise.all([
    sums(ports, visible, 'calls'),
    usageTotals(await ports.current(), visible, 'tests'),
  ]);
  return { ...calls, testQuota: tests.quota, testRequests: tests.requests };
}
