import { newEventId } from '../../../src/application/event-id.js';
import { type DomainEvent, type StreamName, streams } from '../../../src/domain/events/events.js';
import { CallId, TaskId, type UserId } from '../../../src/domain/kernel/ids.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import type { TaskEvent, TaskFacts } from '../../../src/domain/task/task.js';
import { reserved, settled } from '../given/calls.js';
import { taskFacts } from '../given/tasks.js';
import type { TestGateway } from './test-gateway.js';

/* Tasks in the log of a gateway, as its calls and its poller would have written them. Ids are those of no real task. */

let tasks = 900_000;

/** A task whose call was charged 50, submitted at this moment. */
export async function recordTask(
  gateway: Pick<TestGateway, 'store' | 'application'>,
  user: UserId,
  { at = Date.now(), ...change }: Partial<TaskFacts> & { readonly at?: number } = {},
) {
  const taskId = TaskId(++tasks);
  const callId = CallId(`task-call-${taskId}`);
  const facts = taskFacts({ taskId, callId, userId: user, apiKeyId: null, publicId: `public-${taskId}`, ...change });
  const record = async (stream: StreamName, event: DomainEvent, then = at): Promise<void> => {
    const instant = Instant(then);
    const result = await gateway.store.append(stream, [{ id: newEventId(instant), at: instant, event }], 'any');
    if (!result.ok) throw new Error('the log contradicts itself');
    if (!(await gateway.application.visible(result.position))) throw new Error('it did not become visible in time');
  };
  const { platform, action, publicId } = facts;
  const paidBy = { userId: user, apiKeyId: null, quota: 50 };
  await record(streams.call(callId), reserved(paidBy));
  await record(streams.task(taskId), { type: 'TaskSubmitted', facts, status: 'submitted', progress: 0 });
  await record(streams.call(callId), {
    ...settled({ ...paidBy, charged: 50 }),
    task: { id: taskId, platform, action, publicId },
  });
  return {
    id: String(taskId),
    facts,
    progressed: (progress: number) =>
      record(streams.task(taskId), { type: 'TaskProgressed', facts, status: 'in-progress', progress, startedAt: null }),
    succeeded: (finishedAt: number) =>
      record(streams.task(taskId), { type: 'TaskSucceeded', facts, startedAt: null, finishedAt: Instant(finishedAt) }),
    failed: (change: Partial<Extract<TaskEvent, { type: 'TaskFailed' }>> = {}) =>
      record(streams.task(taskId), {
        type: 'TaskFailed',
        facts,
        reason: 'upstream',
        refund: { callId, charged: settled({ quota: 50, charged: 50 }).charged },
        ...{ progress: 0, startedAt: null, finishedAt: null },
        ...change,
      }),
  };
}
