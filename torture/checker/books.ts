import { type CallEventRead, callEvent, membersOf, quotaIn, type RawEvent } from './raw-events.js';

/* The books as the checker keeps them: every balance summed from raw events, and what is said of each call. */

export interface CallStory {
  readonly model: string;
  reserved: CallEventRead | null;
  readonly settled: CallEventRead[];
  readonly released: CallEventRead[];
  readonly refunded: CallEventRead[];
}

interface Account {
  given: bigint;
  charged: bigint;
  /** Of calls without an outcome. */
  held: bigint;
  /**
   * What others had reserved and may miss: charged beyond reservations, or taken away by an order. As of the fold under
   * way, and of the one before it: an event may come that late, and a fold ends when all calls have.
   */
  taken: bigint;
  takenBefore: bigint;
}

const opened = (): Account => ({ given: 0n, charged: 0n, held: 0n, taken: 0n, takenBefore: 0n });
export const owned = ({ given, charged }: Account): bigint => given - charged;
const free = (account: Account): bigint => owned(account) - account.held;
const missing = (left: bigint): bigint => (left < 0n ? -left : 0n);
const takenFrom = ({ taken, takenBefore }: Account): bigint => taken + takenBefore;

export type HouseAccount = 'revenue' | 'grants' | 'adjustments' | 'codes' | 'suspense' | 'payments';

export class Books {
  readonly users = new Map<number, Account>();
  readonly apiKeys = new Map<number, Account & { owner: number }>();
  readonly house: Record<HouseAccount, bigint> = {
    ...{ revenue: 0n, grants: 0n, adjustments: 0n },
    ...{ codes: 0n, suspense: 0n, payments: 0n },
  };
  /** By request id. */
  readonly calls = new Map<string, CallStory>();
  /** Credits by the stream of their code or order. */
  readonly credits = new Map<string, { readonly user: number; readonly quota: bigint }[]>();
  /** Keys with a limit: others may go below nothing. */
  private readonly limited = new Set<number>();
  /** By how much recovery has overdrawn them: what it charges is bounded by balances alone. */
  private readonly overdrawn = new Map<number, bigint>();
  private revisions = new Map<string, number>();
  /** By user: what complete answers within their reservations cost and nobody has paid, in the fold under way. */
  private unpaid = new Map<number, { quota: bigint; readonly keys: Set<number> }>();
  /** Whose calls recovery has concluded, in the fold under way: what had been decided of them died with their process. */
  private lost = new Set<number>();
  position = -1n;

  /** What is wrong with the events themselves: a gap, a balance below its bound, or more reserved than there was. */
  fold(events: readonly RawEvent[]): string[] {
    const problems: string[] = [];
    this.unpaid = new Map();
    this.lost = new Set();
    for (const account of [...this.users.values(), ...this.apiKeys.values()]) {
      account.takenBefore = account.taken;
      account.taken = 0n;
    }
    for (const event of events) {
      const last = this.revisions.get(event.stream) ?? -1;
      if (event.revision !== last + 1)
        problems.push(`${event.stream} goes from revision ${last} to ${event.revision} at ${event.position}`);
      this.revisions.set(event.stream, event.revision);
      this.position = event.position;
      problems.push(...this.takeWithinBounds(event));
    }
    return [...problems, ...this.unpaidWithinReservations()];
  }

  /** Says below what it may fall to the event has moved a balance. */
  private takeWithinBounds(event: RawEvent): string[] {
    if (event.type === 'CallReserved') return this.takeReservation(event);
    if (event.type === 'CallSettled') return this.takeSettlement(event);
    if (event.type === 'CallReleased') this.takeRelease(event);
    else this.take(event);
    return [];
  }

  private limitedKey(apiKey: number | null): Account | null {
    return apiKey !== null && this.limited.has(apiKey) ? this.apiKey(apiKey) : null;
  }

  /**
   * A reservation is made of what is free. The log has it later: by then a call may have been charged more than was
   * reserved for it, so what is missing is at most that.
   */
  private takeReservation(event: RawEvent): string[] {
    const { user, apiKey, reserved } = callEvent(event);
    this.take(event);
    if (reserved === 0n) return [];
    const problems: string[] = [];
    const { position } = event;
    const expect = (who: string, account: Account, overdrawn = 0n): void => {
      const much = -free(account) - overdrawn - takenFrom(account);
      if (much > 0n) problems.push(`${who} has reserved ${much} more than was free at ${position}`);
    };
    expect(`user ${user}`, this.user(user));
    const key = this.limitedKey(apiKey);
    if (key !== null) expect(`API key ${apiKey}`, key, this.overdrawn.get(apiKey ?? 0));
    return problems;
  }

  /** A settlement that was given up had been decided, and nobody else was charged what it was to take. */
  private takeRelease(event: RawEvent): void {
    const { user, apiKey, recovered, withheld, reserved, suspense } = callEvent(event);
    this.take(event);
    const beyond = withheld && suspense > reserved ? suspense - reserved : 0n;
    const key = this.limitedKey(apiKey);
    for (const account of key === null ? [this.user(user)] : [this.user(user), key]) account.taken += beyond;
    if (recovered) this.lost.add(user);
  }

