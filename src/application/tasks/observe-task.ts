import type { CallEvent } from '../../domain/call/call.js';
import { courseOf } from '../../domain/call/call-course.js';
import { type Recorded, streams } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { CallId, TaskId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';
import {
  isNews,
  isTerminal,
  type KnownProgress,
  type SeenTask,
  type Task,
  type TaskEvent,
  type TaskRefund,
  taskDecider,
} from '../../domain/task/task.js';
import type { TaskContent, TaskObservation } from '../ports/task-ports.js';
import { mergedContent, openContents, sealContent } from './task-content.js';
import type { TaskPorts } from './task-setting.js';

/* The one transition of tasks: by a poll, a fetch, a callback, or because their time is over. */

/** As rank of content that is of the end: nothing comes after it. */
const atEnd = 101;
const contentTries = 3;
/** Upstream's clock may differ from ours. */
const maxSkewMs = 24 * 60 * 60_000;

export async function foldedTask({ store }: Pick<TaskPorts, 'store'>, taskId: TaskId): Promise<Task> {
  const events = (await store.readStream(streams.task(taskId))) as readonly Recorded<TaskEvent>[];
  return events.reduce<Task>((state, { event }) => taskDecider.evolve(state, event), taskDecider.initial);
}

/** Of an earlier day, or of the future: upstream has not said when. */
const believedTime = (now: Instant, said: Instant | null, earliest: Instant): Instant | null =>
  said !== null && said >= earliest - maxSkewMs && said <= now + maxSkewMs ? said : null;

/**
 * `known`: how far it is as far as is known, which may lag behind the log; null: not known. Throws `store-unavailable`. A
 * task that nobody knows is left as it is.
 */
export async function observeTask(
  ports: TaskPorts,
  taskId: TaskId,
  seen: TaskObservation,
  known: KnownProgress | null = null,
): Promise<void> {
  const [stored] = await ports.tasks.byIds([taskId]);
  const now = ports.clock.now();
  const submittedAt = stored?.submittedAt ?? now;
  const startedAt = believedTime(now, seen.startedAt, submittedAt);
  const finishedAt = believedTime(now, seen.finishedAt, submittedAt);
  const { status, progress } = seen;
  if (status !== 'failed' && known !== null && !isTerminal(known.status)) {
    const observed: SeenTask = { status, progress, startedAt, finishedAt };
    // The log is read only where there is something to be written. What it shows may have changed beside.
    if (!isNews(known, observed)) return keepSeen(ports, taskId, seen, known.progress);
  }
  const task = await foldedTask(ports, taskId);
  if (task.status === 'none' || isTerminal(task.status)) return;
  const stream = streams.task(taskId);
  if (status === 'failed') {
    const refund = await refundFor(ports, task.facts.callId);
    // Nobody knows yet what there is to be given back: whoever looks next says again that it has failed.
    if (refund === 'undecided') return;
    await keepContent(ports, taskId, seen.content, atEnd);
    const reason = seen.reason ?? 'upstream';
    await ports.handle(taskDecider, stream, { type: 'FailTask', reason, refund, startedAt, finishedAt });
    return;
  }
  await keepSeen(ports, taskId, seen, task.progress);
  const observed: SeenTask = { status, progress, startedAt, finishedAt };
  await ports.handle(taskDecider, stream, { type: 'ObserveTask', ...observed });
}

/** What it says and shows, unless that is older than what is known. */
async function keepSeen(ports: TaskPorts, taskId: TaskId, seen: TaskObservation, before: number): Promise<void> {
  const rank = rankOf(seen, before);
  if (rank >= before) await keepContent(ports, taskId, seen.content, rank);
}

function rankOf({ status, progress }: Pick<TaskObservation, 'status' | 'progress'>, before: number): number {
  if (status === 'succeeded') return atEnd;
  return progress === null || !(progress >= 0) ? before : Math.min(Math.floor(progress), 100);
}

/** The charge of a call, where it is to be given back; null: there is none. `undecided`: it has no outcome yet. */
async function refundFor(
  { store }: Pick<TaskPorts, 'store'>,
  callId: CallId,
): Promise<TaskRefund | null | 'undecided'> {
  const course = courseOf((await store.readStream(streams.call(callId))) as readonly Recorded<CallEvent>[]);
  if (course === null) return null;
  if (course.outcome === null) return 'undecided';
  const { event } = course.outcome;
  if (event.type !== 'CallSettled' || course.refund !== null) return null;
  const charged = course.corrections.at(-1)?.event.to.charged ?? event.charged;
  return charged > 0 ? { callId, charged } : null;
}

/** Throws `store-unavailable` where that of the end cannot be kept: it is seen again, and what was paid for is in it. */
async function keepContent(ports: TaskPorts, taskId: TaskId, seen: TaskContent, progress: number): Promise<void> {
  for (let attempt = 0; attempt < contentTries; attempt++) {
    const [stored] = await ports.tasks.byIds([taskId]);
    if (stored === undefined || stored.progress > progress) return;
    const { userId, sealed: was } = stored;
    const [before = null] = await openContents(ports.personal, [{ user: userId, sealed: was }]);
    const after = mergedContent(before, seen);
    const isSame = JSON.stringify(after) === JSON.stringify(before);
    const sealed = isSame ? was : await sealContent(ports.personal, userId, after);
    if (sealed === null || (isSame && stored.progress === progress)) return;
    const endedAt = progress === atEnd ? { endedAt: ports.clock.now() } : {};
    if (await ports.tasks.replace(taskId, { was, sealed, progress, ...endedAt })) return;
  }
  if (progress === atEnd) throw new Failure('store-unavailable');
}
