import { isTerminal } from '../../domain/task/task.js';
import type { TaskRow } from '../../projections/models/tasks.js';
import type { OpenTask, OpenTasks } from '../ports/task-poll-ports.js';
import type { knownTasks } from './open-tasks.js';

const ofRow = (row: TaskRow): OpenTask => ({
  taskId: row.id,
  channelId: row.channel_id,
  platform: row.platform,
  upstreamId: row.upstream_id,
  action: row.action,
  model: row.model,
  submittedAt: row.submitted_at,
  known: { status: row.status, progress: row.progress, startedAt: row.started_at },
});

/** Open tasks, as far as whoever asks upstreams about them needs to know them. */
export const pollableTasks = ({ open, byId }: Pick<ReturnType<typeof knownTasks>, 'open' | 'byId'>): OpenTasks => ({
  page: async (after, limit) => (await open(after, limit)).map(ofRow),
  async find(taskId) {
    const task = await byId(taskId);
    if (task === null || isTerminal(task.status)) return null;
    const { channelId, platform, upstreamId, action, model } = task.facts;
    const { submittedAt, status, progress, startedAt } = task;
    const known = { status, progress, startedAt };
    return { taskId, channelId, platform, upstreamId, action, model, submittedAt, known };
  },
});
