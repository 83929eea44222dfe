import { CompactingMap } from '../../data-structures/compacting-map.js';
import { beginning, type Position, type Recorded } from '../../domain/events/events.js';
import type { ApiKeyId, CallId, UserId } from '../../domain/kernel/ids.js';
import type { Quota } from '../../domain/kernel/quota.js';
import type { Day } from '../../domain/ledger/budget.js';
import type { Payers } from '../ports/quota-gate-ports.js';
import { apply, isSpent, type Moved, movedBy, type QuotaAccount, reserveForeign, spend } from './quota-accounts.js';

/*
 * The accounts that the quota gate keeps in memory: loaded when they are first asked for, kept current by the tail,
 * dropped to make room. A balance comes from the log alone; what this gate reserves for its calls lies on top of it.
 */

/**
 * An account at one position of the log: its balance without reservations, the reservations, and what was spent of
 * late.
 */
export interface QuotaSnapshot {
  readonly balance: bigint;
  /** Of an API key: the newest days with spending, as many as are remembered. Users have no budgets. */
  readonly spending: readonly (readonly [day: Day, quota: bigint])[];
  readonly reservations: readonly { readonly callId: CallId; readonly quota: Quota }[];
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

interface CacheOptions {
  /** Accounts kept in memory, of users and API keys each; those with a call in flight are never dropped. */
  readonly capacity: number;
  /** Where the tail starts. */
  readonly after: Position;
}

type AccountId = UserId | ApiKeyId;

const emptyAccount = (owner: QuotaAccount['owner'], id: AccountId): QuotaAccount => ({
  owner,
  id,
  balance: 0n,
  reserved: 0n,
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

export class QuotaAccountCache {
  private readonly users = new Map<UserId, QuotaAccount>();
  private readonly apiKeys = new Map<ApiKeyId, QuotaAccount>();
  private tail: Position;
  private notifySpent: (apiKeyId: ApiKeyId) => void = () => {};

  constructor(
    private readonly source: AccountSource,
    private readonly options: CacheOptions,
  ) {
    this.tail = options.after;
  }

  /** `listener` gets every key that is spent from now on, and of every one of which that would not be noticed any more. */
  onSpent(listener: (apiKeyId: ApiKeyId) => void): void {
    this.notifySpent = listener;
  }

  user(id: UserId): Promise<QuotaAccount> {
    return this.accountOf(this.users, 'user', id, this.source.user);
  }

  apiKey(id: ApiKeyId): Promise<QuotaAccount> {
    return this.accountOf(this.apiKeys, 'api-key', id, this.source.apiKey);
  }

  /** Both at once: neither has been dropped when this resolves. */
  async payers({ userId, apiKeyId }: Payers): Promise<[user: QuotaAccount, apiKey: QuotaAccount | null]> {
    for (;;) {
      const user = await this.user(userId);
      const apiKey = apiKeyId === null ? null : await this.apiKey(apiKeyId);
      // Either may have been dropped to make room while the other was loading.
      if (this.users.get(userId) === user && (apiKeyId === null || this.apiKeys.get(apiKeyId) === apiKey))
        return [user, apiKey];
    }
  }

  /** What an event of the tail moves. */
  apply(moved: Moved): void {
    for (const account of this.accountsIn(moved)) {
      if (account.arrived !== null) {
        account.arrived.push(moved);
        continue;
      }
      const wasSpent = isSpent(account);
      apply(account, moved);
      if (!wasSpent && isSpent(account)) this.notifyIfApiKey(account);
    }
  }

  /** The tail has handed over everything up to there. */
  reached(position: Position): void {
    this.tail = position;
  }

  /** The account in memory, or one that is opened there; with all that the log says of it. */
  private async accountOf<Id extends AccountId>(
    accounts: Map<Id, QuotaAccount>,
    owner: QuotaAccount['owner'],
    id: Id,
    snapshotOf: (id: Id) => Promise<QuotaSnapshot>,
  ): Promise<QuotaAccount> {
    let account = accounts.get(id);
    if (account === undefined) {
      this.makeRoom(accounts);
      account = emptyAccount(owner, id);
      accounts.set(id, account);
      account.loading = this.load(accounts, id, account, snapshotOf);
    }
    if (account.arrived !== null) await account.loading;
    return account;
  }

  private async load<Id extends AccountId>(
    accounts: Map<Id, QuotaAccount>,
    id: Id,
    account: QuotaAccount,
    snapshotOf: (id: Id) => Promise<QuotaSnapshot>,
  ): Promise<void> {
    const { source, tail: from } = this;
    try {
      // Everything up to `from` must come from the snapshot or the gap, everything later comes by the tail.
      await source.caughtUp(from);
      const { balance, spending, reservations, position } = await snapshotOf(id);
      account.balance = balance;
      for (const [day, quota] of spending) spend(account, day, quota);
      for (const { callId, quota } of reservations) reserveForeign(account, callId, quota);
      account.since = position;
      const gap = position < from ? await source.between(position, from) : [];
      for (const recorded of gap) apply(account, movedBy(recorded));
      for (const moved of account.arrived ?? []) apply(account, moved);
      account.arrived = null;
    } catch (error) {
      accounts.delete(id);
      throw error;
    }
  }

  private makeRoom<Id>(accounts: Map<Id, QuotaAccount>): void {
    if (accounts.size < this.options.capacity) return;
    for (const [id, account] of accounts) {
      if (account.arrived !== null || account.admitted > 0 || account.foreign.size > 0) continue;
      accounts.delete(id);
      this.notifyIfApiKey(account);
      return;
    }
  }

  /** The accounts in memory that an event moves. */
  private accountsIn({ movements }: Moved): readonly QuotaAccount[] {
    const found: QuotaAccount[] = [];
    for (const { postings } of movements) {
      for (const posting of postings) {
        if (posting.owner === 'house' || posting.owner === 'inviter') continue;
        const account = posting.owner === 'user' ? this.users.get(posting.id) : this.apiKeys.get(posting.id);
        if (account !== undefined && !found.includes(account)) found.push(account);
      }
    }
    return found;
  }

  private notifyIfApiKey({ owner, id }: QuotaAccount): void {
    if (owner === 'api-key') this.notifySpent(id as ApiKeyId);
  }
}
