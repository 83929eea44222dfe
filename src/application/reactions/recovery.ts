import { repeatAfter } from '../../concurrency/at-intervals.js';
import { callDecider, type SettledTask } from '../../domain/call/call.js';
import { conclude, costOf, costOfLost, type Settlement } from '../../domain/call/call-conclusion.js';
import type { LastSeen } from '../../domain/call/call-progress.js';
import { latestOf, type Position, streams } from '../../domain/events/events.js';
import type { CallId } from '../../domain/kernel/ids.js';
import { type Quota, zero } from '../../domain/kernel/quota.js';
import type { OpenCall } from '../../projections/models/ledger/ledger-queries.js';
import type { Handle } from '../handle.js';
import type { CallProgressNotes, Clock, QuotaGate, ReadModelProgress } from '../ports/storage-ports.js';
import type { StoredTask, TaskStore } from '../ports/task-ports.js';
import { completeSubmission } from '../tasks/record-task.js';

/*
 * Concludes reservations that no node serves any more. What reached the caller is charged, and so is a task that upstream
 * has taken; the rest is released, and what upstream may charge for it is booked to suspense. The call's own stream decides whether anything is left to do,
 * so nothing happens twice and nothing depends on clocks.
 */

interface RecoveryPorts {
  /** Calls without an outcome that the ledger knows: reserved behind `after` and up to `upTo`, in that order. */
  readonly openCalls: (range: {
    readonly after: Position | null;
    readonly upTo: Position;
    readonly limit: number;
  }) => Promise<OpenCall[]>;
  readonly handle: Handle;
  readonly clock: Clock;
  /** Knows what there is for a call to be charged. */
  readonly gate: Pick<QuotaGate, 'chargeLeft'>;
  readonly notes: Pick<CallProgressNotes, 'lastSeen' | 'forget'>;
  readonly tasks: Pick<TaskStore, 'byCalls'>;
  /** Whether this process still serves a call, or is about to write its outcome. */
  readonly isInFlight: (callId: CallId) => boolean;
}

export interface Recovered {
  readonly released: number;
  readonly settled: number;
}

const pageSize = 1000;
const parallel = 50;

/** What there is for a lost call to be charged; nothing where nothing had reached its caller. */
async function payableFor(gate: RecoveryPorts['gate'], call: OpenCall, seen: LastSeen): Promise<Quota> {
  const cost = costOfLost(call.reservation, seen);
  if (cost === null) return zero;
  const { facts, reserved } = call.reservation;
  const { userId, apiKeyId } = facts;
  return gate.chargeLeft({ callId: call.callId, userId, apiKeyId, reserved }, cost);
}

/** A call whose upstream has taken a task is due whatever its caller was answered: upstream works on it. */
async function settleSubmission(
  { handle, gate }: Pick<RecoveryPorts, 'handle' | 'gate'>,
  { callId, reservation }: OpenCall,
  { task, useTimeMs }: { readonly task: StoredTask; readonly useTimeMs: number },
): Promise<number> {
  await completeSubmission({ handle }, task);
  const { channelId, platform, action, publicId } = task.submission;
  const submitted: SettledTask = { id: task.id, platform, action, publicId };
  const { pieces, facts, reserved } = reservation;
  const settlement: Settlement = {
    usage: pieces ?? {},
    usageSource: pieces === undefined ? 'none' : 'estimated',
    outcome: 'gateway-failed',
    channelId,
    attempts: [channelId],
    upstreamModel: null,
    useTimeMs,
    firstTokenMs: null,
    reasoningEffort: null,
    task: submitted,
    unknownAttempts: 0,
  };
  const cost = costOf(reservation, settlement);
  const { userId, apiKeyId } = facts;
  const payable = await gate.chargeLeft({ callId, userId, apiKeyId, reserved }, cost);
  const event = conclude(reservation, { kind: 'settled', settlement, cost, payable });
  const { events } = await handle(callDecider, streams.call(callId), { type: 'Settle', event });
  return events.length;
}

/**
 * Ends the calls reserved up to `upTo` that nobody serves any more, as far as the ledger knows them. Safe to repeat and
 * to run while calls are served.
 */
