import { sql } from 'kysely';
import type { Position } from '../../../domain/events.js';
import type { ReadModels } from '../../database.js';
import type { UsageLogRow } from './usage-log.js';

/*
 * Which ids the lines of an hour have. The log is shown in the order of ids, and asked for by time: what is newer than
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
  };
}

// Only the newest hour changes, in place.
export const tableOfHours = `
  create table usage_log_hours (
    hour bigint primary key,
    first_id bigint not null,
    last_id bigint not null
  ) with (fillfactor = 50);
`;

const length = 3_600;
const hourOf = (time: number): number => Math.floor(time / length) * length;

/** `lines`: in the order of their ids. */
export async function putHours(
  tx: ReadModels,
  lines: readonly Pick<UsageLogRow, 'id' | 'created_at'>[],
): Promise<void> {
  const hours = new Map<number, { first: Position; last: Position }>();
  for (const { id, created_at } of lines) {
    const hour = hourOf(created_at);
    const known = hours.get(hour);
    if (known === undefined) hours.set(hour, { first: id, last: id });
    else known.last = id;
  }
  if (hours.size === 0) return;
  const rows = Array.from(
    hours,
    ([hour, { first, last }]) => sql`(${hour}::bigint, ${first}::bigint, ${last}::bigint)`,
  );
  await sql`
    insert into usage_log_hours as known values ${sql.join(rows)}
    on conflict (hour) do update
    set first_id = least(known.first_id, excluded.first_id), last_id = greatest(known.last_id, excluded.last_id)
  `.execute(tx);
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
