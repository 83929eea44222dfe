import { CompactingMap } from '../../data-structures/compacting-map.js';
import { chargeWithin } from '../../domain/call/call-conclusion.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { CallId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';
import { type Quota, zero } from '../../domain/kernel/quota.js';
import type { Admission, AdmissionRequest, LeftCall } from '../ports/quota-gate-ports.js';
import type { Clock } from '../ports/storage-ports.js';
import {
  type AdmittedCall,
  chargeable,
  owe,
  type QuotaAccount,
  quotaLimits,
  releaseForeign,
  setReserved,
} from './quota-accounts.js';

/*
 * What the quota gate of one process decides of a call, with the accounts in memory. Nothing here waits: what is judged
 * and what follows from it are one step.
 */

/** The calls that this gate has admitted and the tail has not concluded. */
type AdmittedCalls = CompactingMap<CallId, AdmittedCall>;

export interface AdmissionState {
  readonly calls: AdmittedCalls;
  /** Says when budgets begin anew. */
  readonly clock: Clock;
}

export const noAdmissions = (clock: Clock): AdmissionState => ({ calls: new CompactingMap(), clock });

/** Those who pay for a call: they may be dropped from memory if anybody waits between finding and using them. */
type PayingAccounts = readonly [user: QuotaAccount, apiKey: QuotaAccount | null];

/** Throws Failure `lost-race` where a call of this name is admitted. */
export function admitCall(
  { calls, clock }: AdmissionState,
  { callId, max, min, minOfKey, terms }: AdmissionRequest,
  [user, apiKey]: PayingAccounts,
): Admission {
  if (calls.has(callId)) throw new Failure('lost-race', { callId });
  const call: AdmittedCall = {
    id: callId,
    user,
    apiKey,
    limited: apiKey !== null && !terms.unlimited,
    budget: apiKey === null ? null : terms.budget,
    withdrawn: { user: user.withdrawn, apiKey: apiKey?.withdrawn ?? 0n },
    reserved: zero,
    due: zero,
    concluded: false,
  };
  const limits = quotaLimits(call, clock.now());
  const short = limits.find(
    ({ short, available }) => available <= 0 || available < (short === 'user' ? min : minOfKey),
  );
  if (short !== undefined) return { admitted: false, ...short };
  let granted = min > max ? min : max;
  for (const { available } of limits) if (available < granted) granted = available;
  setReserved(call, granted);
  if (apiKey !== null) apiKey.budget = call.budget;
  begin(calls, call);
  return { admitted: true, granted };
}

/** False, and nothing changed, where the payers cannot afford it or there is no such call. */
export function extendReservation({ calls, clock }: AdmissionState, callId: CallId, quota: Quota): boolean {
  const call = calls.get(callId);
  if (call === undefined) return false;
  const more = quota - call.reserved;
  if (more <= 0) return true;
  if (quotaLimits(call, clock.now()).some(({ available }) => available < more)) return false;
  setReserved(call, quota);
  return true;
}

/** Decides how much of its cost a call is charged, and reserves that; null: there is no such call. */
export function chargeCall({ calls, clock }: AdmissionState, callId: CallId, cost: Quota): Quota | null {
  const call = calls.get(callId);
  return call === undefined ? null : charge(call, cost, clock.now());
}

function charge(call: AdmittedCall, cost: Quota, now: Instant): Quota {
  if (call.concluded) return call.due;
  owe(call, zero);
  const charged = chargeWithin(cost, chargeable(call, now));
  owe(call, charged);
  if (charged > call.reserved) setReserved(call, charged);
  return charged;
}

/** The same for a call that nobody serves any more, which another gate may have admitted. */
export function chargeLeftCall(
  { calls, clock }: AdmissionState,
  { callId, reserved }: LeftCall,
  cost: Quota,
  [user, apiKey]: PayingAccounts,
): Quota {
  const own = calls.get(callId);
  if (own !== undefined) return charge(own, cost, clock.now());
  // It has its outcome, and the tail has brought that; or will bring all of it.
  if (!user.foreign.has(callId)) return chargeWithin(cost, reserved);
  releaseForeign(user, callId);
  if (apiKey !== null) releaseForeign(apiKey, callId);
  const withdrawn = { user: user.withdrawn, apiKey: apiKey?.withdrawn ?? 0n };
  // Under which terms it was admitted nobody knows any more.
  const nothing = { reserved: zero, due: zero, concluded: false };
  const call: AdmittedCall = { id: callId, user, apiKey, limited: false, budget: null, withdrawn, ...nothing };
  setReserved(call, reserved);
  begin(calls, call);
  return charge(call, cost, clock.now());
}

/**
 * Its settlement is durable: the reservation is exactly the charge. The tail may have been faster: then there is none.
 */
export function reserveCharge({ calls }: AdmissionState, callId: CallId, charged: Quota): void {
  const call = calls.get(callId);
  if (call === undefined) return;
  setReserved(call, charged);
  owe(call, charged);
  call.concluded = true;
}

/** Nothing is reserved for the call any more. */
export function clearReservation({ calls }: AdmissionState, callId: CallId): void {
  const call = calls.get(callId);
  if (call === undefined) return;
  // By the very text it is known by: another one would be compared with it once more.
  calls.delete(call.id);
  setReserved(call, zero);
  owe(call, zero);
  call.user.admitted--;
  if (call.apiKey !== null) call.apiKey.admitted--;
}

function begin(calls: AdmittedCalls, call: AdmittedCall): void {
  call.user.admitted++;
  if (call.apiKey !== null) call.apiKey.admitted++;
  calls.set(call.id, call);
}
