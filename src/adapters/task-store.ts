import type { Pool } from 'pg';
import type { StoredTask, TaskStore } from '../application/ports/task-ports.js';
import { CallId, Sealed, TaskId, UserId } from '../domain/kernel/ids.js';
import { Instant } from '../domain/kernel/instant.js';
import { statements } from './database/statements.js';

interface Row {
  readonly task_id: number;
  readonly call_id: string;
  readonly user_id: number;
  readonly submitted_at: number;
  readonly progress: number;
  readonly submission: StoredTask['submission'];
  readonly sealed: string | null;
}

const columns = 'task_id, call_id, user_id, submitted_at, progress, submission, sealed';

const taskOf = ({ task_id, call_id, user_id, submitted_at, progress, submission, sealed }: Row): StoredTask => ({
  id: TaskId(task_id),
  callId: CallId(call_id),
  userId: UserId(user_id),
  submittedAt: Instant(submitted_at),
  progress,
  submission,
  sealed: sealed === null ? null : Sealed(sealed),
});

/** null: it has been submitted before its end. */
const endOf = (submittedAt: Instant, { status }: StoredTask['submission']): Instant | null =>
  status === 'succeeded' ? submittedAt : null;

/** In a table beside the log. */
export function postgresTaskStore(pool: Pool): TaskStore {
  const query = statements(pool);
  const found = async (where: string, values: unknown[]): Promise<StoredTask[]> => {
    const { rows } = await query<Row>(`SELECT ${columns} FROM task_content WHERE ${where}`, values);
    return rows.map(taskOf);
  };

  return {
    async add({ callId, userId, submittedAt, submission, sealed }) {
      // The update that changes nothing makes the row visible to whoever lost the race for it.
      const { rows } = await query<Row>(
        `INSERT INTO task_content AS known (call_id, user_id, public_id, submitted_at, progress, submission, sealed, ended_at)
         VALUES ($1, $2, $3, $4, 0, $5, $6, $7)
         ON CONFLICT (call_id) DO UPDATE SET call_id = known.call_id RETURNING ${columns}`,
        [
          callId,
          userId,
          submission.publicId,
          submittedAt,
          JSON.stringify(submission),
          sealed,
          endOf(submittedAt, submission),
        ],
      );
      const [row] = rows;
      if (row === undefined) throw new Error('Postgres answered without a task');
      return taskOf(row);
    },
    byIds: (ids) => found('task_id = ANY ($1::bigint[])', [ids]),
    byCalls: (calls) => found('call_id = ANY ($1::text[])', [calls]),
    newestOf: (user, publicIds, platform) =>
      found(
        `task_id IN (SELECT max(task_id) FROM task_content
           WHERE user_id = $1 AND public_id = ANY ($2::text[]) AND submission->>'platform' = $3
           GROUP BY public_id)`,
        [user, publicIds, platform],
      ),
    async openOf(user) {
      const { rows } = await query<{ readonly open: number }>(
        'SELECT count(*)::int AS open FROM task_content WHERE user_id = $1 AND ended_at IS NULL',
        [user],
      );
      return rows[0]?.open ?? 0;
    },
    page: (user, platform, { after, order, limit }) =>
      found(
        `user_id = $1 AND submission->>'platform' = $2 AND sealed IS NOT NULL
           AND task_id ${order === 'asc' ? '>' : '<'} $3
         ORDER BY task_id ${order === 'asc' ? 'ASC' : 'DESC'} LIMIT $4`,
        [user, platform, after ?? (order === 'asc' ? 0 : Number.MAX_SAFE_INTEGER), limit],
      ),
    async replace(id, { was, sealed, progress, endedAt = null }) {
      const { rowCount } = await query(
        `UPDATE task_content SET sealed = $3, progress = $4, ended_at = coalesce(ended_at, $5)
         WHERE task_id = $1 AND sealed IS NOT DISTINCT FROM $2::text AND progress <= $4`,
        [id, was, sealed, progress, endedAt],
      );
      return rowCount === 1;
    },
    async clear(before) {
      await query('UPDATE task_content SET sealed = NULL WHERE ended_at < $1 AND sealed IS NOT NULL', [before]);
    },
    async forget(id) {
      await query('UPDATE task_content SET sealed = NULL WHERE task_id = $1', [id]);
    },
    async clearOf(users) {
      await query('UPDATE task_content SET sealed = NULL WHERE user_id = ANY ($1::bigint[]) AND sealed IS NOT NULL', [
        users,
      ]);
    },
  };
}
