import type { Selectable } from 'kysely';
import { sql } from 'kysely';
import type { Position, Recorded } from '../../../domain/events/events.js';
import { streamKey } from '../../../domain/events/events.js';
import type { ApiKeyId, ChannelId, UserId } from '../../../domain/kernel/ids.js';
import type { Instant } from '../../../domain/kernel/instant.js';
import {
  type MoneyEvent,
  type Movement,
  type MovementCause,
  moneyEvents,
  movementsOf,
} from '../../../domain/ledger/movements.js';
import type { ReadModels } from '../../database.js';
import type { ColumnValues } from '../../engine/column-arrays.js';
import { insertColumns, putRows } from '../../engine/multi-row.js';
import { projection } from '../../engine/projection.js';
import { type Sum, tallyOf } from '../../engine/tallies.js';

/*
 * Every movement of quota, with what its accounts hold after it. So a balance at any time is one row, found by an index,
 * and a page of the history needs no other page.
 */

/** In the table. Those of nearly all movements come first. */
export const causeNumbers = {
  reservation: 1,
  settlement: 2,
  release: 3,
  grant: 4,
  adjustment: 5,
  'top-up': 6,
  'top-up-return': 7,
  redemption: 8,
  'invite-reward': 9,
  'invite-transfer': 10,
  allowance: 11,
  suspense: 12,
  refund: 13,
  correction: 14,
} as const satisfies Record<MovementCause, number>;

/** From here on causes are rare, and have indexes of their own. */
export const firstRareCause = causeNumbers.grant;

interface MovementTable {
  position: Position;
  /** Of the movements of one event: 0, 1, … */
  part: number;
  /** Unix milliseconds. */
  at: Instant;
  cause: number;
  /** null: it is nobody's. */
  user_id: UserId | null;
  api_key_id: ApiKeyId | null;
  channel_id: ChannelId | null;
  /** The administrator who ordered it. */
  by_user: UserId | null;
  /** Call, payment, code or invited user, by the cause. */
  subject: string | null;
  /** What the user gets; negative: what is taken. */
  available: number;
  reserved: number;
  invites: number;
  /** What the API key may spend more; null: it has no part in this. */
  key_amount: number | null;
  /** What the channel has earned. */
  channel_amount: Sum;
  /** Of an adjustment the gift, else what is booked to suspense. */
  beside: Sum;
  available_after: Sum;
  reserved_after: Sum;
  invites_after: Sum;
  key_after: Sum;
  channel_after: Sum;
}

/** Whose balances are kept. */
export type HistoryOwner = 'user' | 'api-key' | 'channel';

export interface QuotaHistoryTables {
  quota_movement: MovementTable;
  /** What each account holds now. Of API keys and channels all is `available`. */
  quota_holding: {
    owner: HistoryOwner;
    id: number;
    available: Sum;
    reserved: Sum;
    invites: Sum;
  };
  /** By minutes since 1970: from where to where its movements lie, and which of them is the latest. */
  quota_minute: { minute: number; first: Position; until: Position; last: Position; last_at: Instant };
}

const tables = `
  create table quota_movement (
    position bigint not null,
    at bigint not null,
    user_id bigint,
    api_key_id bigint,
    channel_id bigint,
    by_user bigint,
    available bigint not null,
    reserved bigint not null,
    invites bigint not null,
    key_amount bigint,
    part smallint not null,
    cause smallint not null,
    subject text,
    channel_amount numeric not null,
    beside numeric not null,
    available_after numeric not null,
    reserved_after numeric not null,
    invites_after numeric not null,
    key_after numeric not null,
    channel_after numeric not null,
    primary key (position, part)
  );
  create index quota_movement_user on quota_movement (user_id, position) where user_id is not null;
  create index quota_movement_key on quota_movement (api_key_id, position) where api_key_id is not null;
  create index quota_movement_channel on quota_movement (channel_id, position) where channel_id is not null;
  create index quota_movement_user_rare on quota_movement (user_id, position) where cause >= ${firstRareCause};
  create index quota_movement_key_rare on quota_movement (api_key_id, position) where cause >= ${firstRareCause};
  create index quota_movement_channel_rare on quota_movement (channel_id, position) where cause >= ${firstRareCause};
  create table quota_holding (
    owner text not null,
    id bigint not null,
    available numeric not null,
    reserved numeric not null,
    invites numeric not null,
    primary key (owner, id)
  ) with (fillfactor = 70);
  create table quota_minute (
    minute bigint primary key,
    first bigint not null,
    until bigint not null,
    last bigint not null,
    last_at bigint not null
  );
`;

