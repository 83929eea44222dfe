import { sql } from 'kysely';
import type { ChannelId, TaskId, UserId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';
import type { TaskPlatform, TaskStatus } from '../../domain/task/task.js';
import type { ReadModels } from '../database.js';
import { type TaskRow, tasks } from './tasks.js';

/* What is asked of tasks. */

export interface TaskFilter {
  readonly userId?: UserId;
  readonly channelId?: ChannelId;
  readonly platforms?: readonly TaskPlatform[];
  readonly action?: string;
  readonly status?: TaskStatus;
  /** The whole of it. */
  readonly publicId?: string;
  /** Submitted then or later. */
  readonly from?: Instant;
  /** Submitted then or earlier. */
  readonly to?: Instant;
}

/** The name by which its progress is asked for. */
export const tasksName = tasks.name;

const matching = (db: ReadModels, filter: TaskFilter) => {
  const { userId, channelId, platforms, action, status, publicId, from, to } = filter;
  let found = db.selectFrom('task');
  if (userId !== undefined) found = found.where('user_id', '=', userId);
  if (channelId !== undefined) found = found.where('channel_id', '=', channelId);
  if (platforms !== undefined) found = found.where('platform', '=', sql<TaskPlatform>`any(${platforms}::text[])`);
  if (action !== undefined) found = found.where('action', '=', action);
  if (status !== undefined) found = found.where('status', '=', status);
  if (publicId !== undefined) found = found.where('public_id', '=', publicId);
  if (from !== undefined) found = found.where('submitted_at', '>=', from);
  if (to !== undefined) found = found.where('submitted_at', '<=', to);
  return found;
};

export interface TaskRange {
  /** Only older ones; null: from the newest on. */
  readonly before: TaskId | null;
  readonly limit: number;
  readonly offset?: number;
}

/** Newest first. */
export const tasksBefore = (
  db: ReadModels,
  filter: TaskFilter,
  { before, limit, offset = 0 }: TaskRange,
): Promise<TaskRow[]> => {
  let found = matching(db, filter).selectAll();
  if (before !== null) found = found.where('id', '<', before);
  return found.orderBy('id', 'desc').limit(limit).offset(offset).execute();
};

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
