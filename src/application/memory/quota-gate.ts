import { CompactingMap } from '../../data-structures/compacting-map.js';
import { chargeWithin } from '../../domain/call/call-conclusion.js';
import { beginning, type Position, type Recorded, streamKey } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import { type ApiKeyId, CallId, type UserId } from '../../domain/kernel/ids.js';
import { nearestQuota, type Quota, zero } from '../../domain/kernel/quota.js';
import type { Day } from '../../domain/ledger/budget.js';
import type { Admission, Payers } from '../ports/quota-gate-ports.js';
import type { Clock, QuotaGate } from '../ports/storage-ports.js';
import {
  type AdmittedCall,
  apply,
  available,
  chargeable,
  hold,
  holdForeign,
  isSpent,
  type Moved,
  movedBy,
  owe,
  type QuotaAccount,
  quotaLimits,
  spend,
  unholdForeign,
} from './quota-accounts.js';
import type { TailConsumer } from './tail.js';

/*
 * Balances and holds of the accounts that matter to this node, folded from the log. An account's balance comes from the
 * tail alone; on top lie the holds of calls under way, which this node knows before the tail does.
 */

/** An account at one position of the log: its balance without holds, the holds, and what was spent of late. */
export interface QuotaSnapshot {
  readonly balance: bigint;
  /** Of an API key: the newest days with spending, as many as are remembered. Users have no budgets. */
  readonly spending: readonly (readonly [day: Day, quota: bigint])[];
  readonly holds: readonly { readonly callId: CallId; readonly quota: Quota }[];
  readonly position: Position;
}

export interface AccountSource {
  user(id: UserId): Promise<QuotaSnapshot>;
  apiKey(id: ApiKeyId): Promise<QuotaSnapshot>;
  /** Waits, bounded, until snapshots are at least this new; only spares reading the gap. */
  caughtUp(position: Position): Promise<unknown>;
  /** Every event after `after` up to and including `to`. */
  between(after: Position, to: Position): Promise<readonly Recorded[]>;
}

interface QuotaGateOptions {
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
export interface SpentKeys extends Pick<QuotaGate, 'isSpent' | 'isUserSpent'> {
  /** `tell`: of every key that is spent from now on, and of every one of which that would not be noticed any more. */
  onSpent(tell: (apiKeyId: ApiKeyId) => void): void;
}

export function openQuotaGate(
  source: AccountSource,
  { capacity, after, clock }: QuotaGateOptions,
): QuotaGate & Balances & SpentKeys & TailConsumer {
  const users = new Map<UserId, QuotaAccount>();
  const apiKeys = new Map<ApiKeyId, QuotaAccount>();
  const calls = new CompactingMap<CallId, AdmittedCall>();
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
    owe(call, zero);
    call.user.admitted--;
    if (call.apiKey !== null) call.apiKey.admitted--;
  };

  const tellOf = ({ owner, id }: QuotaAccount): void => {
    if (owner === 'api-key') tellSpent(id as ApiKeyId);
  };

  const makeRoom = <Id>(accounts: Map<Id, QuotaAccount>): void => {
    if (accounts.size < capacity) return;
    for (const [id, account] of accounts) {
      if (account.arrived !== null || account.admitted > 0 || account.foreign.size > 0) continue;
      accounts.delete(id);
      tellOf(account);
      return;
    }
  };