export async function recoverCalls(ports: RecoveryPorts, upTo: Position): Promise<Recovered> {
  const { openCalls, handle, clock, gate, notes, tasks, isInFlight } = ports;
  let released = 0;
  let settled = 0;

  const recover = async (call: OpenCall, seen: LastSeen, task: StoredTask | undefined): Promise<void> => {
    const useTimeMs = Math.max(0, clock.now() - call.since);
    if (task !== undefined) {
      settled += await settleSubmission(ports, call, { task, useTimeMs });
      return;
    }
    const payable = await payableFor(gate, call, seen);
    const event = conclude(call.reservation, { kind: 'lost', seen, useTimeMs, payable });
    const stream = streams.call(call.callId);
    if (event.type === 'CallReleased') {
      const { events } = await handle(callDecider, stream, { type: 'Release', event });
      released += events.length;
    } else {
      const { events } = await handle(callDecider, stream, { type: 'Settle', event });
      settled += events.length;
    }
  };

  for (let after: Position | null = null; ; ) {
    const page: OpenCall[] = await openCalls({ after, upTo, limit: pageSize });
    const last = page.at(-1);
    if (last === undefined) return { released, settled };
    after = last.position;
    const orphans = page.filter(({ callId }) => !isInFlight(callId));
    if (orphans.length === 0) continue;
    const seen = await notes.lastSeen(orphans);
    const submitted = await tasks.byCalls(orphans.map(({ callId }) => callId));
    const taskOf = new Map(submitted.map((task) => [task.callId, task]));
    for (let from = 0; from < orphans.length; from += parallel)
      await Promise.all(
        orphans
          .slice(from, from + parallel)
          .map((call) => recover(call, seen.get(call.callId) ?? { kind: 'unknown' }, taskOf.get(call.callId))),
      );
    await notes.forget(orphans.map(({ callId }) => callId));
  }
}

interface RecurringOptions {
  readonly progress: Pick<ReadModelProgress, 'reached' | 'status'>;
  /** The end of the log as this process began: everything reserved before it is nobody's. */
  readonly began: Position;
  /** The end of the log now, or shortly before. */
  readonly position: () => Position;
  readonly everyMs: number;
  /** Called with what was found, when something was. */
  readonly recovered: (found: Recovered) => void;
  readonly failed: (error: unknown) => void;
  /**
   * Called once when the ledger is stopped or far behind: what was open before this process began is found only later.
   */
  readonly behind: () => void;
}

/** Longest a start waits for the ledger; what it does not know by then is found later. */
const patienceMs = 30_000;
/** Longest that calls a worker has just left wait for the ledger to know them; the next rounds look for them as well. */
const lostPatienceMs = 5_000;
/** While it is behind: how often to look, in memory, whether it has come so far. */
const lookMs = 1_000;

interface Recovering {
  /** Calls reserved up to there may have been left just now. */
  look(upTo: Position): void;
  /** Resolves when nothing of it is under way any more. */
  stop(): Promise<void>;
}

/**
 * Recovers once, as soon as the ledger knows what an earlier process left open, and then again and again; where the ledger
 * was stopped or far behind, also as soon as it has come so far. Resolves after the first time.
 */
export async function runRecovery(
  ports: RecoveryPorts & { readonly notes: Pick<CallProgressNotes, 'forgetOthers'> },
  { progress, began, position, everyMs, recovered, failed, behind }: RecurringOptions,
): Promise<Recovering> {
  let othersForgotten = false;
  let saidBehind = false;
  /** What was reserved up to here has had the time between two rounds to get its outcome into the ledger. */
  let upTo = began;
  let stopped = false;

  const recover = async (until: Position): Promise<void> => {
    const found = await recoverCalls(ports, until);
    if (found.released + found.settled > 0) recovered(found);
  };
  const round = async (): Promise<void> => {
    const until = upTo;
    upTo = position();
    const complete = await progress.reached(began, othersForgotten ? 0 : patienceMs, ['ledger']);
    if (!complete && !othersForgotten && !saidBehind) {
      saidBehind = true;
      behind();
    }
    await recover(until);
    if (!complete || othersForgotten) return;
    await ports.notes.forgetOthers();
    othersForgotten = true;
  };
  const safely = (): Promise<void> => round().catch(failed);

  await safely();
  const isBehind = (): boolean => progress.status().some(({ name, position }) => name === 'ledger' && position < began);
  let waited = 0;
  let isWaiting = isBehind();
  const nextRest = (): number => (isWaiting ? Math.min(lookMs, everyMs - waited) : everyMs);
  const endRounds = repeatAfter(nextRest(), async () => {
    waited += nextRest();
    if (isWaiting && isBehind() && waited < everyMs) return nextRest();
    await safely();
    waited = 0;
    isWaiting = isBehind();
    return nextRest();
  });
  let looking: Promise<void> = Promise.resolve();
  return {
    look(lost) {
      looking = looking
        .then(async () => {
          if (stopped) return;
          // With the outcomes that others have had since, or each of their streams would be read for nothing.
          await progress.reached(latestOf([lost, position()]), lostPatienceMs, ['ledger']);
          await recover(lost);
        })
        .catch(failed);
    },
    async stop() {
      stopped = true;
      await endRounds();
      await looking;
    },
  };
}
