import type { CallId, TaskId, UserId } from '../../domain/kernel/ids.js';
import type { TaskFacts, TaskPlatform } from '../../domain/task/task.js';
import { tasksByIds } from '../../projections/models/task-queries.js';
import type { TaskRow } from '../../projections/models/tasks.js';
import type { StoredTask, TaskContent, TaskPage, TaskView } from '../ports/task-ports.js';
import { foldedTask } from './observe-task.js';
import { openContents } from './task-content.js';
import type { TaskPorts } from './task-setting.js';

/* Tasks as their owners and the relay see them: what has happened, and what it says and shows. */

type ViewPorts = Pick<TaskPorts, 'tasks' | 'store' | 'personal' | 'db'>;

const factsOf = (row: TaskRow): TaskFacts => ({
  taskId: row.id,
  userId: row.user_id,
  apiKeyId: row.api_key_id,
  apiKeyName: row.api_key_name,
  group: row.group,
  model: row.model,
  callId: row.call_id,
  channelId: row.channel_id,
  platform: row.platform,
  action: row.action,
  upstreamId: row.upstream_id,
  publicId: row.public_id,
  parent: row.parent,
});

const viewOf = (row: TaskRow, content: TaskContent | null): TaskView => ({
  facts: factsOf(row),
  status: row.status,
  progress: row.progress,
  reason: row.reason,
  submittedAt: row.submitted_at,
  startedAt: row.started_at,
  finishedAt: row.finished_at,
  charged: row.charged,
  refunded: row.refunded,
  content,
});

/** The content of these rows. In their order. */
export async function viewsOf(
  { tasks, personal }: Pick<ViewPorts, 'tasks' | 'personal'>,
  rows: readonly TaskRow[],
): Promise<readonly TaskView[]> {
  const stored = await tasks.byIds(rows.map(({ id }) => id));
  const sealed = new Map(stored.map((one) => [one.id, one.sealed]));
  const contents = await openContents(
    personal,
    rows.map(({ id, user_id }) => ({ user: user_id, sealed: sealed.get(id) ?? null })),
  );
  return rows.map((row, index) => viewOf(row, contents[index] ?? null));
}

/** Of a task that the read model does not know yet. */
async function newTaskView(ports: ViewPorts, stored: StoredTask): Promise<TaskView> {
  const [task, [content = null]] = await Promise.all([
    foldedTask(ports, stored.id),
    openContents(ports.personal, [{ user: stored.userId, sealed: stored.sealed }]),
  ]);
  const { status, progress, ...facts } = stored.submission;
  const now = task.status === 'none' ? null : task;
  return {
    facts: { ...facts, taskId: stored.id },
    status: now?.status ?? status,
    progress: now?.progress ?? progress,
    reason: null,
    submittedAt: stored.submittedAt,
    startedAt: now?.startedAt ?? null,
    finishedAt: null,
    charged: null,
    refunded: false,
    content,
  };
}

/** Those that have just been submitted are among them, whatever the read model knows by now. */
async function viewsOfStored(ports: ViewPorts, stored: readonly StoredTask[]): Promise<readonly TaskView[]> {
  if (stored.length === 0) return [];
  const rows = await tasksByIds(
    ports.db,
    stored.map(({ id }) => id),
  );
  const known = new Map((await viewsOf(ports, rows)).map((view) => [view.facts.taskId, view]));
  return Promise.all(stored.map((one) => known.get(one.id) ?? newTaskView(ports, one)));
}

/** Of these those that are the user's, the newest of each id. */
export const tasksOfUser = async (
  ports: ViewPorts,
  user: UserId,
  publicIds: readonly string[],
  platform: TaskPlatform,
): Promise<readonly TaskView[]> => viewsOfStored(ports, await ports.tasks.newestOf(user, publicIds, platform));

/** null: the user has none of the name that the page is to come after. */
export async function taskPage(
  ports: ViewPorts,
  user: UserId,
  platform: TaskPlatform,
  { after, ...rest }: TaskPage,
): Promise<readonly TaskView[] | null> {
  const [last] = after === null ? [] : await ports.tasks.newestOf(user, [after], platform);
  if (after !== null && last === undefined) return null;
  const stored = await ports.tasks.page(user, platform, { ...rest, after: last?.id ?? null });
  const views = new Map((await viewsOfStored(ports, stored)).map((view) => [view.facts.taskId, view]));
  return stored.flatMap(({ id }) => views.get(id) ?? []);
}

export const taskById = async (ports: ViewPorts, id: TaskId): Promise<TaskView | null> =>
  (await viewsOfStored(ports, await ports.tasks.byIds([id])))[0] ?? null;

export const taskByCall = async (ports: ViewPorts, callId: CallId): Promise<TaskView | null> =>
  (await viewsOfStored(ports, await ports.tasks.byCalls([callId])))[0] ?? null;