  const load = async <Id extends UserId | ApiKeyId>(
    accounts: Map<Id, QuotaAccount>,
    id: Id,
    account: QuotaAccount,
    snapshotOf: (id: Id) => Promise<QuotaSnapshot>,
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

  const opened = (owner: QuotaAccount['owner'], id: QuotaAccount['id']): QuotaAccount => ({
    owner,
    id,
    balance: 0n,
    held: 0n,
    due: 0n,
    withdrawn: 0n,
    budget: null,
    admitted: 0,
    foreign: new CompactingMap(),
    spending: new Map(),
    since: beginning,
    arrived: [],
    loading: Promise.resolve(),
  });

  /** The accounts in memory that an event moves. */
  const accountsIn = ({ movements }: Moved): readonly QuotaAccount[] => {
    const found: QuotaAccount[] = [];
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
    accounts: Map<Id, QuotaAccount>,
    owner: QuotaAccount['owner'],
    id: Id,
    snapshotOf: (id: Id) => Promise<QuotaSnapshot>,
  ): Promise<QuotaAccount> => {
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
  const userAccount = (id: UserId): Promise<QuotaAccount> => accountOf(users, 'user', id, source.user);
  const apiKeyAccount = (id: ApiKeyId): Promise<QuotaAccount> => accountOf(apiKeys, 'api-key', id, source.apiKey);

  const accounts = async ({ userId, apiKeyId }: Payers): Promise<[QuotaAccount, QuotaAccount | null]> => {
    for (;;) {
      const user = await userAccount(userId);
      const apiKey = apiKeyId === null ? null : await apiKeyAccount(apiKeyId);
      // Either may have been dropped to make room while the other was loading.
      if (users.get(userId) === user && (apiKeyId === null || apiKeys.get(apiKeyId) === apiKey)) return [user, apiKey];
    }
  };

  const begin = (call: AdmittedCall): void => {
    call.user.admitted++;
    if (call.apiKey !== null) call.apiKey.admitted++;
    calls.set(call.id, call);
  };

  const charge = (call: AdmittedCall, cost: Quota): Quota => {
    owe(call, zero);
    const charged = chargeWithin(cost, chargeable(call, clock.now()));
    owe(call, charged);
    if (charged > call.held) hold(call, charged);
    return charged;
  };

  return {
    async admit(request): Promise<Admission> {
      const [user, apiKey] = await accounts(request);
      // From here to the end nothing waits: check and hold are one step.
      const { callId, most, least, minOfKey, terms } = request;
      if (isOwn(callId)) throw new Failure('lost-race', { callId });
      const call: AdmittedCall = {
        id: callId,
        user,
        apiKey,
        limited: apiKey !== null && !terms.unlimited,
        budget: apiKey === null ? null : terms.budget,
        withdrawn: { user: user.withdrawn, apiKey: apiKey?.withdrawn ?? 0n },
        held: zero,
        due: zero,
      };
      const limits = quotaLimits(call, clock.now());
      const short = limits.find(
        ({ short, available }) => available <= 0 || available < (short === 'user' ? least : minOfKey),
      );
      if (short !== undefined) return { admitted: false, ...short };
      let granted = least > most ? least : most;
      for (const { available } of limits) if (available < granted) granted = available;
      hold(call, granted);
      if (apiKey !== null) apiKey.budget = call.budget;
      begin(call);
      return { admitted: true, granted };
    },

    extend(callId, quota) {
      const call = calls.get(callId);
      if (call === undefined) return false;
      const more = quota - call.held;
      if (more <= 0) return true;
      if (quotaLimits(call, clock.now()).some(({ available }) => available < more)) return false;
      hold(call, quota);
      return true;
    },

    charge(callId, cost) {
      const call = calls.get(callId);
      return call === undefined ? null : charge(call, cost);
    },

    async chargeLeft({ callId, userId, apiKeyId, reserved }, cost) {
      const [user, apiKey] = await accounts({ userId, apiKeyId });
      const own = calls.get(callId);
      if (own !== undefined) return charge(own, cost);
      // It has its outcome, and the tail has brought that; or will bring all of it.
      if (!user.foreign.has(callId)) return chargeWithin(cost, reserved);
      unholdForeign(user, callId);
      if (apiKey !== null) unholdForeign(apiKey, callId);
      const withdrawn = { user: user.withdrawn, apiKey: apiKey?.withdrawn ?? 0n };
      // Under which terms it was admitted nobody knows any more.
      const call = { id: callId, user, apiKey, limited: false, budget: null, withdrawn, held: zero, due: zero };
      hold(call, reserved);
      begin(call);
      return charge(call, cost);
    },

    settled(callId, charged) {
      const call = calls.get(callId);
      // The tail may have been faster: then the charge is in the balance already.
      if (call === undefined) return;
      hold(call, charged);
      owe(call, charged);
    },

    drop: leave,

    isSpent: async (apiKeyId) => isSpent(await apiKeyAccount(apiKeyId)),
    isUserSpent: async (userId) => isSpent(await userAccount(userId)),
    onSpent(tell) {
      tellSpent = tell;
    },
    async remaining(apiKeyId) {
      const { balance, held } = await apiKeyAccount(apiKeyId);
      return nearestQuota(balance - held);
    },
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
