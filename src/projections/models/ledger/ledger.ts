import { type Insertable, type Selectable, sql } from 'kysely';
import type { CallReserved } from '../../../domain/call/call.js';
import { type Position, type Recorded, streamKey } from '../../../domain/events/events.js';
import { type ApiKeyId, CallId, type UserId } from '../../../domain/kernel/ids.js';
import { type Instant, unixSeconds } from '../../../domain/kernel/instant.js';
import type { Quota } from '../../../domain/kernel/quota.js';
import { type Day, spendingDayOf } from '../../../domain/ledger/budget.js';
import {
  type HouseAccount,
  type MoneyEvent,
  type Movement,
  type MovementCause,
  moneyEvents,
  movementsOf,
  type Posting,
  type WalletPart,
} from '../../../domain/ledger/movements.js';
import { addToRows, insertRows } from '../../engine/multi-row.js';
import { projection } from '../../engine/projection.js';
import { type Sum, tallyOf } from '../../engine/tallies.js';

/*
 * Every quota movement as postings between accounts that sum to zero. Balances are kept; the postings themselves only
 * where the usage log does not hold them already, that is for everything but settled calls.
 */

export type Account = `user:${number}:${WalletPart | 'invites'}` | HouseAccount;

export const availableOf = (user: UserId): Account => `user:${user}:available`;
export const reservedOf = (user: UserId): Account => `user:${user}:reserved`;
/** What the user has earned by inviting others and not transferred. */
export const invitesOf = (user: UserId): Account => `user:${user}:invites`;

type AccountsOfUser = Readonly<Record<WalletPart | 'invites', Account>>;

const accountsOf = (user: UserId): AccountsOfUser => ({
  available: availableOf(user),
  reserved: reservedOf(user),
  invites: invitesOf(user),
});

export interface LedgerTables {
  ledger_balance: { account: Account; balance: Sum<Quota> };
  ledger_posting: {
    position: Position;
    account: Account;
    amount: Sum<Quota>;
    kind:
      | 'grant'
      | 'adjustment'
      | 'top-up'
      | 'top-up-return'
      | 'redemption'
      | 'invite-reward'
      | 'invite-transfer'
      | 'suspense'
      | 'refund'
      | 'correction';
    /** Unix seconds. */
    created_at: number;
  };
  /** What API keys may still spend, reservations of calls in flight not deducted. A memo beside the double entry. */
  api_key_balance: { api_key_id: ApiKeyId; balance: Sum<Quota> };
  /** What calls by API keys have cost, by the day they count for: budgets are sums of them. */
  api_key_spending: { api_key_id: ApiKeyId; day: Day; spent: Sum<Quota> };
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
  create table api_key_spending (
    api_key_id bigint not null,
    day integer not null,
    spent numeric not null,
    primary key (api_key_id, day)
  ) with (fillfactor = 70);
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

/** What a batch changes. */
interface Changes {
  readonly balances: Map<Account, bigint>;
  /** Of users that have been met: their names are not put together for each posting. */
  readonly accounts: Map<UserId, AccountsOfUser>;
  readonly apiKeys: Map<ApiKeyId, bigint>;
  readonly spending: Map<ApiKeyId, Map<Day, bigint>>;
  readonly postings: PostingRow[];
  readonly opened: Map<CallId, OpenCallRow>;
  /** Calls of earlier batches that have their outcome. */
  readonly closed: CallId[];
}

/** Why a posting is kept here; null: the usage log has it. */
const kept: Readonly<Record<MovementCause, PostingRow['kind'] | null>> = {
  grant: 'grant',
  adjustment: 'adjustment',
  'top-up': 'top-up',
  'top-up-return': 'top-up-return',
  redemption: 'redemption',
  'invite-reward': 'invite-reward',
  'invite-transfer': 'invite-transfer',
  allowance: null,
  reservation: null,
  settlement: null,
  release: null,
  suspense: 'suspense',
  refund: 'refund',
  correction: 'correction',
};

export const ledger = projection<MoneyEvent>({
  name: 'ledger',
  version: 3,
  purpose: 'deciding',
  tables,
  interestedIn: moneyEvents,
  async project(tx, batch) {
    const changes: Changes = {
      balances: new Map(),
      accounts: new Map(),
      apiKeys: new Map(),
      spending: new Map(),
      postings: [],
      opened: new Map(),
      closed: [],
    };
    for (const recorded of batch) {
      for (const movement of movementsOf(recorded)) book(changes, recorded, movement);
      follow(changes, recorded);
    }
    const { balances, apiKeys, spending, postings, opened, closed } = changes;
    const changed = [...balances].map(([account, balance]) => ({ account, balance }));
    const allowed = [...apiKeys].map(([id, balance]) => ({ api_key_id: id, balance }));
    const spent = [...spending].flatMap(([id, days]) =>
      [...days].map(([day, quota]) => ({ api_key_id: id, day, spent: quota })),
    );
    await addToRows(tx, 'ledger_balance', ['account'], changed);
    await addToRows(tx, 'api_key_balance', ['api_key_id'], allowed);
    await addToRows(tx, 'api_key_spending', ['api_key_id', 'day'], spent);
    await insertRows(tx, 'ledger_posting', postings);
    if (closed.length > 0) await sql`delete from open_call where call_id = any(${closed}::text[])`.execute(tx);
    await insertRows(tx, 'open_call', [...opened.values()]);
    const last = batch.at(-1);
    if (last !== undefined) await tx.updateTable('ledger_position').set({ position: last.position }).execute();
  },
});

const plus = <Key>(sums: Map<Key, bigint>, key: Key, amount: bigint): void => {
  sums.set(key, (sums.get(key) ?? 0n) + amount);
};

const noDays = (): Map<Day, bigint> => new Map();

function accountOf({ accounts }: Changes, posting: Exclude<Posting, { owner: 'api-key' }>): Account {
  if (posting.owner === 'house') return posting.part;
  const own = tallyOf(accounts, posting.id, accountsOf);
  return posting.owner === 'inviter' ? own.invites : own[posting.part];
}

/** Changes balances, and keeps the postings that are to be kept. */
function book(changes: Changes, { position, at }: Recorded, movement: Movement): void {
  const { balances, apiKeys, spending, postings } = changes;
  const kind = kept[movement.cause];
  const day = spendingDayOf(movement, at);
  for (const posting of movement.postings) {
    const { amount } = posting;
    // What a key may still spend leaves reservations out: it is what both parts are together.
    if (posting.owner === 'api-key') {
      plus(apiKeys, posting.id, amount);
      if (day !== null) plus(tallyOf(spending, posting.id, noDays), day, -amount);
    } else {
      const account = accountOf(changes, posting);
      plus(balances, account, amount);
      if (kind !== null && amount !== 0n)
        postings.push({ position, account, amount, kind, created_at: unixSeconds(at) });
    }
  }
}

/** Which calls are under way. */
function follow({ opened, closed }: Changes, { event, stream, position, at }: Recorded<MoneyEvent>): void {
  switch (event.type) {
    case 'CallReserved': {
      const callId = CallId(streamKey(stream));
      const { userId, apiKeyId } = event.facts;
      opened.set(callId, {
        call_id: callId,
        user_id: userId,
        api_key_id: apiKeyId,
        reserved: event.reserved,
        position,
        since: at,
        reservation: event,
      });
      return;
    }
    case 'CallSettled':
    case 'CallReleased': {
      const callId = CallId(streamKey(stream));
      // Most calls end in the batch they began in and never touch the table.
      if (!opened.delete(callId)) closed.push(callId);
      return;
    }
    default:
  }
}
