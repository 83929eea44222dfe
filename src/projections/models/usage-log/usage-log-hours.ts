import { sql } from 'kysely';
import { beginning, Position } from '../../../domain/events/events.js';
import type { ReadModels } from '../../database.js';
import type { LogType, UsageLogRow } from './usage-log.js';

/*
 * How many lines an hour has, and which ids, and which those of five minutes. The log is shown in the order of ids, and
 * asked for by time: what is newer than the time asked for is so passed over in the index of ids. The clocks of nodes may
 * differ, so the ids of hours may overlap; nothing relies on both growing together.
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
  /** The same of five minutes, for where an hour begins or ends in the midst of what is asked for. */
  usage_log_spans: {
    span: number;
    first_id: Position;
    last_id: Position;
  };
}

// Only the newest hour and its newest span change, in place.
export const tablesOfHours = `
  create table usage_log_hours (
    hour bigint primary key,
    first_id bigint not null,
    last_id bigint not null,
    lines bigint not null
  ) with (fillfactor = 50);

  create table usage_log_spans (
    span bigint primary key,
    first_id bigint not null,
    last_id bigint not null
  ) with (fillfactor = 50);
`;

const length = 3_600;
const spanLength = 300;
export const hourOf = (time: number): number => Math.floor(time / length) * length;
const spanOf = (time: number): number => Math.floor(time / spanLength) * spanLength;

type TimedLine = Pick<UsageLogRow, 'id' | 'created_at'>;

/** By the beginnings of the pieces of time. `lines`: in the order of their ids. */
function idsBy(pieceOf: (time: number) => number, lines: readonly TimedLine[]) {
  const pieces = new Map<number, { readonly first: Position; last: Position; lines: number }>();
  for (const { id, created_at } of lines) {
    const piece = pieceOf(created_at);
    const known = pieces.get(piece);
    if (known === undefined) pieces.set(piece, { first: id, last: id, lines: 1 });
    else {
      known.last = id;
      known.lines += 1;
    }
  }
  return pieces;
}

/** `lines`: in the order of their ids. */
export async function putHours(tx: ReadModels, lines: readonly TimedLine[]): Promise<void> {
  if (lines.length === 0) return;
  const hours = Array.from(
    idsBy(hourOf, lines),
    ([hour, { first, last, lines }]) => sql`(${hour}::bigint, ${first}::bigint, ${last}::bigint, ${lines}::bigint)`,
  );
  const spans = Array.from(
    idsBy(spanOf, lines),
    ([span, { first, last }]) => sql`(${span}::bigint, ${first}::bigint, ${last}::bigint)`,
  );
  await sql`
    with put as (
      insert into usage_log_spans as known values ${sql.join(spans)}
      on conflict (span) do update
      set first_id = least(known.first_id, excluded.first_id), last_id = greatest(known.last_id, excluded.last_id)
    )
    insert into usage_log_hours as known values ${sql.join(hours)}
    on conflict (hour) do update
    set first_id = least(known.first_id, excluded.first_id), last_id = greatest(known.last_id, excluded.last_id),
      lines = known.lines + excluded.lines
  `.execute(tx);
}