export const minuteMs = 60_000;

interface Holding {
  readonly owner: HistoryOwner;
  readonly id: number;
  available: bigint;
  reserved: bigint;
  invites: bigint;
}

type Holdings = Map<string, Holding>;

type Sums = 'channel_amount' | 'beside';
type After = 'available_after' | 'reserved_after' | 'invites_after' | 'key_after' | 'channel_after';

/** A movement as an event says it, before anything is known of balances. */
export type PlainMovement = Omit<Selectable<MovementTable>, Sums | After> & Readonly<Record<Sums, bigint>>;

type Row = PlainMovement & Readonly<Record<After, bigint>>;

const subjectOf = ({ event, stream }: Recorded): string | null => {
  switch (event.type) {
    case 'QuotaGranted':
    case 'QuotaAdjusted':
    case 'InviteRewardTransferred':
    case 'ApiKeyIssued':
    case 'ApiKeyEdited':
      return null;
    case 'InviteRewardEarned':
      return String(event.invitee);
    default:
      return streamKey(stream);
  }
};

const orderedBy = ({ event }: Recorded): UserId | null => {
  if (event.type === 'QuotaAdjusted') return event.by;
  return event.type === 'TopUpCompleted' && event.learned.by === 'hand' ? event.learned.user : null;
};

/** The channel that earned what a call pays, or cost what nobody does. */
const channelOf = ({ event }: Recorded, { cause }: Movement): ChannelId | null => {
  if (event.type === 'CallSettled') return event.channelId;
  if (event.type === 'CallRefunded' || event.type === 'CallCorrected') return event.settlement.channelId;
  return event.type === 'CallReleased' && cause === 'suspense' ? (event.attempts.at(-1) ?? null) : null;
};

/** What an event moves, in order. */
export const plainMovements = (recorded: Recorded): PlainMovement[] =>
  movementsOf(recorded).map((movement, part): PlainMovement => {
    const channel = channelOf(recorded, movement);
    const moved = { available: 0, reserved: 0, invites: 0 };
    let user: UserId | null = null;
    let apiKey: ApiKeyId | null = null;
    let keyAmount = 0;
    let revenue = 0n;
    let beside = 0n;
    for (const posting of movement.postings) {
      const amount = Number(posting.amount);
      switch (posting.owner) {
        case 'user':
          user = posting.id;
          moved[posting.part] += amount;
          break;
        case 'inviter':
          user = posting.id;
          moved.invites += amount;
          break;
        case 'api-key':
          apiKey = posting.id;
          keyAmount += amount;
          break;
        case 'house':
          if (posting.part === 'revenue') revenue += posting.amount;
          else if (posting.part === 'suspense') beside = posting.amount;
          else if (movement.cause === 'adjustment' && posting.part === 'grants') beside = -posting.amount;
      }
    }
    return {
      position: recorded.position,
      part,
      at: recorded.at,
      cause: causeNumbers[movement.cause],
      user_id: user,
      api_key_id: apiKey,
      channel_id: channel,
      by_user: orderedBy(recorded),
      subject: subjectOf(recorded),
      ...moved,
      key_amount: apiKey === null ? null : keyAmount,
      channel_amount: channel === null ? 0n : revenue,
      beside,
    };
  });

const keyOf = (owner: HistoryOwner, id: number): string => `${owner} ${id}`;

function ownersOf(movements: readonly PlainMovement[]): Holdings {
  const holdings: Holdings = new Map();
  const meet = (owner: HistoryOwner, id: number | null): void => {
    if (id === null) return;
    tallyOf(holdings, keyOf(owner, id), () => ({ owner, id, available: 0n, reserved: 0n, invites: 0n }));
  };
  for (const { user_id, api_key_id, channel_id } of movements) {
    meet('user', user_id);
    meet('api-key', api_key_id);
    meet('channel', channel_id);
  }
  return holdings;
}

