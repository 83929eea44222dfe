import { handle } from '../../../src/application/handle.js';
import type { NewTask, TaskObservation } from '../../../src/application/ports/task-ports.js';
import { refundFailedTasks } from '../../../src/application/reactions/refund-failed-tasks.js';
import type { TaskPorts } from '../../../src/application/tasks/task-setting.js';
import { type DomainEvent, type Recorded, type StreamName, streams } from '../../../src/domain/events/events.js';
import type { CallId, TaskId } from '../../../src/domain/kernel/ids.js';
import { eventId, someInstant } from '../../support/given/events.js';
import { settableClock } from '../../support/given/fixed-clock.js';
import { taskFacts } from '../../support/given/tasks.js';
import { MemoryPersonalData } from '../../support/memory/fake-ports.js';
import type { MemoryEventStore } from '../../support/memory/memory-event-store.js';
import { MemoryTaskStore } from '../../support/memory/memory-task-store.js';

/* Tasks over a log in memory. */

const { taskId: _, ...facts } = taskFacts();

/** A drawing as its call submits it; a test names what it is about. */
export const newTask = (task: Partial<NewTask> & Pick<NewTask, 'callId'>): NewTask => ({
  ...facts,
  publicId: `of-${task.callId}`,
  status: 'submitted',
  progress: 0,
  content: { prompt: 'a cat', urls: [] },
  ...task,
});

export const seenTask = (said: Partial<TaskObservation> = {}): TaskObservation => ({
  upstreamId: facts.upstreamId,
  status: 'in-progress',
  progress: null,
  startedAt: null,
  finishedAt: null,
  content: { urls: [] },
  ...said,
});

/** `db`: where a test reads lists. */
export function taskWorld(store: MemoryEventStore, db: TaskPorts['db'] = null as never) {
  const clock = settableClock(someInstant);
  const ports: TaskPorts = {
    ...{ store, db, clock },
    tasks: new MemoryTaskStore(),
    handle: handle(store, clock),
    personal: new MemoryPersonalData(),
  };
  let events = 0;
  const reaction = refundFailedTasks(ports);
  const record = async (stream: StreamName, event: DomainEvent): Promise<void> => {
    events += 1;
    await store.append(stream, [{ id: eventId(events, 0x7a5c), at: clock.now(), event }], 'any');
  };
  const eventsOf = async (stream: StreamName): Promise<readonly DomainEvent[]> =>
    (await store.readStream(stream)).map(({ event }) => event);
  return {
    ports,
    clock,
    record,
    eventsOf,
    callEvents: (call: CallId) => eventsOf(streams.call(call)),
    taskEvents: (task: TaskId) => eventsOf(streams.task(task)),
    /** What the reaction does when it sees the log, each time that it sees it. */
    async refund(log: readonly Recorded[]): Promise<void> {
      for (const recorded of log) {
        const stream = reaction.asks(recorded);
        if (stream !== null) await reaction.react(stream);
      }
    },
  };
}

export type TaskWorld = ReturnType<typeof taskWorld>;
