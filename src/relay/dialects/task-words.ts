import type { TaskView } from '../../application/ports/task-ports.js';
import type { TaskFailureReason } from '../../domain/task/task.js';

const words: Readonly<Record<TaskFailureReason, string>> = {
  upstream: 'the task failed upstream',
  'timed-out': 'the task timed out',
  'channel-gone': 'the channel of the task is gone',
  rejected: 'the task was rejected',
  cancelled: 'the task was cancelled',
};

/** Why a task has failed, in upstream's own words where it gave some; empty: it has not. */
export const failureWords = ({ reason, content }: Pick<TaskView, 'reason' | 'content'>): string =>
  reason === null ? '' : content?.failReason || words[reason];
