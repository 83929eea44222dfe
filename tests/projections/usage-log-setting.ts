import type pg from 'pg';
import type { UsageLogFilter } from '../../src/projections/models/usage-log/usage-log-filter.js';
import { alice, at, bob, bobKey, registered, released, settled, west, when } from './history.js';

export const bobs = {
  facts: { userId: bob, apiKeyId: bobKey, apiKeyName: 'laptop', group: 'vip', model: 'claude-sonnet' },
};
export const history = [
  registered(alice, 'alice'),
  registered(bob, 'bob'),
  when(at(0), settled('a', 9, 10)),
  when(at(100), settled('b', 9, 20, { ...bobs, channelId: west })),
  when(at(150), settled('c', 9, 30, { facts: { model: 'gpt-4o-mini' } })),
  when(at(160), released('d', 9, bobs)),
];
export const requestsOf = (lines: readonly { request_id: string | null }[]) =>
  lines.map(({ request_id }) => request_id);
export const counting = { lines: 100, cost: 5_000, few: 100, ms: 1, passed: 0 };
/** All lines, though nothing knows beforehand how many these are. */
export const everybodys: UsageLogFilter = { userIds: [alice, bob] };

/** Lines and entries of their indexes that this transaction has read. */
export async function lookedAt(client: pg.PoolClient): Promise<{ readonly lines: number; readonly entries: number }> {
  const { rows } = await client.query<{ lines: number; entries: number }>(`
    select sum(idx_tup_fetch + seq_tup_read)::int as lines, (
      select sum(pg_stat_get_xact_tuples_returned(indexrelid))::int from pg_index
      where indrelid::regclass::text like '%usage_log_2%'
    ) as entries
    from pg_stat_xact_user_tables where relname like 'usage_log_2%'
  `);
  return rows[0] ?? { lines: Number.NaN, entries: Number.NaN };
}
