import { type ChannelId, UserId } from '../../domain/kernel/ids.js';
import type { ReadModels } from '../../projections/database.js';
import {
  type HistoryOrder,
  type UsageHistory,
  type UsageShare,
  usageHistory,
} from '../../projections/models/usage-stats/usage-history.js';
import type { UsageDimension, UsageStatsFilter } from '../../projections/models/usage-stats/usage-stats-queries.js';
import { usersById } from '../../projections/models/user-queries.js';
import type { Clock, Directory } from '../ports/storage-ports.js';
import { edgesOf, type HistoryRange, pieceOf } from './history-pieces.js';

/* The dashboard's figures: a range in pieces, and who or what there was most of, by name. */

export interface HistoryRequest {
  readonly range: HistoryRange;
  readonly filter: Omit<UsageStatsFilter, 'from' | 'to'>;
  readonly by: UsageDimension | null;
  readonly top: number;
  readonly order: HistoryOrder;
}

export interface NamedHistory extends Omit<UsageHistory, 'shares'> {
  /** The range as it was cut: unix seconds, `to` exclusive. */
  readonly from: number;
  readonly to: number;
  /** How much of it has passed, in minutes. */
  readonly minutes: number;
  readonly shares: readonly NamedShare[];
}

/** `name`: as it is called now; null: it is gone, or nobody's. */
export type NamedShare = UsageShare & { readonly name: string | null };

interface HistoryPorts {
  readonly db: ReadModels;
  readonly directory: Directory;
  readonly clock: Clock;
}

/** Throws `invalid-field`. */
export async function namedHistory(
  { db, directory, clock }: HistoryPorts,
  asked: HistoryRequest,
): Promise<NamedHistory> {
  const { range, ...query } = asked;
  const now = clock.now();
  const edges = edgesOf(range, now);
  const history = await usageHistory(db, { ...query, edges, piece: pieceOf(range.interval) });
  const [from = range.from, to = range.to] = [edges[0], edges.at(-1)];
  const minutes = Math.max(0, Math.min(to, now / 1000) - from) / 60;
  const names = await namesOf(db, directory, query.by, history.shares);
  const shares = history.shares.map((share) => ({ ...share, name: names.get(share.about) ?? null }));
  return { ...history, from, to, minutes, shares };
}

type Names = ReadonlyMap<UsageShare['about'], string>;

async function namesOf(
  db: ReadModels,
  directory: Directory,
  by: UsageDimension | null,
  shares: readonly UsageShare[],
): Promise<Names> {
  const about = shares.flatMap(({ about }) => (about === null ? [] : [about]));
  // Postgres takes no list of none.
  if (about.length === 0) return new Map();
  switch (by) {
    case 'user_id': {
      const users = await usersById(db, about.map(Number).map(UserId));
      return new Map(users.map(({ id, username }) => [id, username]));
    }
    case 'api_key_id': {
      const keys = await db
        .selectFrom('api_keys')
        .select(['id', 'name'])
        .where('id', 'in', about as never[])
        .execute();
      return new Map(keys.map(({ id, name }) => [id, name]));
    }
    case 'channel_id':
      return new Map(about.map((id) => [id, directory.channel(id as ChannelId)?.settings.name ?? '']));
    default:
      return new Map(about.map((text) => [text, String(text)]));
  }
}