  private takeSettlement(event: RawEvent): string[] {
    const { user, apiKey, recovered, reserved, charged, uncovered } = callEvent(event);
    const { position } = event;
    const payer = this.user(user);
    const key = this.limitedKey(apiKey);
    const before = key === null ? 0n : missing(owned(key));
    this.take(event);
    const beyond = charged > reserved ? charged - reserved : 0n;
    for (const account of key === null ? [payer] : [payer, key]) account.taken += beyond;
    if (recovered) this.lost.add(user);
    if (uncovered > 0n && charged + uncovered <= reserved) {
      const unpaid = this.unpaid.get(user) ?? { quota: 0n, keys: new Set() };
      unpaid.quota += uncovered;
      if (key !== null && apiKey !== null) unpaid.keys.add(apiKey);
      this.unpaid.set(user, unpaid);
    }
    const problems: string[] = [];
    if (owned(payer) < 0n) problems.push(`the balance of user ${user} is ${owned(payer)} at ${position}`);
    if (key === null || apiKey === null) return problems;
    // What has been decided of other calls, and is to be written, may have been there before its charge.
    const drawn = key.held > 0n ? charged : missing(owned(key)) - before;
    const overdrawn = (this.overdrawn.get(apiKey) ?? 0n) + (recovered ? drawn : 0n);
    this.overdrawn.set(apiKey, overdrawn);
    if (owned(key) + overdrawn < 0n)
      problems.push(`the allowance of API key ${apiKey} is ${owned(key)} at ${position}`);
    return problems;
  }

  /** What is reserved is there for its call, but for what calls that cost more have taken of it. */
  private unpaidWithinReservations(): string[] {
    const problems: string[] = [];
    for (const [user, { quota, keys }] of this.unpaid) {
      if (this.lost.has(user)) continue;
      let taken = takenFrom(this.user(user));
      for (const key of keys) taken += takenFrom(this.apiKey(key)) + (this.overdrawn.get(key) ?? 0n);
      if (quota > taken)
        problems.push(`${quota - taken} of what user ${user} has used within reservations is not covered`);
    }
    return problems;
  }

  user(id: number): Account {
    const account = this.users.get(id) ?? opened();
    this.users.set(id, account);
    return account;
  }

  apiKey(id: number): Account & { owner: number } {
    const account = this.apiKeys.get(id) ?? { ...opened(), owner: 0 };
    this.apiKeys.set(id, account);
    return account;
  }

  private take(event: RawEvent): void {
    const key = event.stream.slice(event.stream.indexOf('-') + 1);
    switch (event.type) {
      case 'QuotaGranted': {
        const quota = quotaIn(membersOf(event), 'quota');
        this.user(Number(key)).given += quota;
        this.house.grants -= quota;
        return;
      }
      case 'QuotaAdjusted': {
        const members = membersOf(event);
        const [delta, gift] = [quotaIn(members, 'delta'), quotaIn(members, 'gift')];
        const account = this.user(Number(key));
        account.given += delta;
        account.taken += missing(delta);
        this.house.adjustments += gift - delta;
        this.house.grants -= gift;
        return;
      }
      case 'RedemptionCodeRedeemed':
        this.credit(event, 'codes');
        return;
      case 'TopUpCompleted':
        this.credit(event, 'payments');
        return;
      case 'ApiKeyIssued': {
        const members = membersOf(event);
        const account = this.apiKey(Number(key));
        account.given += quotaIn(members, 'quota');
        account.owner = Number(members.owner);
        if ((members.terms as Record<string, unknown>).unlimited !== true) this.limited.add(Number(key));
        return;
      }
      default:
        if (event.type.startsWith('Call') && event.stream.startsWith('call-')) this.takeCall(event, key);
    }
  }

  private credit(event: RawEvent, from: 'codes' | 'payments'): void {
    const members = membersOf(event);
    const [user, quota] = [Number(members.user), quotaIn(members, 'quota')];
    this.user(user).given += quota;
    this.house[from] -= quota;
    this.credits.set(event.stream, [...(this.credits.get(event.stream) ?? []), { user, quota }]);
  }

  private takeCall(event: RawEvent, id: string): void {
    if (event.type === 'CallRefused') return;
    const read = callEvent(event);
    const story = this.calls.get(id) ?? {
      ...{ model: read.model, reserved: null },
      ...{ settled: [], released: [], refunded: [] },
    };
    this.calls.set(id, story);
    const accounts: Account[] = [this.user(read.user), ...(read.apiKey === null ? [] : [this.apiKey(read.apiKey)])];
    const move = (held: bigint, charged: bigint): void => {
      for (const account of accounts) {
        account.held += held;
        account.charged += charged;
      }
      this.house.revenue += charged;
    };
    const unpaid = (quota: bigint): void => {
      this.house.suspense += quota;
      this.house.revenue -= quota;
    };
    if (event.type === 'CallReserved') {
      story.reserved = read;
      move(read.reserved, 0n);
    } else if (event.type === 'CallSettled') {
      story.settled.push(read);
      move(-read.reserved, read.charged);
      unpaid(read.suspense + read.uncovered);
    } else if (event.type === 'CallReleased') {
      story.released.push(read);
      move(-read.reserved, 0n);
      unpaid(read.suspense);
    } else if (event.type === 'CallRefunded') {
      story.refunded.push(read);
      move(0n, -read.charged);
      unpaid(read.suspense);
    }
  }
}

/** Not taken back. */
export const isCharged = ({ settled, refunded }: CallStory): boolean => settled.length > refunded.length;
