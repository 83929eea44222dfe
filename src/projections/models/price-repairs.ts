import { type Selectable, sql, type Updateable } from 'kysely';
import type { CallCorrected } from '../../domain/call/call-correction.js';
import { type Position, type Recorded, streamKey } from '../../domain/events/events.js';
import { assertNever } from '../../domain/kernel/failure.js';
import type { RepairId, UserId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';
import type {
  RepairEvent,
  RepairOrdered,
  RepairScope,
  RepairState,
  RightPriceOrigin,
} from '../../domain/repair/repair.js';
import type { ReadModels } from '../database.js';
import { addToRows, putRows } from '../engine/multi-row.js';
import { projection } from '../engine/projection.js';
import { type Sum, tallyOf } from '../engine/tallies.js';

/* Price repairs: what was ordered, how far it is, and what became of it. */

export interface PriceRepairTables {
  price_repair: {
    id: RepairId;
    /** Of the order. */
    position: Position;
    at: Instant;
    /** null: whoever has the database. */
    by_user: UserId | null;
    /** JSON. */
    scope: RepairScope;
    origin: RightPriceOrigin;
    is_charging: boolean;
    digest: string;
    state: RepairState;
    planned_calls: number;
    planned_given: Sum;
    planned_taken: Sum;
    /** That were something else by then, and were left. */
    changed: number;
    is_abandoned: boolean;
    ended_at: Instant | null;
    undo_by: UserId | null;
    undo_at: Instant | null;
    undo_changed: number;
    undone_at: Instant | null;
  };
  /** What has been posted of it so far, and taken back. */
  price_repair_sum: {
    id: RepairId;
    part: CallCorrected['part'];
    calls: number;
    given: Sum;
    taken: Sum;
  };
}

const tables = `
  create table price_repair (
    id text primary key,
    position bigint not null,
    at bigint not null,
    by_user bigint,
    scope json not null,
    origin json not null,
    is_charging boolean not null,
    digest text not null,
    state text not null,
    planned_calls integer not null,
    planned_given numeric not null,
    planned_taken numeric not null,
    changed integer not null,
    is_abandoned boolean not null,
    ended_at bigint,
    undo_by bigint,
    undo_at bigint,
    undo_changed integer not null,
    undone_at bigint
  );
  create index on price_repair (position);
  create table price_repair_sum (
    id text not null,
    part text not null,
    calls bigint not null,
    given numeric not null,
    taken numeric not null,
    primary key (id, part)
  ) with (fillfactor = 70);
`;

type Row = Selectable<PriceRepairTables['price_repair']>;

const orderer = (by: UserId | 'cli'): UserId | null => (by === 'cli' ? null : by);

const begun = (event: RepairOrdered, { stream, position, at }: Pick<Recorded, 'stream' | 'position' | 'at'>) => ({
  id: streamKey(stream) as RepairId,
  position,
  at,
  by_user: orderer(event.by),
  scope: event.scope,
  origin: event.right.origin,
  is_charging: event.isCharging,
  digest: event.digest,
  state: 'posting' as const,
  planned_calls: event.planned.calls,
  planned_given: BigInt(event.planned.given),
  planned_taken: BigInt(event.planned.taken),
  changed: 0,
  is_abandoned: false,
  ended_at: null,
  undo_by: null,
  undo_at: null,
  undo_changed: 0,
  undone_at: null,
});

/** What an event that is not its first changes of a repair. */
function changesBy({
  event,
  at,
}: Recorded<Exclude<RepairEvent, RepairOrdered>>): Updateable<PriceRepairTables['price_repair']> {
  switch (event.type) {
    case 'RepairEnded':
      return { state: 'posted', changed: event.changed, is_abandoned: event.isAbandoned, ended_at: at };
    case 'RepairUndoOrdered':
      return { state: 'undoing', undo_by: orderer(event.by), undo_at: at };
    case 'RepairUndoEnded':
      return { state: 'undone', undo_changed: event.changed, undone_at: at };
    default:
      return assertNever(event);
  }
}

export const priceRepairs = projection<RepairEvent | CallCorrected>({
  name: 'price_repairs',
  version: 1,
  purpose: 'showing',
  tables,
  interestedIn: {
    RepairOrdered: true,
    RepairEnded: true,
    RepairUndoOrdered: true,
    RepairUndoEnded: true,
    CallCorrected: true,
  },
  async project(tx, batch) {
    const sums = new Map<
      string,
      { id: RepairId; part: CallCorrected['part']; calls: number; given: bigint; taken: bigint }
    >();
    for (const recorded of batch) {
      const { event } = recorded;
      if (event.type === 'RepairOrdered') await putRows(tx, 'price_repair', ['id'], [begun(event, recorded)]);
      else if (event.type !== 'CallCorrected')
        await tx
          .updateTable('price_repair')
          .set(changesBy(recorded as Recorded<Exclude<RepairEvent, RepairOrdered>>))
          .where('id', '=', streamKey(recorded.stream) as RepairId)
          .execute();
      else {
        const { repair: id, part, from, to } = event;
        const sum = tallyOf(sums, `${id} ${part}`, () => ({ id, part, calls: 0, given: 0n, taken: 0n }));
        const more = BigInt(to.charged) - BigInt(from.charged);
        sum.calls += 1;
        if (more < 0n) sum.given -= more;
        else sum.taken += more;
      }
    }
    if (sums.size > 0) await addToRows(tx, 'price_repair_sum', ['id', 'part'], [...sums.values()]);
  },
});

/** What corrections of one part come to. */
interface RepairPartSums {
  readonly calls: number;
  readonly given: bigint;
  readonly taken: bigint;
}

export interface PriceRepairRow
  extends Omit<Row, 'planned_given' | 'planned_taken'>,
    Readonly<Record<'planned' | 'posted' | 'undone', RepairPartSums>> {}

interface StoredSum {
  readonly part: CallCorrected['part'];
  readonly calls: number;
  readonly given: string;
  readonly taken: string;
}

const none: RepairPartSums = { calls: 0, given: 0n, taken: 0n };

/** Newest first, those before a position; null: from the newest. */
export async function priceRepairRows(
  db: ReadModels,
  { before, limit }: { readonly before: Position | null; readonly limit: number },
): Promise<PriceRepairRow[]> {
  return rowsOf(db, before === null ? sql`true` : sql`position < ${before}`, limit);
}

export async function priceRepairRow(db: ReadModels, id: RepairId): Promise<PriceRepairRow | null> {
  return (await rowsOf(db, sql`id = ${id}`, 1))[0] ?? null;
}

async function rowsOf(db: ReadModels, where: ReturnType<typeof sql>, limit: number): Promise<PriceRepairRow[]> {
  const { rows } = await sql<Row & { given: string; taken: string; sums: StoredSum[] | null }>`
    select repair.*, planned_given::text as given, planned_taken::text as taken, (
      select json_agg(json_build_object('part', part, 'calls', calls, 'given', given::text, 'taken', taken::text))
      from price_repair_sum as sum where sum.id = repair.id
    ) as sums
    from price_repair as repair where ${where} order by position desc limit ${limit}
  `.execute(db);
  return rows.map(({ given, taken, sums, planned_given: _, planned_taken: __, ...row }) => {
    const sumOf = (part: CallCorrected['part']): RepairPartSums => {
      const found = (sums ?? []).find((sum) => sum.part === part);
      return found === undefined
        ? none
        : { calls: found.calls, given: BigInt(found.given), taken: BigInt(found.taken) };
    };
    const planned = { calls: row.planned_calls, given: BigInt(given), taken: BigInt(taken) };
    return { ...row, planned, posted: sumOf('post'), undone: sumOf('undo') };
  });
}
