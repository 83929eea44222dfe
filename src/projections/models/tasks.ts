import { type Selectable, sql } from 'kysely';
import type { CallRefunded, CallSettled } from '../../domain/call/call.js';
import type { CallCorrected } from '../../domain/call/call-correction.js';
import { type Position, type Recorded, streamKey } from '../../domain/events/events.js';
import { assertNever } from '../../domain/kernel/failure.js';
import type { ApiKeyId, CallId, ChannelId, TaskId, UserId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';
import type { Quota } from '../../domain/kernel/quota.js';
import type { TaskEvent, TaskFailureReason, TaskPlatform, TaskStatus } from '../../domain/task/task.js';
import { putRows } from '../engine/multi-row.js';
import { projection } from '../engine/projection.js';

/* Tasks: how far each is, whose it is, and what it has cost. What they say and show is kept elsewhere. */

export interface TaskTables {
  /** Times are milliseconds since 1970, as the clients of drawings show them. */
  task: {
    id: TaskId;
    user_id: UserId;
    /** null: no API key paid. */
    api_key_id: ApiKeyId | null;
    api_key_name: string;
    group: string;
    model: string;
    call_id: CallId;
    channel_id: ChannelId;
    platform: TaskPlatform;
    action: string;
    upstream_id: string;
    public_id: string;
    parent: TaskId | null;
    status: TaskStatus;
    /** Percent. */
    progress: number;
    /** null: it has not failed. */
    reason: TaskFailureReason | null;
    submitted_at: Instant;
    /** As upstream says. */
    started_at: Instant | null;
    /** null: it is not at an end. */
    finished_at: Instant | null;
    /** Of its last event. */
    changed_at: Instant;
    /** null: its call has not been settled. */
    charged: Quota | null;
    refunded: boolean;
    /** Of the last event. */
    position: Position;
  };
}

export type TaskRow = Selectable<TaskTables['task']>;

const tables = `
  create table task (
    id bigint primary key,
    user_id bigint not null,
    api_key_id bigint,
    channel_id bigint not null,
    parent bigint,
    submitted_at bigint not null,
    started_at bigint,
    finished_at bigint,
    changed_at bigint not null,
    charged bigint,
    position bigint not null,
    progress int not null,
    refunded boolean not null,
    api_key_name text not null,
    "group" text not null,
    model text not null,
    call_id text not null,
    platform text not null,
    action text not null,
    upstream_id text not null,
    public_id text not null,
    status text not null,
    reason text
  );
  create index on task (call_id);
  create index on task (user_id, id desc);
  create index on task (public_id, id desc);
  create index on task (channel_id, id desc);
  create index on task (id) where finished_at is null;
`;

type SeenEvent = TaskEvent | CallSettled | CallRefunded | CallCorrected;

export const tasks = projection<SeenEvent>({
  name: 'tasks',
  version: 1,
  purpose: 'showing',
  tables,
  interestedIn: {
    TaskSubmitted: true,
    TaskProgressed: true,
    TaskSucceeded: true,
    TaskFailed: true,
    CallSettled: true,
    CallRefunded: true,
    CallCorrected: true,
  },
  async project(tx, batch) {
    const concerned = batch.filter(({ event }) => isOfTask(event));
    if (concerned.length === 0) return;
    const changed = concerned.flatMap(({ event, stream }) =>
      event.type === 'CallRefunded' || event.type === 'CallCorrected' ? [streamKey(stream) as CallId] : [],
    );
    const ids = concerned.flatMap(({ event }) => taskOf(event) ?? []);
    const stored = await tx
      .selectFrom('task')
      .selectAll()
      .where((row) =>
        row.or([row('id', '=', sql<TaskId>`any(${ids})`), row('call_id', '=', sql<CallId>`any(${changed})`)]),
      )
      .execute();
    const rows = new Map<TaskId, TaskRow>(stored.map((row) => [row.id, row]));
    for (const recorded of concerned) {
      const row = evolve(rowFor(rows, recorded), recorded);
      if (row !== undefined) rows.set(row.id, { ...row, changed_at: recorded.at, position: recorded.position });
    }
    await putRows(tx, 'task', ['id'], [...rows.values()]);
  },
});

/** Nearly all settlements are of calls that have submitted none: they cost this look. */
const isOfTask = (event: SeenEvent): boolean => event.type !== 'CallSettled' || event.task !== undefined;

function taskOf(event: SeenEvent): TaskId | null {
  if (event.type === 'CallSettled') return event.task?.id ?? null;
  return event.type === 'CallRefunded' || event.type === 'CallCorrected' ? null : event.facts.taskId;
}

/** What changes a settlement names its task only by its call. */
function rowFor(rows: ReadonlyMap<TaskId, TaskRow>, { event, stream }: Recorded<SeenEvent>): TaskRow | undefined {
  const id = taskOf(event);
  return id === null ? [...rows.values()].find(({ call_id }) => call_id === streamKey(stream)) : rows.get(id);
}

function evolve(row: TaskRow | undefined, { event, at, position }: Recorded<SeenEvent>): TaskRow | undefined {
  if (event.type === 'TaskSubmitted') {
    const { facts, status, progress } = event;
    return {
      id: facts.taskId,
      user_id: facts.userId,
      api_key_id: facts.apiKeyId,
      api_key_name: facts.apiKeyName,
      group: facts.group,
      model: facts.model,
      call_id: facts.callId,
      channel_id: facts.channelId,
      platform: facts.platform,
      action: facts.action,
      upstream_id: facts.upstreamId,
      public_id: facts.publicId,
      parent: facts.parent,
      status,
      progress,
      reason: null,
      submitted_at: at,
      started_at: null,
      finished_at: null,
      changed_at: at,
      charged: null,
      refunded: false,
      position,
    };
  }
  if (row === undefined) return undefined;
  switch (event.type) {
    case 'TaskProgressed':
      return { ...row, status: event.status, progress: event.progress, started_at: event.startedAt };
    case 'TaskSucceeded':
      return {
        ...row,
        status: 'succeeded',
        progress: 100,
        started_at: event.startedAt,
        finished_at: event.finishedAt ?? at,
      };
    case 'TaskFailed': {
      const { reason, progress, startedAt, finishedAt } = event;
      return { ...row, status: 'failed', reason, progress, started_at: startedAt, finished_at: finishedAt ?? at };
    }
    case 'CallSettled':
      return { ...row, charged: event.charged };
    case 'CallRefunded':
      return { ...row, refunded: true };
    case 'CallCorrected':
      return { ...row, charged: event.to.charged };
    default:
      return assertNever(event);
  }
}
