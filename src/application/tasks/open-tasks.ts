import type { Position } from '../../domain/events/events.js';
import type { TaskId } from '../../domain/kernel/ids.js';
import type { KnownProgress } from '../../domain/task/task.js';
import { openTasks, tasksName } from '../../projections/models/task-queries.js';
import type { TaskRow } from '../../projections/models/tasks.js';
import type { ReadModelProgress } from '../ports/storage-ports.js';
import type { TaskObservation, Tasks } from '../ports/task-ports.js';
import { observeTask } from './observe-task.js';
import { recordTask } from './record-task.js';
import type { TaskPorts } from './task-setting.js';
import { TaskSlots } from './task-slots.js';
import { taskByCall, taskById, taskPage, tasksOfUser } from './task-views.js';

/* Tasks for the relay: those that its calls submit, and what becomes of them. */

interface OpenTasksPorts extends TaskPorts {
  readonly progress: Pick<ReadModelProgress, 'reached'>;
  /** The end of the log, as far as this process knows. */
  readonly position: () => Position;
}

/** Longest that whoever asks for tasks waits for what this process has written of them. */
const patienceMs = 1_000;

/** All but asking upstream now. */
type KnownTasks = Omit<Tasks, 'look' | 'observe'>;

export function knownTasks(ports: OpenTasksPorts): KnownTasks & {
  /** See Tasks. `known`: how far it is by the list; left out: not known. */
  observe(taskId: TaskId, seen: TaskObservation, known?: KnownProgress): Promise<void>;
  /** Tasks that are not at an end, oldest first, behind `after`. */
  open(after: TaskId | null, limit: number): Promise<readonly TaskRow[]>;
} {
  const { db, progress, position } = ports;
  const slots = new TaskSlots((user) => ports.tasks.openOf(user));
  const fresh = () => progress.reached(position(), patienceMs, [tasksName]);
  return {
    takeSlot: (callId, user, limit) => slots.take(callId, user, limit),
    releaseSlot: (callId) => slots.release(callId),
    async submitted(task) {
      const id = await recordTask(ports, task);
      slots.release(task.callId);
      return id;
    },
    async ofUser(user, publicIds, platform) {
      await fresh();
      return tasksOfUser(ports, user, publicIds, platform);
    },
    async page(user, platform, page) {
      await fresh();
      return taskPage(ports, user, platform, page);
    },
    forget: (taskId) => ports.tasks.forget(taskId),
    async byId(taskId) {
      await fresh();
      return taskById(ports, taskId);
    },
    async byCall(callId) {
      await fresh();
      return taskByCall(ports, callId);
    },
    observe: (taskId, seen, known) => observeTask(ports, taskId, seen, known),
    open: (after, limit) => openTasks(db, after, limit),
  };
}
