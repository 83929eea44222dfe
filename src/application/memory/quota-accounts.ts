import type { CompactingMap } from '../../data-structures/compacting-map.js';
import type { Position, Recorded } from '../../domain/events/events.js';
import type { ApiKeyId, CallId, UserId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';
import { nearestQuota, Quota } from '../../domain/kernel/quota.js';
import {
  type Budget,
  type Day,
  daysRemembered,
  endOf,
  periodAt,
  spendingDayOf,
  spentOn,
} from '../../domain/ledger/budget.js';
import { type Movement, type Posting, readableMovementsOf } from '../../domain/ledger/movements.js';
import type { Shortage } from '../ports/quota-gate-ports.js';

/*
 * An account as the quota gate keeps it: what there is, what is reserved of it for calls, and what each of them can be
 * charged.
 */

/** What an event moves, where in the log it stands, and when it was recorded. */
export interface Moved {
  readonly position: Position;
  readonly at: Instant;
  readonly movements: readonly Movement[];
}

export interface QuotaAccount {
  readonly owner: 'user' | 'api-key';
  readonly id: UserId | ApiKeyId;
  /** Sums are bigint: no amount that somebody manages to record may stop the tail, which cannot refuse it. */
  balance: bigint;
  /** For all calls under way. */
  reserved: bigint;
  /** What calls are charged by settlements that the balance does not contain yet; part of what is reserved for them. */
  due: bigint;
  /** All that was ever taken away but by calls: edits, adjustments, money that went back. Only grows. */
  withdrawn: bigint;
  /** Of an API key: the budget of its newest call. */
  budget: Budget | null;
  /** How many of these this gate has admitted. */
  admitted: number;
  /** What is reserved for all others: for calls of another node, or of one that has ended. */
  readonly foreign: CompactingMap<CallId, Quota>;
  /** What calls have cost, by the day it counts for. */
  readonly spending: Map<Day, bigint>;
  /** What the account already contains: the tail may be behind the snapshot. */
  since: Position;
  /** Tail events that came while the snapshot was being read; null once the account is ready. */
  arrived: Moved[] | null;
  loading: Promise<void>;
}

/** Of an account that the gate keeps. */
type Moving = Extract<Posting, { owner: QuotaAccount['owner'] }>;

const isOf = ({ owner, id }: QuotaAccount, posting: Posting): posting is Moving =>
  posting.owner === owner && posting.id === id;

const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/**
 * Reservations may exceed the balance, where an expensive call has taken what others reserved: then nothing is left.
 */
export const available = ({ balance, reserved, due }: QuotaAccount): Quota =>
  nearestQuota(max(balance - reserved, min(balance - due, 0n)));

export const isSpent = ({ balance }: QuotaAccount): boolean => balance <= 0n;

export function reserveForeign(account: QuotaAccount, callId: CallId, quota: Quota): void {
  account.reserved += BigInt(quota);
  account.foreign.set(callId, quota);
}

export function releaseForeign(account: QuotaAccount, callId: CallId): void {
  const reserved = account.foreign.get(callId);
  if (reserved === undefined) return;
  account.reserved -= BigInt(reserved);
  account.foreign.delete(callId);
}

export function spend({ spending }: QuotaAccount, day: Day, amount: bigint): void {
  spending.set(day, (spending.get(day) ?? 0n) + amount);
  if (spending.size > daysRemembered) spending.delete(Math.min(...spending.keys()));
}

export const movedBy = (recorded: Recorded): Moved => ({
  position: recorded.position,
  at: recorded.at,
  movements: readableMovementsOf(recorded),
});

/** Who pays for a call, and what its API key's terms were when it was admitted. */
export interface AdmittedCall {
  readonly id: CallId;
  readonly user: QuotaAccount;
  readonly apiKey: QuotaAccount | null;
  /** The API key may spend no more than what it has. */
  readonly limited: boolean;
  readonly budget: Budget | null;
  /** What had been withdrawn from its accounts when it was admitted. */
  readonly withdrawn: { readonly user: bigint; readonly apiKey: bigint };
  /** On each of its accounts. */
  reserved: Quota;
  /** Of that, what it is charged; zero until that is decided. */
  due: Quota;
  /** Its outcome is durable: what it is charged is not decided again. */
  concluded: boolean;
}

export function setReserved(call: AdmittedCall, quota: Quota): void {
  const more = BigInt(quota - call.reserved);
  call.reserved = quota;
  call.user.reserved += more;
  if (call.apiKey !== null) call.apiKey.reserved += more;
}

export function owe(call: AdmittedCall, quota: Quota): void {
  const more = BigInt(quota - call.due);
  call.due = quota;
  call.user.due += more;
  if (call.apiKey !== null) call.apiKey.due += more;
}

/**
 * One event's effect on the account, if it has any. What is reserved for a call that this gate has admitted it keeps
 * itself.
 */
export function apply(account: QuotaAccount, { position, at, movements }: Moved): void {
  if (position <= account.since) return;
  for (const movement of movements) {
    const { cause, call, postings } = movement;
    const day = account.owner === 'api-key' ? spendingDayOf(movement, at) : null;
    for (const posting of postings) {
      if (!isOf(account, posting)) continue;
      // Both parts together: reservations lie on top.
      account.balance += posting.amount;
      if (call === null && posting.amount < 0n) account.withdrawn -= posting.amount;
      if (day !== null) spend(account, day, -posting.amount);
      if (cause === 'reservation' && call !== null && posting.part === 'reserved' && !account.foreign.has(call))
        reserveForeign(account, call, Quota(Number(posting.amount)));
    }
    if (call !== null && (cause === 'settlement' || cause === 'release')) releaseForeign(account, call);
  }
}

/**
 * What a budget leaves to be reserved. All present reservations count in the present period: they may well be settled
 * in it.
 */
function budgetLeft({ reserved, spending }: QuotaAccount, budget: Budget, now: Instant): Shortage {
  const period = periodAt(budget.period, now);
  const left = nearestQuota(max(BigInt(budget.quota) - spentOn(period, spending) - reserved, 0n));
  const resetsAt = endOf(period);
  return { short: 'budget', available: left, budget, resetsAt, resetsInMs: resetsAt - now };
}

/** All that limits what a call may reserve, in the order in which refusals name it. */
export function quotaLimits({ user, apiKey, limited, budget }: AdmittedCall, now: Instant): readonly Shortage[] {
  const limits: Shortage[] = [];
  if (apiKey !== null && limited) limits.push({ short: 'api-key', available: available(apiKey) });
  if (apiKey !== null && budget !== null) limits.push(budgetLeft(apiKey, budget, now));
  limits.push({ short: 'user', available: available(user) });
  return limits;
}

/**
 * What is there for a call to be charged, whatever others reserve. Who takes from an account meanwhile takes it from no
 * call.
 */
const roomOf = ({ balance, due, withdrawn }: QuotaAccount, before: bigint): bigint =>
  balance - due + (withdrawn - before);

/** The same of what a budget leaves. An owner who changes it while calls are under way pays by the larger one. */
function roomInBudget({ apiKey, budget }: AdmittedCall, now: Instant): bigint | null {
  if (apiKey === null || budget === null || apiKey.budget === null) return null;
  const roomBy = ({ quota, period }: Budget): bigint =>
    BigInt(quota) - spentOn(periodAt(period, now), apiKey.spending) - apiKey.due;
  return max(roomBy(budget), roomBy(apiKey.budget));
}

/** The most that a call can be charged. */
export function chargeable(call: AdmittedCall, now: Instant): Quota {
  const { user, apiKey, limited, withdrawn } = call;
  let room = roomOf(user, withdrawn.user);
  if (apiKey !== null && limited) room = min(room, roomOf(apiKey, withdrawn.apiKey));
  const ofBudget = roomInBudget(call, now);
  if (ofBudget !== null) room = min(room, ofBudget);
  return nearestQuota(max(room, 0n));
}
