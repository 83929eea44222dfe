import { BriefMap } from '../../collections/brief-map.js';
import { type Budget, type Day, daysRemembered, endOf, periodAt, spendingDayOf, spentOn } from '../../domain/budget.js';
import { beginning, type Position, type Recorded, streamKey } from '../../domain/events.js';
import { Failure } from '../../domain/failure.js';
import { type ApiKeyId, CallId, type UserId } from '../../domain/ids.js';
import type { Instant } from '../../domain/instant.js';
import { type Movement, type Posting, readableMovementsOf } from '../../domain/movements.js';
import { nearestQuota, Quota, zero } from '../../domain/quota.js';
import type { Clock, QuotaGate } from '../ports.js';
import type { Admission, AdmissionRequest, Shortage } from '../quota-gate-ports.js';
import type { TailConsumer } from './tail.js';

/*
 * Balances and holds of the accounts that matter to this node, folded from the log. An account's balance comes from the
 * tail alone; on top lie the holds of calls under way, which this node knows before the tail does.
 */

/** An account at one position of the log: its balance without holds, the holds, and what was spent of late. */
export interface AccountSnapshot {
  readonly balance: bigint;
  /** Of an API key: the newest days with spending, as many as are remembered. Users have no budgets. */
  readonly spending: readonly (readonly [day: Day, quota: bigint])[];
  readonly holds: readonly { readonly callId: CallId; readonly quota: Quota }[];
  readonly position: Position;
}

export interface AccountSource {
  user(id: UserId): Promise<AccountSnapshot>;
  apiKey(id: ApiKeyId): Promise<AccountSnapshot>;
  /** Waits, bounded, until snapshots are at least this new; only spares reading the gap. */
  caughtUp(position: Position): Promise<unknown>;
  /** Every event after `after` up to and including `to`. */
  between(after: Position, to: Position): Promise<readonly Recorded[]>;
}

/** What an event moves, where in the log it stands, and when it was recorded. */
interface Moved {
  readonly position: Position;
  readonly at: Instant;
  readonly movements: readonly Movement[];
}

interface Account {
  readonly owner: 'user' | 'api-key';
  readonly id: UserId | ApiKeyId;
  /** Sums are bigint: no amount that somebody manages to record may stop the tail, which cannot refuse it. */
  balance: bigint;
  /** For all calls under way. */
  held: bigint;
  /** How many of these this gate has admitted. */
  admitted: number;
  /** What is held for all others: for calls of another node, or of one that has ended. */
  readonly foreign: BriefMap<CallId, Quota>;
  /** What calls have cost, by the day it counts for. */
  readonly spending: Map<Day, bigint>;
  /** What the account already contains: the tail may be behind the snapshot. */
  since: Position;
  /** Tail events that came while the snapshot was being read; null once the account is ready. */
  arrived: Moved[] | null;
  loading: Promise<void>;
}

/** Of an account that the gate keeps. */
type Moving = Extract<Posting, { owner: Account['owner'] }>;

const isOf = ({ owner, id }: Account, posting: Posting): posting is Moving =>
  posting.owner === owner && posting.id === id;

const available = ({ balance, held }: Account): Quota => nearestQuota(balance - held);

const isSpent = ({ balance }: Account): boolean => balance <= 0n;

function holdForeign(account: Account, callId: CallId, quota: Quota): void {
  account.held += BigInt(quota);
  account.foreign.set(callId, quota);
}

function unholdForeign(account: Account, callId: CallId): void {
  const held = account.foreign.get(callId);
  if (held === undefined) return;
  account.held -= BigInt(held);
  account.foreign.delete(callId);
}

function spend({ spending }: Account, day: Day, amount: bigint): void {
  spending.set(day, (spending.get(day) ?? 0n) + amount);
  if (spending.size > daysRemembered) spending.delete(Math.min(...spending.keys()));
}

const movedBy = (recorded: Recorded): Moved => ({
  position: recorded.position,
  at: recorded.at,
  movements: readableMovementsOf(recorded),
});

/** Who pays for a call, and what its API key's terms were when it was admitted. */
interface AdmittedCall {
  readonly id: CallId;
  readonly user: Account;
  readonly apiKey: Account | null;
  /** The API key may spend no more than what it has. */
  readonly limited: boolean;
  readonly budget: Budget | null;
  /** On each of its accounts. */
  held: Quota;
}

function hold(call: AdmittedCall, quota: Quota): void {
  const more = BigInt(quota - call.held);
  call.held = quota;
  call.user.held += more;
  if (call.apiKey !== null) call.apiKey.held += more;
}

