import type { Recorded } from '../../domain/events/events.js';
import type { TaskId } from '../../domain/kernel/ids.js';
import type { Actor } from '../../domain/user/user.js';
import { type TaskFilter, type TaskRange, tasksBefore, tasksByIds } from '../../projections/models/task-queries.js';
import { authorise, mayDo } from '../authorise.js';
import type { PersonalData, Vault } from '../ports/storage-ports.js';
import type { TaskStore, TaskView } from '../ports/task-ports.js';
import { currentOf, type ReadingPorts } from '../viewer.js';
import { viewsOf } from './task-views.js';

/* Tasks as people see them: their own, and administrators everybody's. */

interface TaskQueryPorts extends ReadingPorts {
  readonly taskStore: TaskStore;
  readonly personal: Pick<PersonalData, 'seal' | 'openAll'>;
  readonly vault: Pick<Vault, 'hash'>;
}

/** Whose task is changed by an event; null: none is. */
function taskOwner({ event }: Pick<Recorded, 'event'>): { readonly task: TaskId; readonly user: Actor['id'] } | null {
  switch (event.type) {
    case 'TaskSubmitted':
    case 'TaskProgressed':
    case 'TaskSucceeded':
    case 'TaskFailed':
      return { task: event.facts.taskId, user: event.facts.userId };
    case 'CallSettled':
    case 'CallRefunded':
      return event.task === undefined ? null : { task: event.task.id, user: event.facts.userId };
    default:
      return null;
  }
}

/** Administrators see everybody's; others their own, without asking by what they are not shown. Throws `role-too-low`. */
function visibleTasks(viewer: Actor, filter: TaskFilter, own: boolean): TaskFilter {
  if (!own || filter.channelId !== undefined || filter.userId !== undefined) authorise(viewer, 'admin-reading');
  return own ? { ...filter, userId: viewer.id } : filter;
}

export function taskQueries({ taskStore, personal, vault, ...reading }: TaskQueryPorts) {
  const current = currentOf(reading);
  const ports = { tasks: taskStore, personal };

  return {
    /** Throws `role-too-low` where the viewer may not ask so; for those who follow. */
    mayAskTasks(viewer: Actor, filter: TaskFilter, own: boolean): void {
      visibleTasks(viewer, filter, own);
    },
    /** Newest first. */
    async tasks(viewer: Actor, filter: TaskFilter, range: TaskRange, own: boolean): Promise<readonly TaskView[]> {
      const visible = visibleTasks(viewer, filter, own);
      return viewsOf(ports, await tasksBefore(await current(), visible, range));
    },
    /** null: there is none that the viewer may see. */
    async task(viewer: Actor, id: TaskId): Promise<TaskView | null> {
      const [row] = await tasksByIds(await current(), [id]);
      if (row === undefined || (row.user_id !== viewer.id && !mayDo(viewer, 'admin-reading'))) return null;
      return (await viewsOf(ports, [row]))[0] ?? null;
    },
    /** Those of these that the viewer may see, and that the list contains by now. */
    async tasksOf(viewer: Actor, ids: readonly TaskId[], own: boolean): Promise<readonly TaskView[]> {
      if (!own) authorise(viewer, 'admin-reading');
      const rows = await tasksByIds(reading.db, ids);
      return viewsOf(ports, own ? rows.filter(({ user_id }) => user_id === viewer.id) : rows);
    },
    taskOwner,
    /** What addresses of pictures are signed with. */
    mediaKeys: { hash: (text: string) => vault.hash(text) },
  };
}
