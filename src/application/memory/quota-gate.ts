import { type Position, type Recorded, streamKey } from '../../domain/events/events.js';
import { type ApiKeyId, CallId, type UserId } from '../../domain/kernel/ids.js';
import { nearestQuota, type Quota } from '../../domain/kernel/quota.js';
import type { Clock, QuotaGate } from '../ports/storage-ports.js';
import { type AccountSource, QuotaAccountCache } from './quota-account-cache.js';
import { available, isSpent, movedBy } from './quota-accounts.js';
import {
  type AdmissionState,
  admitCall,
  chargeCall,
  chargeLeftCall,
  clearReservation,
  extendReservation,
  noAdmissions,
  reserveCharge,
} from './quota-admission.js';
import type { TailConsumer } from './tail.js';

/*
 * The quota gate of one process: accounts in memory, folded from the log, and on top the reservations of calls in
 * flight, which this gate knows before the tail does. Each method decides without waiting once it has the accounts.
 */

interface QuotaGateOptions {
  /** Accounts kept in memory; those with a call in flight are never dropped. */
  readonly capacity: number;
  /** Where the tail starts. */
  readonly after: Position;
  /** Says when budgets begin anew. */
  readonly clock: Clock;
}

/** What a user has, reservations included: what calls in flight may cost is not spent. */
export interface Balances {
  balance(userId: UserId): Promise<Quota>;
}

/** Who remembers that a key is not spent has to be notified when it may be. */
export interface SpentKeys extends Pick<QuotaGate, 'isSpent' | 'isUserSpent'> {
  /** `listener` gets every key that is spent from now on, and of every one of which that would not be noticed any more. */
  onSpent(listener: (apiKeyId: ApiKeyId) => void): void;
}

export function openQuotaGate(
  source: AccountSource,
  { clock, ...options }: QuotaGateOptions,
): QuotaGate & Balances & SpentKeys & TailConsumer {
  const accounts = new QuotaAccountCache(source, options);
  const state = noAdmissions(clock);

  return {
    async admit(request) {
      const payers = await accounts.payers(request);
      return admitCall(state, request, payers);
    },
    extend: async (callId, quota) => extendReservation(state, callId, quota),
    charge: async (callId, cost) => chargeCall(state, callId, cost),
    async chargeLeft(call, cost) {
      const payers = await accounts.payers(call);
      return chargeLeftCall(state, call, cost, payers);
    },
    settled: async (callId, charged) => reserveCharge(state, callId, charged),
    drop: async (callId) => clearReservation(state, callId),

    isSpent: async (apiKeyId) => isSpent(await accounts.apiKey(apiKeyId)),
    isUserSpent: async (userId) => isSpent(await accounts.user(userId)),
    onSpent: (listener) => accounts.onSpent(listener),
    async remaining(apiKeyId) {
      const { balance, reserved } = await accounts.apiKey(apiKeyId);
      return nearestQuota(balance - reserved);
    },
    available: async (userId) => available(await accounts.user(userId)),
    balance: async (userId) => nearestQuota((await accounts.user(userId)).balance),

    take(batch) {
      for (const recorded of batch) follow(accounts, state, recorded);
      const last = batch.at(-1);
      if (last !== undefined) accounts.reached(last.position);
    },
  };
}

/** One event of the tail: it moves balances, and concludes calls. */
function follow(accounts: QuotaAccountCache, state: AdmissionState, recorded: Recorded): void {
  // It moves no balance, and what it reserves for a call of this gate is reserved already, and may have been raised
  // since: the echo must not lower it. Accounts that are being read have no such calls.
  if (recorded.event.type === 'CallReserved' && state.calls.has(CallId(streamKey(recorded.stream)))) return;
  const moved = movedBy(recorded);
  accounts.apply(moved);
  for (const { cause, call } of moved.movements)
    if (call !== null && (cause === 'settlement' || cause === 'release')) clearReservation(state, call);
}
