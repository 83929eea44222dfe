import { type Insertable, type Selectable, sql } from 'kysely';
import type { ApiKeyEvent } from '../domain/api-key.js';
import type { CallEvent, CallRefunded, CallReleased, CallReserved, CallSettled } from '../domain/call.js';
import { type Position, type Recorded, streamKey } from '../domain/events.js';
import { assertNever } from '../domain/failure.js';
import { ApiKeyId, CallId, UserId } from '../domain/ids.js';
import { type Instant, unixSeconds } from '../domain/instant.js';
import type { Quota } from '../domain/quota.js';
import type { UserEvent } from '../domain/user.js';
import { addToRows, insertRows } from './multi-row.js';
import { projection } from './projection.js';
import type { Sum } from './tallies.js';

/*
 * Every quota movement as postings between accounts that sum to zero. Balances are kept; the postings themselves only
 * where the usage log does not hold them already, that is for everything but settled calls.
 */

export type Account =
  | `user:${number}:available`
  | `user:${number}:reserved`
  | 'revenue'
  | 'grants'
  | 'adjustments'
  | 'suspense';

export const availableOf = (user: UserId): Account => `user:${user}:available`;
export const reservedOf = (user: UserId): Account => `user:${user}:reserved`;

export interface LedgerTables {
  ledger_balance: { account: Account; balance: Sum<Quota> };
  ledger_posting: {
    position: Position;
    account: Account;
    amount: Sum<Quota>;
    kind: 'grant' | 'adjustment' | 'suspense' | 'refund';
    /** Unix seconds. */
    created_at: number;
  };
  /** What API keys may still spend, holds of calls under way not deducted. A memo beside the double entry. */
  api_key_balance: { api_key_id: ApiKeyId; balance: Sum<Quota> };
  /** Reservations without an outcome. */
  open_call: {
    call_id: CallId;
    user_id: UserId;
    api_key_id: ApiKeyId | null;
    reserved: Quota;
    position: Position;
    /** Unix milliseconds. */
    since: Instant;
    reservation: CallReserved;
  };
  /** One row: the position of the last event folded. */
  ledger_position: { position: Position };
}

type OpenCallRow = Selectable<LedgerTables['open_call']>;
type PostingRow = Insertable<LedgerTables['ledger_posting']>;

const tables = `
  create table ledger_balance (account text primary key, balance numeric not null) with (fillfactor = 70);
  create table ledger_posting (
    position bigint not null,
    account text not null,
    amount numeric not null,
    kind text not null,
    created_at bigint not null,
    primary key (position, account)
  );
  create index ledger_posting_account on ledger_posting (account, position);
  create table api_key_balance (api_key_id bigint primary key, balance numeric not null) with (fillfactor = 70);
  create table open_call (
    call_id text primary key,
    user_id bigint not null,
    api_key_id bigint,
    reserved bigint not null,
    position bigint not null,
    since bigint not null,
    reservation json not null
  );
  create index open_call_user on open_call (user_id);
  create index open_call_api_key on open_call (api_key_id);
  create index open_call_since on open_call (since);
  create table ledger_position (position bigint not null);
  insert into ledger_position values (-1);
`;

type QuotaEvent = Extract<UserEvent, { type: 'QuotaGranted' | 'QuotaAdjusted' }>;
type LedgerEvent = QuotaEvent | Extract<ApiKeyEvent, { type: 'ApiKeyIssued' | 'ApiKeyEdited' }> | CallEvent;

/** What a batch changes. */
interface Movements {
  readonly balances: Map<Account, bigint>;
  readonly apiKeys: Map<ApiKeyId, bigint>;
  readonly postings: PostingRow[];
  readonly opened: Map<CallId, OpenCallRow>;
  /** Calls of earlier batches that have their outcome. */
  readonly closed: CallId[];
}

export const ledger = projection<LedgerEvent>({
  name: 'ledger',
  version: 2,
  tables,
  interestedIn: {
    QuotaGranted: true,
    QuotaAdjusted: true,
    ApiKeyIssued: true,
    ApiKeyEdited: true,
    CallReserved: true,
    CallSettled: true,
    CallReleased: true,
    CallRefunded: true,
  },
  async project(tx, batch) {
    const movements: Movements = {
      balances: new Map(),
      apiKeys: new Map(),
      postings: [],
      opened: new Map(),
      closed: [],
    };
    for (const recorded of batch) move(movements, recorded);
    const { balances, apiKeys, postings, opened, closed } = movements;
    const changed = [...balances].map(([account, balance]) => ({ account, balance }));
    const allowed = [...apiKeys].map(([id, balance]) => ({ api_key_id: id, balance }));
    await addToRows(tx, 'ledger_balance', ['account'], changed);
    await addToRows(tx, 'api_key_balance', ['api_key_id'], allowed);
    await insertRows(tx, 'ledger_posting', postings);
    if (closed.length > 0) await sql`delete from open_call where call_id = any(${closed}::text[])`.execute(tx);
    await insertRows(tx, 'open_call', [...opened.values()]);
    const last = batch.at(-1);
    if (last !== undefined) await tx.updateTable('ledger_position').set({ position: last.position }).execute();
  },
});

