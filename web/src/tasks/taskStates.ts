import type { Intent } from '@blueprintjs/core';
import type { TaskRowFragment, TaskStatus } from '../generated/tasks/tasks.js';

/* How a task is, in colours. */

export const statusIntents = {
  NOT_STARTED: 'none',
  SUBMITTED: 'warning',
  QUEUED: 'warning',
  MODAL: 'warning',
  IN_PROGRESS: 'primary',
  SUCCEEDED: 'success',
  FAILED: 'danger',
  UNKNOWN: 'none',
} as const satisfies Record<TaskStatus, Intent>;

/** Of a bar or a circle: one that has stopped is not shown as if it went on. */
export const progressIntent = (status: TaskStatus): Intent =>
  status === 'SUCCEEDED' || status === 'FAILED' ? statusIntents[status] : 'primary';

/** Seconds from which on a task has taken long. */
const longSeconds = 60;

/** Milliseconds; null: it has not ended. Clocks of upstreams differ from ours: nothing takes less than no time. */
export const durationOf = (task: Pick<TaskRowFragment, 'submittedAt' | 'finishedAt'>): number | null =>
  task.finishedAt === null ? null : Math.max(0, task.finishedAt - task.submittedAt) * 1000;

export const taskDurationIntent = (ms: number): Intent => (ms > longSeconds * 1000 ? 'danger' : 'success');

/** What upstream said when it was asked, and its colour. */
export const submissions = {
  submitted: 'success',
  waiting: 'primary',
  duplicate: 'warning',
  none: 'none',
} as const satisfies Record<string, Intent>;

/** Result codes of Midjourney proxies; one that was never said is told from how the task is. */
export function submissionOf({ code, status }: Pick<TaskRowFragment, 'code' | 'status'>): keyof typeof submissions {
  switch (code) {
    case 1:
      return 'submitted';
    case 21:
      return 'waiting';
    case 22:
      return 'duplicate';
    default:
      return code === null && status !== 'UNKNOWN' ? 'submitted' : 'none';
  }
}
