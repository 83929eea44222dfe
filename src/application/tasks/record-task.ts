import { streams } from '../../domain/events/events.js';
import type { TaskId } from '../../domain/kernel/ids.js';
import { isTerminal, taskDecider } from '../../domain/task/task.js';
import type { NewTask, StoredTask, TaskSubmission } from '../ports/task-ports.js';
import { boundedContent, sealContent } from './task-content.js';
import type { TaskPorts } from './task-setting.js';

/* Submitting: the task is written down by the id of its call, and then it happens. */

const submissionOf = (task: NewTask): TaskSubmission => {
  const { userId, apiKeyId, apiKeyName, group, model, callId, channelId, platform, action, upstreamId, parent } = task;
  const publicId = task.publicId ?? upstreamId;
  const { status, progress } = task;
  const facts = { userId, apiKeyId, apiKeyName, group, model, callId, channelId, platform, action, upstreamId, parent };
  return { ...facts, publicId, status, progress };
};

/** Throws `store-unavailable`, and `invalid-field` for a task that cannot be named in the log. */
export async function recordTask(ports: TaskPorts, task: NewTask): Promise<TaskId> {
  const submission = submissionOf(task);
  // What the log would refuse must not be written down before.
  const { status: _, progress: __, ...facts } = submission;
  taskDecider.decide(
    { type: 'SubmitTask', facts: { ...facts, taskId: 1 as TaskId }, status: 'submitted', progress: 0 },
    taskDecider.initial,
  );
  const { callId, userId } = task;
  const sealed = await sealContent(ports.personal, userId, boundedContent(task.content));
  const stored = await ports.tasks.add({ callId, userId, submittedAt: ports.clock.now(), submission, sealed });
  await completeSubmission(ports, stored);
  return stored.id;
}

/** What has been written down of a task happens, where it has not. Safe to repeat. */
export async function completeSubmission(
  { handle }: Pick<TaskPorts, 'handle'>,
  { id, submission }: Pick<StoredTask, 'id' | 'submission'>,
): Promise<void> {
  const { status, progress, ...facts } = submission;
  const stream = streams.task(id);
  const open = isTerminal(status) ? 'unknown' : status;
  await handle(taskDecider, stream, { type: 'SubmitTask', facts: { ...facts, taskId: id }, status: open, progress });
  if (status === 'succeeded')
    await handle(taskDecider, stream, {
      type: 'ObserveTask',
      ...{ status, progress: 100, startedAt: null, finishedAt: null },
    });
}