/** One event's effect on the account, if it has any. What is held for a call that this gate has admitted it holds itself. */
function apply(account: Account, { position, at, movements }: Moved): void {
  if (position <= account.since) return;
  for (const movement of movements) {
    const { cause, call, postings } = movement;
    const day = account.owner === 'api-key' ? spendingDayOf(movement, at) : null;
    for (const posting of postings) {
      if (!isOf(account, posting)) continue;
      // Both parts together: holds lie on top.
      account.balance += posting.amount;
      if (day !== null) spend(account, day, -posting.amount);
      if (cause === 'reservation' && call !== null && posting.part === 'reserved' && !account.foreign.has(call))
        holdForeign(account, call, Quota(Number(posting.amount)));
    }
    if (call !== null && (cause === 'settlement' || cause === 'release')) unholdForeign(account, call);
  }
}

/** What a budget leaves to be held. All holds of now count in the present period: they may well be settled in it. */
function budgetLeft({ held, spending }: Account, budget: Budget, now: Instant): Shortage {
  const period = periodAt(budget.period, now);
  const left = nearestQuota(BigInt(budget.quota) - spentOn(period, spending) - held);
  const resetsAt = endOf(period);
  return { short: 'budget', available: left, budget, resetsAt, resetsInMs: resetsAt - now };
}

/** All that limits what a call may hold, in the order in which callers are told of it. */
function limitsOf({ user, apiKey, limited, budget }: AdmittedCall, now: Instant): readonly Shortage[] {
  const limits: Shortage[] = [];
  if (apiKey !== null && limited) limits.push({ short: 'api-key', available: available(apiKey) });
  if (apiKey !== null && budget !== null) limits.push(budgetLeft(apiKey, budget, now));
  limits.push({ short: 'user', available: available(user) });
  return limits;
}

export interface QuotaGateOptions {
  /** Accounts kept in memory; those with a call under way are never dropped. */
  readonly capacity: number;
  /** Where the tail starts. */
  readonly after: Position;
  /** Tells when budgets begin anew. */
  readonly clock: Clock;
}

/** What a user has, holds included: what calls under way may cost is not spent. */
export interface Balances {
  balance(userId: UserId): Promise<Quota>;
}

/** Who remembers that a key is not spent has to be told when it may be. */
export interface SpentKeys extends Pick<QuotaGate, 'isSpent'> {
  /** `tell`: of every key that is spent from now on, and of every one of which that would not be noticed any more. */
  onSpent(tell: (apiKeyId: ApiKeyId) => void): void;
}

