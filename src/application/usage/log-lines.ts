import type { Position } from '../../domain/events/events.js';
import { type Instant, unixSeconds } from '../../domain/kernel/instant.js';
import { type Billing, billingOf } from '../../domain/pricing/billing.js';
import type { Price } from '../../domain/pricing/pricing.js';
import type { Actor } from '../../domain/user/user.js';
import type { ReadModels } from '../../projections/database.js';
import type { PageRequest } from '../../projections/engine/page.js';
import { apiKeyByHash } from '../../projections/models/api-keys.js';
import type { LogDetail } from '../../projections/models/usage-log/log-detail.js';
import { linesBefore } from '../../projections/models/usage-log/usage-log-clearing.js';
import {
  type UsageLogEntry,
  type UsageLogPage,
  usageLogBefore,
  usageLogPage,
} from '../../projections/models/usage-log/usage-log-queries.js';
import { authorise } from '../authorise.js';
import type { UsageFeed } from '../memory/usage-feed.js';
import type { UsageFollower } from '../memory/usage-follower.js';
import type { Clock, Directory, Vault } from '../ports/storage-ports.js';
import { type LogFilter, visibleLog } from './visible-log.js';

/* Lines of the usage log. */

export interface LogPorts {
  /** The read models, once they hold all that has happened so far, or after a bounded while. */
  readonly current: () => Promise<ReadModels>;
}

/** `own`: the viewer's lines only, whoever asks. */
interface LogSelection {
  readonly filter: LogFilter;
  readonly own: boolean;
}

export async function logPage(
  { current }: LogPorts,
  viewer: Actor,
  { filter, own, request }: LogSelection & { readonly request: PageRequest },
): Promise<UsageLogPage> {
  const visible = visibleLog(viewer, filter, own);
  return usageLogPage(await current(), visible, request);
}

export interface KeysetRequest {
  readonly before?: Position;
  readonly limit: number;
}

/** Keyset pages, newest first. */
export async function logBefore(
  { current }: LogPorts,
  viewer: Actor,
  { filter, own, request }: LogSelection & { readonly request: KeysetRequest },
): Promise<UsageLogEntry[]> {
  const visible = visibleLog(viewer, filter, own);
  return usageLogBefore(await current(), visible, request);
}

/** What is added after `after`, oldest first, to one reader; whether it still may is asked at delivery. */
export function followLog(
  { usageFeed }: { readonly usageFeed: UsageFeed },
  viewer: Actor,
  { filter, own, after }: LogSelection & { readonly after: Position },
): UsageFollower {
  const visible = visibleLog(viewer, filter, own);
  return usageFeed.follow(visible, after);
}

/** How many lines of what happened before clearing the log would take away. */
export async function countLinesBefore({ current }: LogPorts, viewer: Actor, before: Instant): Promise<number> {
  authorise(viewer, 'admin-reading');
  return linesBefore(await current(), unixSeconds(before));
}

interface ApiKeyLogPorts extends LogPorts {
  readonly vault: Pick<Vault, 'hash'>;
  readonly clock: Clock;
  readonly directory: Pick<Directory, 'user'>;
}

/** Lines shown for an API key: it can be asked for without signing in, so the answer is bounded. */
const apiKeyLogLines = 1_000;

/**
 * The newest lines of an API key, given without prefix. Who has the key may ask, from where `allows` says of its allow
 * list; of a used-up and of a deleted key too. null: the key may not be used, as the relay would say.
 */
export async function apiKeyLog(
  { current, vault, clock, directory }: ApiKeyLogPorts,
  key: string,
  allows: (allowIps: readonly string[]) => boolean,
): Promise<UsageLogEntry[] | null> {
  const row = await apiKeyByHash(await current(), vault.hash(key));
  if (row === undefined) return [];
  const expired = row.expires_at !== null && row.expires_at * 1000 < clock.now();
  const owner = await directory.user(row.owner_id);
  if (row.status === 'disabled' || expired || owner?.status !== 'enabled' || !allows(row.allow_ips)) return null;
  return usageLogBefore(await current(), { apiKeyId: row.id }, { limit: apiKeyLogLines });
}

/** What a channel test would have been charged by; it does not keep the unit of its day. */
const testedPrice = (
  { modelRatio, completionRatio, modelPrice }: Extract<LogDetail, { kind: 'channel-tested' }>,
  quotaPerUnit: string,
): Price =>
  modelPrice === null
    ? { per: 'token', model: modelRatio, ratios: { output: completionRatio }, group: '1' }
    : { per: 'call', price: modelPrice, quotaPerUnit, group: '1' };

/** How the charge of a line came about; null: it is about none. */
export function billingOfLine(
  { directory }: { readonly directory: Pick<Directory, 'settings'> },
  { usage, price, detail }: UsageLogEntry,
): Billing | null {
  if (price !== null) return billingOf(usage, price);
  return detail?.kind === 'channel-tested'
    ? billingOf(usage, testedPrice(detail, directory.settings().prices.quotaPerUnit))
    : null;
}
