import { type Selectable, sql } from 'kysely';
import type { ChannelEvent } from '../../domain/channel/channel.js';
import { type ChannelChange, type ChannelChangeKind, channelChangeIn } from '../../domain/channel/channel-change.js';
import { type ChannelFieldChange, channelFieldChanges, type EditedParts } from '../../domain/channel/channel-edits.js';
import { type Position, type Recorded, streamKey } from '../../domain/events/events.js';
import { ChannelId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';
import type { ReadModels } from '../database.js';
import { insertRows, putRows } from '../engine/multi-row.js';
import { projection } from '../engine/projection.js';

/* What became of each channel: who changed what, when it was switched and why, how it did in tests. No secret is in it. */

/** What one may want to see alone. */
export type ChannelHistoryPart = 'switched' | 'changed' | 'tested' | 'balance';

const parts: Readonly<Record<ChannelChangeKind, ChannelHistoryPart>> = {
  added: 'changed',
  edited: 'changed',
  removed: 'changed',
  enabled: 'switched',
  disabled: 'switched',
  tested: 'tested',
  'balance-told': 'balance',
};

/** What machines see again and again; of each channel only the newest are kept. People's doings all are. */
const observed = ['tested', 'balance'] as const satisfies readonly ChannelHistoryPart[];
export const maxObservations = 1_000;

export interface ChannelHistoryTables {
  channel_change: {
    position: Position;
    channel_id: ChannelId;
    /** Unix milliseconds. */
    at: Instant;
    kind: ChannelChangeKind;
    part: ChannelHistoryPart;
    /** How the channel was called then. */
    name: string;
    by_user: ChannelChange['by'];
    automatic: boolean | null;
    reason: string | null;
    ok: boolean | null;
    response_time_ms: number | null;
    balance: string | null;
    /** null: it was never reported before, or this is not about the balance. */
    balance_before: string | null;
    /** null: no edit. */
    fields: readonly ChannelFieldChange[] | null;
  };
  /** What the next change is compared with, and how its last test ended: each channel there is, as of its last event. */
  channel_as_it_was: {
    channel_id: ChannelId;
    name: string;
    balance: string | null;
    /** Why its last test failed; null: it passed, or there was none. */
    test_error: string | null;
    parts: EditedParts;
  };
}

const tables = `
  create table channel_change (
    position bigint primary key,
    channel_id bigint not null,
    at bigint not null,
    response_time_ms bigint,
    by_user bigint,
    kind text not null,
    part text not null,
    name text not null,
    automatic boolean,
    ok boolean,
    reason text,
    balance text,
    balance_before text,
    fields json
  );
  create index on channel_change (channel_id, part, position);
  create index on channel_change (channel_id, position);
  create index on channel_change (part, position);

  create table channel_as_it_was (
    channel_id bigint primary key,
    name text not null,
    balance text,
    test_error text,
    parts json
  ) with (fillfactor = 70);
`;

export type ChannelChangeRow = Selectable<ChannelHistoryTables['channel_change']>;
type Known = Omit<Selectable<ChannelHistoryTables['channel_as_it_was']>, 'parts'> & {
  /** null: not read, since nothing in this batch is compared with it. */
  readonly parts: EditedParts | null;
};

export const channelHistory = projection<ChannelEvent>({
  name: 'channel_history',
  version: 1,
  purpose: 'showing',
  tables,
  interestedIn: {
    ChannelAdded: true,
    ChannelEdited: true,
    ChannelEnabled: true,
    ChannelDisabled: true,
    ChannelTested: true,
    ChannelBalanceObserved: true,
    ChannelRemoved: true,
  },
  async project(tx, batch) {
    const known = await knownBefore(tx, batch);
    const rows: ChannelChangeRow[] = [];
    for (const recorded of batch) {
      const id = ChannelId(streamKey(recorded.stream));
      const row = rowOf(known.get(id), recorded);
      if (row !== null) rows.push(row);
      const after = knownAfter(known.get(id), id, recorded.event);
      if (after === undefined) known.delete(id);
      else known.set(id, after);
    }
    await insertRows(tx, 'channel_change', rows);
    await keep(tx, batch, known);
    await forgetOldObservations(tx, rows);
  },
});

const idsOf = (batch: readonly Recorded<ChannelEvent>[]): ChannelId[] => [
  ...new Set(batch.map(({ stream }) => ChannelId(streamKey(stream)))),
];

/** Settings are long, and most events are tests: they are read only where they are compared. */
async function knownBefore(tx: ReadModels, batch: readonly Recorded<ChannelEvent>[]): Promise<Map<ChannelId, Known>> {
  const edited = idsOf(batch.filter(({ event }) => event.type === 'ChannelEdited'));
  const known = await tx
    .selectFrom('channel_as_it_was')
    .select(['channel_id', 'name', 'balance', 'test_error'])
    .select(sql<EditedParts | null>`case when channel_id = any(${edited}::bigint[]) then parts end`.as('parts'))
    .where('channel_id', 'in', idsOf(batch))
    .execute();
  return new Map(known.map((one) => [one.channel_id, one]));
}

function knownAfter(before: Known | undefined, id: ChannelId, event: ChannelEvent): Known | undefined {
  switch (event.type) {
    case 'ChannelAdded':
    case 'ChannelEdited': {
      const { settings, secrets } = event;
      const { balance = null, test_error = null } = before ?? {};
      return { channel_id: id, name: settings.name, balance, test_error, parts: { settings, secrets } };
    }
    case 'ChannelTested':
      return before && { ...before, test_error: event.ok ? null : (event.error ?? '') };
    case 'ChannelBalanceObserved':
      return before && { ...before, balance: event.balance };
    case 'ChannelRemoved':
      return undefined;
    default:
      return before;
  }
}

/** null: nothing that is worth a line. */
function rowOf(before: Known | undefined, recorded: Recorded<ChannelEvent>): ChannelChangeRow | null {
  const { event } = recorded;
  const change = channelChangeIn(recorded);
  if (change === null) return null;
  if (event.type === 'ChannelBalanceObserved' && event.balance === before?.balance) return null;
  const { position, channelId, at, kind, by, automatic, reason, ok, responseTimeMs, balance } = change;
  return {
    position,
    channel_id: channelId,
    at,
    kind,
    part: parts[kind],
    name: 'settings' in event ? event.settings.name : (before?.name ?? ''),
    by_user: by,
    automatic,
    reason,
    ok,
    response_time_ms: responseTimeMs === null ? null : Math.round(responseTimeMs),
    balance,
    balance_before: balance === null ? null : (before?.balance ?? null),
    fields: event.type === 'ChannelEdited' && before?.parts ? channelFieldChanges(before.parts, event) : null,
  };
}

async function keep(
  tx: ReadModels,
  batch: readonly Recorded<ChannelEvent>[],
  known: ReadonlyMap<ChannelId, Known>,
): Promise<void> {
  const removed = idsOf(batch).filter((id) => !known.has(id));
  if (removed.length > 0) await tx.deleteFrom('channel_as_it_was').where('channel_id', 'in', removed).execute();
  const rows = idsOf(batch).flatMap((id) => known.get(id) ?? []);
  const isCompared = (row: Known): row is Known & { parts: EditedParts } => row.parts !== null;
  await putRows(tx, 'channel_as_it_was', ['channel_id'], rows.filter(isCompared));
  // Parts that were not read stay as they are.
  const others = rows.filter((row) => !isCompared(row)).map(({ parts: _, ...row }) => row);
  await putRows(tx, 'channel_as_it_was', ['channel_id'], others);
}

/** By number, not by age: what remains does not depend on where batches end. */
async function forgetOldObservations(tx: ReadModels, rows: readonly ChannelChangeRow[]): Promise<void> {
  for (const part of observed) {
    const channels = [...new Set(rows.filter((row) => row.part === part).map(({ channel_id }) => channel_id))];
    if (channels.length === 0) continue;
    await sql`
      delete from channel_change as old
      using (
        select channel.id, (
          select newer.position from channel_change as newer
          where newer.channel_id = channel.id and newer.part = ${part}
          order by newer.position desc offset ${maxObservations} limit 1
        ) as last
        from unnest(${channels}::bigint[]) as channel (id)
      ) as beyond
      where old.channel_id = beyond.id and old.part = ${part} and old.position <= beyond.last
    `.execute(tx);
  }
}

interface ChannelHistoryRange {
  /** null: of all channels. */
  readonly channelId: ChannelId | null;
  /** null: all of them. */
  readonly part: ChannelHistoryPart | null;
  /** Only what is older than this; null: from the newest. */
  readonly before: Position | null;
  readonly max: number;
}

/** Newest first. */
export function channelChanges(
  db: ReadModels,
  { channelId, part, before, max }: ChannelHistoryRange,
): Promise<ChannelChangeRow[]> {
  let found = db.selectFrom('channel_change').selectAll();
  if (channelId !== null) found = found.where('channel_id', '=', channelId);
  if (part !== null) found = found.where('part', '=', part);
  if (before !== null) found = found.where('position', '<', before);
  return found.orderBy('position', 'desc').limit(max).execute();
}

/** Why the last test of each failed; those that passed it, or were never tested, are left out. */
export async function testErrors(db: ReadModels, ids: readonly ChannelId[]): Promise<ReadonlyMap<ChannelId, string>> {
  const failed = await db
    .selectFrom('channel_as_it_was')
    .select(['channel_id', 'test_error'])
    .where('channel_id', 'in', ids)
    .where('test_error', 'is not', null)
    .execute();
  return new Map(failed.map(({ channel_id, test_error }) => [channel_id, test_error ?? '']));
}
