import { sql } from 'kysely';
import type { Position } from '../../../domain/events.js';
import type { ReadModels } from '../../database.js';
import type { LogType, UsageLogRow } from './usage-log.js';

/*
 * How many lines an hour has, and which ids. The log is shown in the order of ids, and asked for by time: what is newer than
 * the time asked for is so passed over in the index of ids. The clocks of nodes may differ, so the ids of hours may
 * overlap; nothing relies on both growing together.
 */

export interface UsageLogHours {
  usage_log_hours: {
    /** Its start, unix seconds. */
    hour: number;
    /** The lowest and the highest id of a line of this hour; such a line may be gone. */
    first_id: Position;
    last_id: Position;
    /** Those there are. */
    lines: number;
  };
}

// Only the newest hour changes, in place.
export const tableOfHours = `
  create table usage_log_hours (
    hour bigint primary key,
    first_id bigint not null,
    last_id bigint not null,
    lines bigint not null
  ) with (fillfactor = 50);
`;

const length = 3_600;
export const hourOf = (time: number): number => Math.floor(time / length) * length;

/** `lines`: in the order of their ids. */
export async function putHours(
  tx: ReadModels,
  lines: readonly Pick<UsageLogRow, 'id' | 'created_at'>[],
): Promise<void> {
  const hours = new Map<number, { first: Position; last: Position; lines: number }>();
  for (const { id, created_at } of lines) {
    const hour = hourOf(created_at);
    const known = hours.get(hour);
    if (known === undefined) hours.set(hour, { first: id, last: id, lines: 1 });
    else {
      known.last = id;
      known.lines += 1;
    }
  }
  if (hours.size === 0) return;
  const rows = Array.from(
    hours,
    ([hour, { first, last, lines }]) => sql`(${hour}::bigint, ${first}::bigint, ${last}::bigint, ${lines}::bigint)`,
  );
  await sql`
    insert into usage_log_hours as known values ${sql.join(rows)}
    on conflict (hour) do update
    set first_id = least(known.first_id, excluded.first_id), last_id = greatest(known.last_id, excluded.last_id),
      lines = known.lines + excluded.lines
  `.execute(tx);
}

/** Lines of these times are gone. */
async function takeFromHours(tx: ReadModels, times: readonly number[]): Promise<void> {
  if (times.length === 0) return;
  await sql`
    update usage_log_hours known set lines = known.lines - gone.lines
    from (
      select hour, count(*) as lines from unnest(${times.map(hourOf)}::bigint[]) as hour group by hour
    ) as gone
    where known.hour = gone.hour
  `.execute(tx);
}

/** Deletes the lines of these calls that are of the type and not older than `from`, unix seconds. */
export async function deleteLinesOf(
  tx: ReadModels,
  calls: ReadonlySet<string>,
  type: LogType,
  from: number,
): Promise<void> {
  const { rows } = await sql<{ created_at: number }>`
    delete from usage_log
    where request_id = any(${[...calls]}::text[]) and type = ${type} and created_at >= ${from}
    returning created_at
  `.execute(tx);
  await takeFromHours(
    tx,
    rows.map(({ created_at }) => created_at),
  );
}

/** Between which ids lines of this time lie; null: there are none. Unix seconds, both inclusive. */
export async function idsWithin(
  db: ReadModels,
  from: number | undefined,
  to: number | undefined,
): Promise<{ readonly first: Position; readonly last: Position } | null> {
  let hours = db.selectFrom('usage_log_hours');
  if (from !== undefined) hours = hours.where('hour', '>=', hourOf(from));
  if (to !== undefined) hours = hours.where('hour', '<=', to);
  const { first, last } = await hours
    .select(({ fn }) => [
      fn.min<Position | null>('first_id').as('first'),
      fn.max<Position | null>('last_id').as('last'),
    ])
    .executeTakeFirstOrThrow();
  return first === null || last === null ? null : { first, last };
}