function move(movements: Movements, recorded: Recorded<LedgerEvent>): void {
  const { event, stream } = recorded;
  switch (event.type) {
    case 'QuotaGranted':
      book(movements, recorded, 'grant', [
        [availableOf(UserId(streamKey(stream))), BigInt(event.quota)],
        ['grants', -BigInt(event.quota)],
      ]);
      return;
    case 'QuotaAdjusted':
      book(movements, recorded, 'adjustment', [
        [availableOf(UserId(streamKey(stream))), BigInt(event.delta)],
        ['adjustments', BigInt(event.gift) - BigInt(event.delta)],
        ['grants', -BigInt(event.gift)],
      ]);
      return;
    case 'ApiKeyIssued':
      allow(movements, ApiKeyId(streamKey(stream)), BigInt(event.quota));
      return;
    case 'ApiKeyEdited':
      allow(movements, ApiKeyId(streamKey(stream)), BigInt(event.quotaDelta));
      return;
    case 'CallReserved':
      reserve(movements, recorded as Recorded<CallReserved>);
      return;
    case 'CallSettled':
    case 'CallReleased':
      close(movements, recorded as Recorded<CallSettled | CallReleased>);
      return;
    case 'CallRefunded':
      refund(movements, recorded as Recorded<CallRefunded>);
      return;
    default:
      assertNever(event);
  }
}

function post({ balances }: Movements, account: Account, amount: bigint): void {
  balances.set(account, (balances.get(account) ?? 0n) + amount);
}

function allow({ apiKeys }: Movements, id: ApiKeyId, quota: bigint): void {
  apiKeys.set(id, (apiKeys.get(id) ?? 0n) + quota);
}

/** Posts, and keeps the postings. */
function book(
  movements: Movements,
  { position, at }: Recorded,
  kind: PostingRow['kind'],
  entries: readonly (readonly [Account, bigint])[],
): void {
  for (const [account, amount] of entries) {
    if (amount === 0n) continue;
    post(movements, account, amount);
    movements.postings.push({ position, account, amount, kind, created_at: unixSeconds(at) });
  }
}

function reserve(movements: Movements, { event, stream, position, at }: Recorded<CallReserved>): void {
  const { userId, apiKeyId } = event.facts;
  const reserved = BigInt(event.reserved);
  post(movements, availableOf(userId), -reserved);
  post(movements, reservedOf(userId), reserved);
  const callId = CallId(streamKey(stream));
  movements.opened.set(callId, {
    call_id: callId,
    user_id: userId,
    api_key_id: apiKeyId,
    reserved: event.reserved,
    position,
    since: at,
    reservation: event,
  });
}

function close(movements: Movements, recorded: Recorded<CallSettled | CallReleased>): void {
  const { event, stream } = recorded;
  const { userId, apiKeyId } = event.facts;
  const reserved = BigInt(event.reserved);
  const charged = event.type === 'CallSettled' ? BigInt(event.charged) : 0n;
  post(movements, reservedOf(userId), -reserved);
  // Beyond the hold only as far as the user had something left; the rest of the cost is in suspense.
  post(movements, availableOf(userId), reserved - charged);
  post(movements, 'revenue', charged);
  if (apiKeyId !== null) allow(movements, apiKeyId, -charged);
  const unpaid = BigInt(event.suspense) + (event.type === 'CallSettled' ? BigInt(event.uncovered) : 0n);
  if (unpaid !== 0n)
    book(movements, recorded, 'suspense', [
      ['suspense', unpaid],
      ['revenue', -unpaid],
    ]);
  const callId = CallId(streamKey(stream));
  // Most calls end in the batch they began in and never touch the table.
  if (!movements.opened.delete(callId)) movements.closed.push(callId);
}

/** The charge goes back where it came from; of the reservation nothing is left to move. */
function refund(movements: Movements, recorded: Recorded<CallRefunded>): void {
  const { facts, settlement } = recorded.event;
  const [charged, suspense] = [BigInt(settlement.charged), BigInt(recorded.event.suspense)];
  book(movements, recorded, 'refund', [
    [availableOf(facts.userId), charged],
    ['suspense', suspense],
    ['revenue', -(charged + suspense)],
  ]);
  if (facts.apiKeyId !== null) allow(movements, facts.apiKeyId, charged);
}
