import type { CallOutcome } from '../../domain/call/call.js';
import type { Settlement } from '../../domain/call/call-conclusion.js';
import { failureCodeOf } from '../../domain/call/call-texts.js';
import { withdrawal } from '../contracts/errors.js';
import { elapsed, presentFor } from '../delivery/call-times.js';
import type { UsedTokens } from '../metering/believed-usage.js';
import type { SentRequest } from './attempt-failure.js';
import {
  type AnsweredCall,
  type ConcludedCall,
  type DeliveredCall,
  extended,
  type ReservedCall,
  type UnansweredCall,
} from './call-context.js';
import type { StagePorts } from './stage-ports.js';
import {
  answerIdOfCall,
  claimOf,
  comparedIdOf,
  cutUsage,
  deliveredTier,
  deliveredUsage,
  keptOf,
  nothingUsed,
  servedTier,
  upstreamCostOf,
} from './usage-of-call.js';

/* The outcome of a reserved call: once, whatever has become of it. */

type ConcludePorts = Pick<StagePorts, 'clock' | 'log' | 'comparedMessages'>;

/** How delivery has ended. */
interface Ending {
  readonly outcome: CallOutcome;
  readonly firstTokenMs: number | null;
  readonly useTimeMs: number;
  readonly serviceTier: string | undefined;
  readonly kept?: Settlement['kept'];
  readonly task?: Settlement['task'];
  readonly upstreamCost?: Settlement['upstreamCost'];
  readonly claimed?: Settlement['claimed'];
  readonly answerId?: Settlement['answerId'];
}

/** Written out: objects put together by spreading cost every call more than its charge does. */
export function settlementOf(
  { resolution, course }: Pick<AnsweredCall, 'resolution' | 'course'>,
  { upstreamModel, reasoningEffort }: SentRequest,
  { usage, usageSource }: UsedTokens,
  { outcome, firstTokenMs, useTimeMs, serviceTier, kept, task, upstreamCost, claimed, answerId }: Ending,
): Settlement {
  const channelId = course.tried.at(-1);
  if (channelId === undefined) throw new Error('an answer without a channel');
  return {
    usage,
    usageSource,
    outcome,
    channelId,
    attempts: course.tried,
    failedAttempts: course.failed,
    upstreamModel: upstreamModel === resolution.requestedModel ? null : upstreamModel,
    reasoningEffort,
    serviceTier,
    useTimeMs,
    firstTokenMs,
    unknownAttempts: course.unknownAttempts,
    kept,
    task,
    upstreamCost,
    claimed,
    answerId,
  };
}

/** Settles a call by what its upstream has answered and its caller has got. */
export async function concludeCall(ports: ConcludePorts, call: DeliveredCall): Promise<ConcludedCall> {
  const { delivery, reservation, answer } = call;
  const believed = deliveredUsage(ports, call);
  const { outcome, firstTokenMs } = delivery;
  const ending: Ending = {
    ...{ outcome, firstTokenMs, useTimeMs: elapsed(ports, call) },
    serviceTier: deliveredTier(call),
    kept: keptOf(call),
    task: call.task ?? undefined,
    upstreamCost: upstreamCostOf(call),
    claimed: claimOf(call, believed),
    answerId: answerIdOfCall(call),
  };
  ports.comparedMessages.note(call.user.id, comparedIdOf(call));
  const finalUsage = cutUsage(ports, call, believed);
  const settlement = settlementOf(call, answer, finalUsage, ending);
  // A task goes on whatever its caller is answered: its settlement is not withdrawn, it follows.
  const charged =
    delivery.kind === 'answer' && outcome === 'completed' && call.task === null
      ? await reservation.settleOrWithdraw(settlement, withdrawal)
      : await reservation.settle(settlement).catch(() => null);
  return extended(call, { finalUsage, charged });
}

/** What upstream had accepted when its caller left is paid for, though nobody has seen anything of it. */
async function settleAbandoned(ports: ConcludePorts, call: UnansweredCall, asked: SentRequest): Promise<void> {
  const finalUsage = nothingUsed(call, asked, presentFor(ports, call));
  const serviceTier = servedTier(asked, undefined);
  const ending: Ending = { outcome: 'caller-left', firstTokenMs: null, useTimeMs: elapsed(ports, call), serviceTier };
  await call.reservation.settle(settlementOf(call, asked, finalUsage, ending)).catch(() => {});
}

/** Releases a call that nobody has answered; one that upstream was given up at is settled. */
export async function concludeUnanswered(ports: ConcludePorts, call: UnansweredCall): Promise<void> {
  const { failure, course, reservation, connection } = call;
  if (failure !== null && failure.abandoned !== null) return settleAbandoned(ports, call, failure.abandoned);
  const { tried: attempts, failed: failedAttempts, unknownAttempts } = course;
  const unanswered = { attempts, failedAttempts, useTimeMs: elapsed(ports, call), unknownAttempts };
  if (failure === null || connection.gone) return reservation.release({ kind: 'caller-left', ...unanswered });
  const { status, code } = failure.error;
  await reservation.release({ kind: 'upstream-failed', status, code: failureCodeOf(code), ...unanswered });
}

/** Releases a call that a fault of ours has ended before anybody answered. */
export async function concludeFaulted(ports: ConcludePorts, call: ReservedCall): Promise<void> {
  const { costlyAttempts: unknownAttempts } = call.reservation.inFlightCall;
  await call.reservation.release({ kind: 'internal', useTimeMs: elapsed(ports, call), unknownAttempts });
}

/**
 * The one guard of reserved calls: does `work` with one that nobody else serves. What `work` hands on serves the call
 * from then on. Where it hands on nothing, or throws, nobody serves it any more, and a call that has no outcome by then
 * is left to recovery.
 */
export async function whileReserved<Next extends ReservedCall>(
  { reservation }: ReservedCall,
  work: () => Promise<Next | null>,
): Promise<Next | null> {
  let next: Next | null = null;
  try {
    next = await work();
    return next;
  } finally {
    if (next === null) reservation.leave();
  }
}
