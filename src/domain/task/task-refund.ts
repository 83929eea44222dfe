import type { CallRefunded, CallSettled } from '../call/call.js';
import { refundOf } from '../call/call-conclusion.js';
import type { Recorded } from '../events/events.js';
import { zero } from '../kernel/quota.js';
import type { TaskFailed, TaskFailureReason } from './task.js';

/* What a failed task gives back. */

/** What stands for each reason where calls are listed by what they were answered. */
const answers: Readonly<Record<TaskFailureReason, Pick<CallRefunded, 'status' | 'code'>>> = {
  upstream: { status: 502, code: 'task_failed' },
  rejected: { status: 400, code: 'task_rejected' },
  cancelled: { status: 409, code: 'task_cancelled' },
  'timed-out': { status: 504, code: 'task_timed_out' },
  'channel-gone': { status: 503, code: 'task_channel_gone' },
};

/** Upstream has not said that it failed, so it may charge for it. */
const isCostUnknown = (reason: TaskFailureReason): boolean => reason === 'timed-out' || reason === 'channel-gone';

/** Takes back the settlement of the call that has submitted the task. */
export function taskRefundOf(
  { id, at, event }: Pick<Recorded<CallSettled>, 'id' | 'at' | 'event'>,
  { facts, reason }: TaskFailed,
): CallRefunded {
  const { taskId, platform, action, publicId } = facts;
  return {
    ...refundOf({ id, at, event }, answers[reason]),
    suspense: isCostUnknown(reason) ? event.charged : zero,
    task: { id: taskId, platform, action, publicId, reason },
  };
}