/** Fills in what is held before these movements. */
async function readHoldings(tx: ReadModels, holdings: Holdings): Promise<void> {
  const wanted = [...holdings.values()].map(({ owner, id }) => ({ owner, id }));
  const { rows } = await sql<{ owner: HistoryOwner; id: number; available: string; reserved: string; invites: string }>`
    select owner, id, held.available::text, held.reserved::text, held.invites::text
    from json_to_recordset(${JSON.stringify(wanted)}::json) as wanted (owner text, id bigint)
    join quota_holding held using (owner, id)
  `.execute(tx);
  for (const row of rows) {
    const holding = holdings.get(keyOf(row.owner, row.id));
    if (holding === undefined) continue;
    holding.available = BigInt(row.available);
    holding.reserved = BigInt(row.reserved);
    holding.invites = BigInt(row.invites);
  }
}

/** The rows of these movements; the holdings are then those after them. */
function rowsOf(movements: readonly PlainMovement[], holdings: Holdings): Row[] {
  const held = (owner: HistoryOwner, id: number | null) => (id === null ? undefined : holdings.get(keyOf(owner, id)));
  return movements.map((movement) => {
    const user = held('user', movement.user_id);
    const apiKey = held('api-key', movement.api_key_id);
    const channel = held('channel', movement.channel_id);
    if (user !== undefined) {
      user.available += BigInt(movement.available);
      user.reserved += BigInt(movement.reserved);
      user.invites += BigInt(movement.invites);
    }
    if (apiKey !== undefined) apiKey.available += BigInt(movement.key_amount ?? 0);
    if (channel !== undefined) channel.available += movement.channel_amount;
    return {
      ...movement,
      available_after: user?.available ?? 0n,
      reserved_after: user?.reserved ?? 0n,
      invites_after: user?.invites ?? 0n,
      key_after: apiKey?.available ?? 0n,
      channel_after: channel?.available ?? 0n,
    };
  });
}

const columnTypes = {
  position: 'bigint',
  part: 'smallint',
  at: 'bigint',
  cause: 'smallint',
  user_id: 'bigint',
  api_key_id: 'bigint',
  channel_id: 'bigint',
  by_user: 'bigint',
  subject: 'text',
  available: 'bigint',
  reserved: 'bigint',
  invites: 'bigint',
  key_amount: 'bigint',
  channel_amount: 'numeric',
  beside: 'numeric',
  available_after: 'numeric',
  reserved_after: 'numeric',
  invites_after: 'numeric',
  key_after: 'numeric',
  channel_after: 'numeric',
} as const satisfies Record<keyof MovementTable, ColumnValues['type']>;

const columnsOf = (rows: readonly Row[]): ColumnValues[] =>
  (Object.keys(columnTypes) as (keyof Row)[]).map(
    // The kinds of values are those of the columns' types above.
    (column) => ({ column, type: columnTypes[column], values: rows.map((row) => row[column]) }) as ColumnValues,
  );

type Minute = {
  -readonly [Column in keyof QuotaHistoryTables['quota_minute']]: QuotaHistoryTables['quota_minute'][Column];
};

/** Of movements at the same time the last one is the latest. */
async function putMinutes(tx: ReadModels, rows: readonly Row[]): Promise<void> {
  const minutes = new Map<number, Minute>();
  for (const { at, position } of rows) {
    const minute = Math.floor(at / minuteMs);
    const first = () => ({ minute, first: position, until: position, last: position, last_at: at });
    const known = tallyOf(minutes, minute, first);
    known.until = position;
    if (at >= known.last_at) Object.assign(known, { last: position, last_at: at });
  }
  await sql`
    insert into quota_minute as known
    select * from json_populate_recordset(null::quota_minute, ${JSON.stringify([...minutes.values()])}::json)
    on conflict (minute) do update set
      until = excluded.until,
      last = case when excluded.last_at >= known.last_at then excluded.last else known.last end,
      last_at = greatest(excluded.last_at, known.last_at)
  `.execute(tx);
}

export const quotaHistory = projection<MoneyEvent>({
  name: 'quota_history',
  version: 1,
  purpose: 'showing',
  tables,
  interestedIn: moneyEvents,
  async project(tx, batch) {
    const movements = batch.flatMap(plainMovements);
    if (movements.length === 0) return;
    const holdings = ownersOf(movements);
    await readHoldings(tx, holdings);
    const rows = rowsOf(movements, holdings);
    await insertColumns(tx, 'quota_movement', columnsOf(rows));
    await putRows(tx, 'quota_holding', ['owner', 'id'], [...holdings.values()]);
    await putMinutes(tx, rows);
  },
});
