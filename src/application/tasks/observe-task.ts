import type { CallEvent, CallSettled } from '../../domain/call/call.js';
import { courseOf } from '../../domain/call/call-course.js';
import { type Recorded, streams } from '../../domain/events/events.js';
import type { CallId, TaskId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';
import {
  isTerminal,
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

/** Throws `store-unavailable`. A task that nobody knows is left as it is. */
export async function observeTask(ports: TaskPorts, taskId: TaskId, seen: TaskObservation): Promise<void> {
  const task = await foldedTask(ports, taskId);
  if (task.status === 'none' || isTerminal(task.status)) return;
  const [stored] = await ports.tasks.byIds([taskId]);
  const now = ports.clock.now();
  const submittedAt = stored?.submittedAt ?? now;
  const startedAt = believedTime(now, seen.startedAt, submittedAt);
  const finishedAt = believedTime(now, seen.finishedAt, submittedAt);
  const stream = streams.task(taskId);
  if (seen.status === 'failed') {
    const refund = await refundFor(ports, task.facts.callId);
    // Nobody knows yet what there is to be given back: whoever looks next says again that it has failed.
    if (refund === 'undecided') return;
    await keepContent(ports, taskId, seen.content, atEnd);
    const reason = seen.reason ?? 'upstream';
    await ports.handle(taskDecider, stream, { type: 'FailTask', reason, refund, startedAt, finishedAt });
    return;
  }
  const { status, progress } = seen;
  const rank = rankOf(seen, task.progress);
  if (rank >= task.progress) await keepContent(ports, taskId, seen.content, rank);
  const observed: SeenTask = { status, progress, startedAt, finishedAt };
  await ports.handle(taskDecider, stream, { type: 'ObserveTask', ...observed });
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
  const isCharged = event.type === 'CallSettled' && event.charged > 0 && course.refund === null;
  return isCharged ? { callId, charged: (event as CallSettled).charged } : null;
}

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
    if (await ports.tasks.replace(taskId, { was, sealed, progress })) return;
  }
}