export function openQuotaGate(
  source: AccountSource,
  { capacity, after, clock }: QuotaGateOptions,
): QuotaGate & Balances & SpentKeys & TailConsumer {
  const users = new Map<UserId, Account>();
  const apiKeys = new Map<ApiKeyId, Account>();
  const calls = new BriefMap<CallId, AdmittedCall>();
  let tail: Position = after;
  let tellSpent: (apiKeyId: ApiKeyId) => void = () => {};

  const isOwn = (callId: CallId): boolean => calls.has(callId);
  /**
   * A reservation changes no balance, and what it holds for a call of this gate is held already: it may have been raised
   * since, and the echo must not lower it. Accounts being read have no such calls.
   */
  const isKnown = ({ event, stream }: Recorded): boolean =>
    event.type === 'CallReserved' && isOwn(CallId(streamKey(stream)));

  /** Nothing is held for it any more. */
  const leave = (callId: CallId): void => {
    const call = calls.get(callId);
    if (call === undefined) return;
    // By the very text it is known by: another one would be compared with it once more.
    calls.delete(call.id);
    hold(call, zero);
    call.user.admitted--;
    if (call.apiKey !== null) call.apiKey.admitted--;
  };

  const tellOf = ({ owner, id }: Account): void => {
    if (owner === 'api-key') tellSpent(id as ApiKeyId);
  };

  const makeRoom = <Id>(accounts: Map<Id, Account>): void => {
    if (accounts.size < capacity) return;
    for (const [id, account] of accounts) {
      if (account.arrived !== null || account.admitted > 0 || account.foreign.size > 0) continue;
      accounts.delete(id);
      tellOf(account);
      return;
    }
  };

  const load = async <Id extends UserId | ApiKeyId>(
    accounts: Map<Id, Account>,
    id: Id,
    account: Account,
    snapshotOf: (id: Id) => Promise<AccountSnapshot>,
  ): Promise<void> => {
    try {
      // Everything up to `from` must come from the snapshot or the gap, everything later comes by the tail.
      const from = tail;
      await source.caughtUp(from);
      const { balance, spending, holds, position } = await snapshotOf(id);
      account.balance = balance;
      for (const [day, quota] of spending) spend(account, day, quota);
      for (const { callId, quota } of holds) holdForeign(account, callId, quota);
      account.since = position;
      const gap = position < from ? await source.between(position, from) : [];
      for (const recorded of gap) apply(account, movedBy(recorded));
      for (const moved of account.arrived ?? []) apply(account, moved);
      account.arrived = null;
    } catch (error) {
      accounts.delete(id);
      throw error;
    }
  };

  const opened = (owner: Account['owner'], id: Account['id']): Account => ({
    owner,
    id,
    balance: 0n,
    held: 0n,
    admitted: 0,
    foreign: new BriefMap(),
    spending: new Map(),
    since: beginning,
    arrived: [],
    loading: Promise.resolve(),
  });

  /** The accounts in memory that an event moves. */
  const accountsIn = ({ movements }: Moved): readonly Account[] => {
    const found: Account[] = [];
    for (const { postings } of movements) {
      for (const posting of postings) {
        if (posting.owner === 'house' || posting.owner === 'inviter') continue;
        const account = posting.owner === 'user' ? users.get(posting.id) : apiKeys.get(posting.id);
        if (account !== undefined && !found.includes(account)) found.push(account);
      }
    }
    return found;
  };

  /** The account in memory, or one that is opened there; with all that the log says of it. */
  const accountOf = async <Id extends UserId | ApiKeyId>(
    accounts: Map<Id, Account>,
    owner: Account['owner'],
    id: Id,
    snapshotOf: (id: Id) => Promise<AccountSnapshot>,
  ): Promise<Account> => {
    let account = accounts.get(id);
    if (account === undefined) {
      makeRoom(accounts);
      account = opened(owner, id);
      accounts.set(id, account);
      account.loading = load(accounts, id, account, snapshotOf);
    }
    if (account.arrived !== null) await account.loading;
    return account;
  };
  const userAccount = (id: UserId): Promise<Account> => accountOf(users, 'user', id, source.user);
  const apiKeyAccount = (id: ApiKeyId): Promise<Account> => accountOf(apiKeys, 'api-key', id, source.apiKey);

  const accounts = async ({ userId, apiKeyId }: AdmissionRequest): Promise<[Account, Account | null]> => {
    for (;;) {
      const user = await userAccount(userId);
      const apiKey = apiKeyId === null ? null : await apiKeyAccount(apiKeyId);
      // Either may have been dropped to make room while the other was loading.
      if (users.get(userId) === user && (apiKeyId === null || apiKeys.get(apiKeyId) === apiKey)) return [user, apiKey];
    }
  };

  return {
    async admit(request): Promise<Admission> {
      const [user, apiKey] = await accounts(request);
      // From here to the end nothing waits: check and hold are one step.
      const { callId, most, least, terms } = request;
      if (isOwn(callId)) throw new Failure('lost-race', { callId });
      const call: AdmittedCall = {
        id: callId,
        user,
        apiKey,
        limited: apiKey !== null && !terms.unlimited,
        budget: apiKey === null ? null : terms.budget,
        held: zero,
      };
      const limits = limitsOf(call, clock.now());
      const short = limits.find(({ available }) => available <= 0 || available < least);
      if (short !== undefined) return { admitted: false, ...short };
      let granted = least > most ? least : most;
      for (const { available } of limits) if (available < granted) granted = available;
      hold(call, granted);
      user.admitted++;
      if (apiKey !== null) apiKey.admitted++;
      calls.set(callId, call);
      return { admitted: true, granted };
    },

    extend(callId, quota) {
      const call = calls.get(callId);
      if (call === undefined) return false;
      const more = quota - call.held;
      if (more <= 0) return true;
      if (limitsOf(call, clock.now()).some(({ available }) => available < more)) return false;
      hold(call, quota);
      return true;
    },

    cover(callId, quota) {
      const call = calls.get(callId);
      if (call === undefined) return zero;
      const more = Math.min(quota - call.held, available(call.user));
      if (more > 0) hold(call, Quota(call.held + more));
      return call.held;
    },

    settled(callId, charged) {
      const call = calls.get(callId);
      // The tail may have been faster: then the charge is in the balance already.
      if (call !== undefined) hold(call, charged);
    },

    drop: leave,

    isSpent: async (apiKeyId) => isSpent(await apiKeyAccount(apiKeyId)),
    onSpent(tell) {
      tellSpent = tell;
    },
    remaining: async (apiKeyId) => available(await apiKeyAccount(apiKeyId)),
    available: async (userId) => available(await userAccount(userId)),
    balance: async (userId) => nearestQuota((await userAccount(userId)).balance),

    take(batch) {
      for (const recorded of batch) {
        if (isKnown(recorded)) continue;
        const moved = movedBy(recorded);
        for (const account of accountsIn(moved)) {
          if (account.arrived !== null) {
            account.arrived.push(moved);
            continue;
          }
          const wasSpent = isSpent(account);
          apply(account, moved);
          if (!wasSpent && isSpent(account)) tellOf(account);
        }
        for (const { cause, call } of moved.movements)
          if (call !== null && (cause === 'settlement' || cause === 'release')) leave(call);
      }
      tail = batch.at(-1)?.position ?? tail;
    },
  };
}
