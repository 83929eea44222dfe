import type { CallReleased, CallReserved, CallSettled } from '../../domain/call/call.js';
import { conclude, costOf, type Release, type Settlement } from '../../domain/call/call-conclusion.js';
import { zero } from '../../domain/kernel/quota.js';
import type { BackgroundCall, BackgroundState } from '../ports/background-call-ports.js';
import type { Clock, QuotaGate } from '../ports/storage-ports.js';

/* The outcome of a call in the background: by what its upstream says of it, and never less than its stream had delivered. */

export type AtAnEnd = Exclude<BackgroundState, { readonly kind: 'running' | 'unreached' | 'missing' }>;

interface OutcomePorts {
  readonly gate: Pick<QuotaGate, 'chargeLeft'>;
  readonly clock: Clock;
}

export async function backgroundOutcome(
  ports: OutcomePorts,
  call: BackgroundCall,
  reserved: CallReserved,
  state: AtAnEnd,
): Promise<CallSettled | CallReleased> {
  const useTimeMs = Math.max(0, ports.clock.now() - call.since);
  const settlement = settlementOf(call, reserved, state, useTimeMs);
  if (settlement === null) return released(call, reserved, state, useTimeMs);
  const cost = costOf(reserved, settlement);
  const { userId, apiKeyId } = reserved.facts;
  const left = { callId: call.callId, userId, apiKeyId, reserved: reserved.reserved };
  const payable = await ports.gate.chargeLeft(left, cost);
  return conclude(reserved, { kind: 'settled', settlement, cost, payable });
}

/** null: nothing is known to have been delivered. */
function settlementOf(
  { channelId, course, delivered }: BackgroundCall,
  reserved: CallReserved,
  state: AtAnEnd,
  useTimeMs: number,
): Settlement | null {
  const known = { ...course, channelId, useTimeMs, firstTokenMs: null };
  const kept = state.kind === 'unmeasured' ? state.kept : undefined;
  const broken = delivered && ({ ...known, ...delivered, outcome: 'upstream-broke', kept } as const);
  if (state.kind !== 'ended') return broken ?? null;
  const ended: Settlement = { ...known, ...state.used };
  // Usage that upstream reports is taken as it is: what came is less certain than that.
  if (delivered === undefined || state.used.usageSource !== 'estimated') return ended;
  const { usage } = delivered;
  return costOf(reserved, { ...ended, usage }) > costOf(reserved, ended) ? { ...ended, usage } : ended;
}

function released(
  { course }: BackgroundCall,
  reserved: CallReserved,
  state: AtAnEnd,
  useTimeMs: number,
): CallSettled | CallReleased {
  const { attempts, failedAttempts, unknownAttempts, upstreamModel } = course;
  if (state.kind === 'failed') {
    const course = { attempts, failedAttempts, useTimeMs, unknownAttempts };
    const release: Release = { kind: 'upstream-failed', status: null, code: state.code, ...course };
    return conclude(reserved, release);
  }
  const progress = { attempts, unknownAttempts, upstreamModel, delivered: null };
  return conclude(reserved, { kind: 'lost', seen: { kind: 'sent', progress }, useTimeMs, payable: zero });
}
