import type { StoredTask, TaskStore } from '../../../src/application/ports/task-ports.js';
import { type Sealed, TaskId } from '../../../src/domain/kernel/ids.js';
import type { Instant } from '../../../src/domain/kernel/instant.js';

/** As the table beside the log, for one process. */
export class MemoryTaskStore implements TaskStore {
  private readonly rows: StoredTask[] = [];
  private readonly ends = new Map<TaskId, Instant>();

  async add(task: Omit<StoredTask, 'id' | 'progress'>): Promise<StoredTask> {
    const known = this.rows.find(({ callId }) => callId === task.callId);
    if (known !== undefined) return known;
    const added = { ...task, id: TaskId(this.rows.length + 1), progress: 0 };
    this.rows.push(added);
    if (task.submission.status === 'succeeded') this.ends.set(added.id, task.submittedAt);
    return added;
  }

  async byIds(ids: readonly TaskId[]): Promise<readonly StoredTask[]> {
    return this.rows.filter(({ id }) => ids.includes(id));
  }

  async byCalls(calls: Parameters<TaskStore['byCalls']>[0]): Promise<readonly StoredTask[]> {
    return this.rows.filter(({ callId }) => calls.includes(callId));
  }

  async newestOf(...[user, publicIds, platform]: Parameters<TaskStore['newestOf']>): Promise<readonly StoredTask[]> {
    const newest = new Map<string, StoredTask>();
    for (const row of this.rows) {
      const { submission } = row;
      const isAsked =
        row.userId === user && submission.platform === platform && publicIds.includes(submission.publicId);
      if (isAsked) newest.set(submission.publicId, row);
    }
    return [...newest.values()];
  }

  async page(
    ...[user, platform, { after, order, limit }]: Parameters<TaskStore['page']>
  ): Promise<readonly StoredTask[]> {
    const rows = this.rows.filter(
      ({ userId, submission, sealed }) => userId === user && submission.platform === platform && sealed !== null,
    );
    const ordered = order === 'asc' ? rows : rows.toReversed();
    return ordered.filter(({ id }) => after === null || (order === 'asc' ? id > after : id < after)).slice(0, limit);
  }

  async openOf(user: Parameters<TaskStore['openOf']>[0]): Promise<number> {
    return this.rows.filter(({ id, userId }) => userId === user && !this.ends.has(id)).length;
  }

  async replace(...[id, { was, sealed, progress, endedAt }]: Parameters<TaskStore['replace']>): Promise<boolean> {
    const index = this.rows.findIndex((row) => row.id === id && row.sealed === was && row.progress <= progress);
    const row = this.rows[index];
    if (row === undefined) return false;
    this.rows[index] = { ...row, sealed, progress };
    if (endedAt !== undefined && !this.ends.has(id)) this.ends.set(id, endedAt);
    return true;
  }

  async clear(before: Parameters<TaskStore['clear']>[0]): Promise<void> {
    this.forgetWhere(({ id }) => (this.ends.get(id) ?? before) < before);
  }

  async forget(gone: TaskId): Promise<void> {
    this.forgetWhere(({ id }) => id === gone);
  }

  async clearOf(users: Parameters<TaskStore['clearOf']>[0]): Promise<void> {
    this.forgetWhere(({ userId }) => users.includes(userId));
  }

  private forgetWhere(isGone: (row: StoredTask) => boolean): void {
    const nothing: Sealed | null = null;
    for (const [index, row] of this.rows.entries()) if (isGone(row)) this.rows[index] = { ...row, sealed: nothing };
  }
}
