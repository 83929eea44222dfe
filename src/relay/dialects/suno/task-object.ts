import type { TaskView } from '../../../application/ports/task-ports.js';
import { type Instant, unixSeconds } from '../../../domain/kernel/instant.js';
import type { TaskStatus } from '../../../domain/task/task.js';
import { type JsonObject, parseJson } from '../../json/json.js';
import { failureWords } from '../task-words.js';

const statuses: Readonly<Record<TaskStatus, string>> = {
  'not-started': 'NOT_START',
  submitted: 'SUBMITTED',
  queued: 'QUEUED',
  modal: 'SUBMITTED',
  'in-progress': 'IN_PROGRESS',
  succeeded: 'SUCCESS',
  failed: 'FAILURE',
  unknown: 'UNKNOWN',
};

/** 0: not yet. */
const secondsOf = (at: Instant | null): number => (at === null ? 0 : unixSeconds(at));

/** A task as clients of Suno's servers know it. */
export function sunoTask(task: TaskView): JsonObject {
  const { facts, status, progress, submittedAt, startedAt, finishedAt, content } = task;
  return {
    task_id: facts.publicId,
    action: facts.action,
    status: statuses[status],
    fail_reason: failureWords(task),
    submit_time: secondsOf(submittedAt),
    start_time: secondsOf(startedAt),
    finish_time: secondsOf(finishedAt),
    progress: status === 'failed' ? '100%' : `${progress}%`,
    data: content?.result === undefined ? null : parseJson(content.result),
  };
}
