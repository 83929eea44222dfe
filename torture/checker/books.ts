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
}

const free = ({ given, charged, held }: Account): bigint => given - charged - held;
const missing = (left: bigint): bigint => (left < 0n ? -left : 0n);

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
  position = -1n;

  /** What is wrong with the events themselves: a gap, or a balance below its bound. */
  fold(events: readonly RawEvent[]): string[] {
    const problems: string[] = [];
    for (const event of events) {
      const last = this.revisions.get(event.stream) ?? -1;
      if (event.revision !== last + 1)
        problems.push(`${event.stream} goes from revision ${last} to ${event.revision} at ${event.position}`);
      this.revisions.set(event.stream, event.revision);
      this.position = event.position;
      problems.push(...this.takeWithinBounds(event));
    }
    return problems;
  }

  /** Says below what it may fall to the event has moved a balance. */
  private takeWithinBounds(event: RawEvent): string[] {
    const { type, position } = event;
    if (type !== 'CallSettled') {
      this.take(event);
      return [];
    }
    const { user, apiKey, recovered } = callEvent(event);
    const payer = this.user(user);
    const key = apiKey !== null && this.limited.has(apiKey) ? this.apiKey(apiKey) : null;
    const before = key === null ? 0n : missing(free(key));
    this.take(event);
    const problems: string[] = [];
    if (payer.given < payer.charged)
      problems.push(`the balance of user ${user} is ${payer.given - payer.charged} at ${position}`);
    if (key === null || apiKey === null) return problems;
    const overdrawn = (this.overdrawn.get(apiKey) ?? 0n) + (recovered ? missing(free(key)) - before : 0n);
    this.overdrawn.set(apiKey, overdrawn);
    if (key.given + overdrawn < key.charged)
      problems.push(`the allowance of API key ${apiKey} is ${key.given - key.charged} at ${position}`);
    return problems;
  }

  user(id: number): Account {
    const account = this.users.get(id) ?? { given: 0n, charged: 0n, held: 0n };
    this.users.set(id, account);
    return account;
  }

  apiKey(id: number): Account & { owner: number } {
    const account = this.apiKeys.get(id) ?? { given: 0n, charged: 0n, held: 0n, owner: 0 };
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
        this.user(Number(key)).given += delta;
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
