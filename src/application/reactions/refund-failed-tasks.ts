import { type CallEvent, type CallSettled, callDecider } from '../../domain/call/call.js';
import { courseOf } from '../../domain/call/call-course.js';
import { type Recorded, streams } from '../../domain/events/events.js';
import type { TaskEvent, TaskFailed } from '../../domain/task/task.js';
import { taskRefundOf } from '../../domain/task/task-refund.js';
import type { Handle } from '../handle.js';
import type { EventStore } from '../ports/storage-ports.js';
import type { Reaction } from './run-reactions.js';

interface RefundPorts {
  readonly store: Pick<EventStore, 'readStream'>;
  readonly handle: Handle;
}

/** A failed task gives back what its call was charged. The call's own stream takes one refund at most. */
export const refundFailedTasks = ({ store, handle }: RefundPorts): Reaction => ({
  name: 'refund-failed-tasks',
  asks: ({ stream, event }) => (event.type === 'TaskFailed' && event.refund !== null ? stream : null),
  async react(stream) {
    const events = (await store.readStream(stream)) as readonly Recorded<TaskEvent>[];
    const failed = events.find(({ event }) => event.type === 'TaskFailed')?.event as TaskFailed | undefined;
    if (failed === undefined || failed.refund === null) return;
    const call = streams.call(failed.refund.callId);
    const outcome = courseOf((await store.readStream(call)) as readonly Recorded<CallEvent>[])?.outcome;
    if (outcome?.event.type !== 'CallSettled') return;
    const event = taskRefundOf(outcome as Recorded<CallSettled>, failed);
    await handle(callDecider, call, { type: 'Refund', event });
  },
});
