import { sql } from 'kysely';
import type { TaskId } from '../../domain/kernel/ids.js';
import type { ReadModels } from '../database.js';
import { type TaskRow, tasks } from './tasks.js';

/* What is asked of tasks. */

/** The name by which its progress is asked for. */
export const tasksName = tasks.name;

export const tasksByIds = (db: ReadModels, ids: readonly TaskId[]): Promise<TaskRow[]> =>
  db.selectFrom('task').selectAll().where('id', '=', sql<TaskId>`any(${ids}::bigint[])`).execute();

/** Tasks that are not at an end, oldest first, behind `after`. */
export const openTasks = (db: ReadModels, after: TaskId | null, limit: number): Promise<TaskRow[]> =>
  db
    .selectFrom('task')
    .selectAll()
    .where('finished_at', 'is', null)
    .where('id', '>', after ?? (0 as TaskId))
    .orderBy('id')
    .limit(limit)
    .execute();