/** Whole hours that are cleared are no longer listed; resolves with the lines they had. */
export async function takeHoursBefore(tx: ReadModels, hour: number): Promise<number> {
  const { rows } = await sql<{ lines: number }>`
    with spans as (delete from usage_log_spans where span < ${hour}),
      gone as (delete from usage_log_hours where hour < ${hour} returning lines)
    select coalesce(sum(lines), 0) as lines from gone
  `.execute(tx);
  return rows[0]?.lines ?? 0;
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

/** Unix seconds, both inclusive. */
export interface Times {
  readonly from?: number;
  readonly to?: number;
}

type Part = Required<Times>;

const wholeHour = (hour: number): Part => ({ from: hour, to: hour + length - 1 });

/** Hours that are of these times as a whole, and parts of hours, at most two. */
function hoursOf({ from = 0, to }: Times) {
  const first = hourOf(from + length - 1);
  const end = to === undefined ? null : hourOf(to + 1);
  const whole = (db: ReadModels) => {
    const hours = db.selectFrom('usage_log_hours').where('hour', '>=', first);
    return end === null ? hours : hours.where('hour', '<', end);
  };
  const parts: Part[] = [];
  if (to !== undefined && end !== null && end < first) parts.push({ from, to });
  else {
    if (from < first) parts.push({ from, to: first - 1 });
    if (to !== undefined && end !== null && end <= to) parts.push({ from: end, to });
  }
  return { whole, parts };
}

/** Between which ids lines of this time lie; null: there are none. */
export async function idsWithin(
  db: ReadModels,
  times: Times,
): Promise<{ readonly first: Position; readonly last: Position } | null> {
  const { whole, parts } = hoursOf(times);
  const spansOf = ({ from, to }: Part) =>
    db
      .selectFrom('usage_log_spans')
      .where('span', '>=', spanOf(from))
      .where('span', '<=', to)
      .select(['first_id', 'last_id']);
  const pieces = parts
    .map(spansOf)
    .reduce((all, some) => all.unionAll(some), whole(db).select(['first_id', 'last_id']));
  const { first, last } = await db
    .selectFrom(pieces.as('piece'))
    .select(({ fn }) => [fn.min<number | null>('first_id').as('first'), fn.max<number | null>('last_id').as('last')])
    .executeTakeFirstOrThrow();
  return first === null || last === null ? null : { first: Position(first), last: Position(last) };
}

/** Lines of a part of an hour among those with ids from `first` to `last`; null: there are more of these than `max`. */
async function linesAmong(
  db: ReadModels,
  { from, to }: Part,
  { first, last }: { readonly first: Position; readonly last: Position },
  max: number,
): Promise<number | null> {
  const among = db
    .selectFrom('usage_log')
    .where('id', '>=', first)
    .where('id', '<=', last)
    .select('created_at')
    .limit(max + 1);
  const { seen, lines } = await db
    .selectFrom(among.as('line'))
    .select([
      sql<number>`count(*)`.as('seen'),
      sql<number>`count(*) filter (where created_at between ${from} and ${to})`.as('lines'),
    ])
    .executeTakeFirstOrThrow();
  return seen > max ? null : lines;
}

/** Lines of a part of an hour that have this id or a higher one; null: more than `max` would have to be looked at. */
async function linesOfPart(db: ReadModels, part: Part, max: number, id?: Position): Promise<number | null> {
  const hour = await db
    .selectFrom('usage_log_hours')
    .where('hour', '=', hourOf(part.from))
    .select(['lines', 'last_id'])
    .executeTakeFirst();
  if (hour === undefined) return 0;
  if (hour.lines > max) return id === undefined ? null : linesAmong(db, part, { first: id, last: hour.last_id }, max);
  const lines = db
    .selectFrom('usage_log')
    .where('created_at', '>=', part.from)
    .where('created_at', '<=', part.to)
    .select(sql<number>`count(*)`.as('lines'));
  const above = id === undefined ? lines : lines.where('id', '>=', id).where('id', '<=', hour.last_id);
  return (await above.executeTakeFirstOrThrow()).lines;
}

async function linesOfParts(
  db: ReadModels,
  parts: readonly Part[],
  max: number,
  id?: Position,
): Promise<number | null> {
  let sum = 0;
  for (const part of parts) {
    const lines = await linesOfPart(db, part, max, id);
    if (lines === null) return null;
    sum += lines;
  }
  return sum;
}

/**
 * How many lines there are of this time, of all kinds and everybody's; null: an hour that is of it in part has more than
 * `max`, which would have to be counted.
 */
export function linesWithin(db: ReadModels, times: Times): Promise<number>;
export function linesWithin(db: ReadModels, times: Times, max: number): Promise<number | null>;
export async function linesWithin(
  db: ReadModels,
  times: Times,
  max = Number.POSITIVE_INFINITY,
): Promise<number | null> {
  const { whole, parts } = hoursOf(times);
  const ofParts = await linesOfParts(db, parts, max);
  if (ofParts === null) return null;
  const { lines } = await whole(db).select(sql<number>`coalesce(sum(lines), 0)`.as('lines')).executeTakeFirstOrThrow();
  return lines + ofParts;
}

/** Positions that are tried, from the lowest up: what hours have in common may lift one above the offset. */
const maxTried = 4;
/** Hours that lie on both sides of a position: its neighbour, and those of clocks that were wrong. */
const straddlingHours = 4;

/**
 * A position among the lines of this time, everybody's, newest first, that lies at most `offset` lines down: these are what
 * is passed over, and all others have ids below `before`. null: none is known without looking at too many lines.
 */
export async function skipAbove(
  db: ReadModels,
  times: Times,
  offset: number,
  max: number,
): Promise<{ readonly before: Position; readonly lines: number } | null> {
  const { whole, parts } = hoursOf(times);
  const above = whole(db).select([
    'first_id as before',
    sql<number>`sum(lines) over (order by first_id desc)`.as('lines'),
  ]);
  const candidates = await db
    .selectFrom(above.as('places'))
    .selectAll()
    .where('lines', '<=', offset)
    .orderBy('before')
    .limit(maxTried)
    .execute();
  for (const { before, lines } of candidates) {
    const straddling = await whole(db)
      .where('first_id', '<', before)
      .where('last_id', '>=', before)
      .select('hour')
      .limit(straddlingHours + 1)
      .execute();
    if (straddling.length > straddlingHours) return null;
    const more = await linesOfParts(db, [...parts, ...straddling.map(({ hour }) => wholeHour(hour))], max, before);
    if (more === null) return null;
    if (lines + more <= offset) return { before, lines: lines + more };
  }
  return null;
}

/** A position before which lie no lines of this time or later ones, as far as hours are kept; without any, the beginning. */
export async function positionBefore(db: ReadModels, time: number): Promise<Position> {
  const { last } = await db
    .selectFrom('usage_log_hours')
    .where('hour', '<', hourOf(time))
    .select(({ fn }) => fn.max<number | null>('last_id').as('last'))
    .executeTakeFirstOrThrow();
  return last === null ? beginning : Position(last);
}
