import { isKeptId } from '../call/kept-object.js';
import type { Decider } from '../kernel/decider.js';
import { assertNever, invalidField } from '../kernel/failure.js';
import type { ApiKeyId, CallId, ChannelId, TaskId, UserId } from '../kernel/ids.js';
import type { Instant } from '../kernel/instant.js';
import type { Quota } from '../kernel/quota.js';

/*
 * Work that an upstream does after it has answered the call that asked for it: a drawing, music, a video. Stream
 * `task-{taskId}`: submitted, progressed, then exactly one of succeeded or failed. What it says and shows stands in no
 * event: a prompt, an address or an upstream's own words are content, kept elsewhere.
 */

const taskPlatforms = ['midjourney', 'suno', 'video'] as const;
export type TaskPlatform = (typeof taskPlatforms)[number];

export const taskStatuses = [
  'not-started',
  'submitted',
  'queued',
  'modal',
  'in-progress',
  'succeeded',
  'failed',
  'unknown',
] as const;
/** `modal`: it waits for more from its caller. `unknown`: nobody has said yet. */
export type TaskStatus = (typeof taskStatuses)[number];
type OpenTaskStatus = Exclude<TaskStatus, 'succeeded' | 'failed'>;

export const taskFailureReasons = ['upstream', 'timed-out', 'channel-gone', 'rejected', 'cancelled'] as const;
/** `rejected`: for what it asks for, e.g. by moderation. `channel-gone`: nobody can be asked about it any more. */
export type TaskFailureReason = (typeof taskFailureReasons)[number];

/** What stays the same; repeated in each event so that each can be read alone. */
export interface TaskFacts {
  readonly taskId: TaskId;
  readonly userId: UserId;
  /** null: no API key pays. */
  readonly apiKeyId: ApiKeyId | null;
  readonly apiKeyName: string;
  readonly group: string;
  /** As billed. */
  readonly model: string;
  /** That submitted it, and is charged for it. */
  readonly callId: CallId;
  readonly channelId: ChannelId;
  readonly platform: TaskPlatform;
  /** See `isTaskAction`. */
  readonly action: string;
  /** By which upstream is asked about it, see `isUpstreamTaskId`. */
  readonly upstreamId: string;
  /** By which its caller names it, see `isKeptId`. May equal `upstreamId`. */
  readonly publicId: string;
  /** That it goes on from; null: from none. */
  readonly parent: TaskId | null;
}

/** The charge that a failure takes back. */
export interface TaskRefund {
  readonly callId: CallId;
  readonly charged: Quota;
}

export type TaskEvent =
  /** Progress is in percent. */
  | { type: 'TaskSubmitted'; facts: TaskFacts; status: OpenTaskStatus; progress: number }
  /** `startedAt`: as upstream says; null: it has not said. */
  | { type: 'TaskProgressed'; facts: TaskFacts; status: OpenTaskStatus; progress: number; startedAt: Instant | null }
  | { type: 'TaskSucceeded'; facts: TaskFacts; startedAt: Instant | null; finishedAt: Instant | null }
  | {
      type: 'TaskFailed';
      facts: TaskFacts;
      reason: TaskFailureReason;
      /** null: it was never charged, or its charge has been taken back otherwise. */
      refund: TaskRefund | null;
      progress: number;
      startedAt: Instant | null;
      finishedAt: Instant | null;
    };

export type TaskFailed = Extract<TaskEvent, { type: 'TaskFailed' }>;

/** What somebody has seen of it: an answer of upstream's, a report, the end of its time. */
export interface SeenTask {
  readonly status: Exclude<TaskStatus, 'failed'>;
  /** In percent; null: not said. */
  readonly progress: number | null;
  readonly startedAt: Instant | null;
  readonly finishedAt: Instant | null;
}

export type TaskCommand =
  | { type: 'SubmitTask'; facts: TaskFacts; status: OpenTaskStatus; progress: number }
  | ({ type: 'ObserveTask' } & SeenTask)
  | ({ type: 'FailTask'; reason: TaskFailureReason; refund: TaskRefund | null } & Omit<
      SeenTask,
      'status' | 'progress'
    >);

export type Task =
  | { readonly status: 'none' }
  | {
      readonly status: TaskStatus;
      readonly facts: TaskFacts;
      readonly progress: number;
      readonly startedAt: Instant | null;
      /** Times that it has progressed. */
      readonly changes: number;
    };

/** What is seen to change oftener is written when it is at its end. */
const maxChanges = 300;

const isTaskAction = (action: string): boolean => /^[A-Z_]{1,32}$/.test(action);

/** Upstream chooses it. Names of long-running operations are paths. */
const isUpstreamTaskId = (id: string): boolean => /^[A-Za-z0-9][\w.:/-]{0,255}$/.test(id) && !id.includes('..');

export const isTerminal = (status: TaskStatus): status is 'succeeded' | 'failed' =>
  status === 'succeeded' || status === 'failed';

const openStatuses = taskStatuses.filter((status): status is OpenTaskStatus => !isTerminal(status));

/** Reports overtake each other: a status is not followed by one of a lower rank. */
const ranks: Readonly<Record<OpenTaskStatus, number>> = {
  unknown: 0,
  'not-started': 1,
  submitted: 2,
  modal: 2,
  queued: 3,
  'in-progress': 4,
};

/** What a wire has misread, or what is not open, says nothing: no other text, and nothing else, stands in an event. */
const openStatus = (said: TaskStatus): OpenTaskStatus => openStatuses.find((status) => status === said) ?? 'unknown';

/** Upstream reports percent in its own way: a whole number from 0 to 100, never less than before. */
const percent = (reported: number | null, before: number): number =>
  reported === null || !(reported > before) ? before : Math.min(Math.floor(reported), 100);

/** Throws `invalid-field`. */
function checkFacts({ action, upstreamId, publicId }: TaskFacts): void {
  if (!isTaskAction(action)) throw invalidField('action', 'up to 32 letters A to Z and _');
  if (!isUpstreamTaskId(upstreamId)) throw invalidField('upstreamId', "an id of up to 256 letters, digits and '_.:/-'");
  if (!isKeptId(publicId)) throw invalidField('publicId', "an id of up to 128 letters, digits and '_.:-'");
}

type KnownTask = Exclude<Task, { status: 'none' }>;

/** How far a task is. */
export type KnownProgress = Pick<KnownTask, 'status' | 'progress' | 'startedAt'>;
type OpenProgress = KnownProgress & { readonly status: OpenTaskStatus };

function progressed(before: OpenProgress, seen: SeenTask): OpenProgress {
  const said = openStatus(seen.status);
  return {
    status: ranks[said] < ranks[before.status] ? before.status : said,
    progress: percent(seen.progress, before.progress),
    startedAt: before.startedAt ?? seen.startedAt,
  };
}

const isSame = (one: OpenProgress, other: OpenProgress): boolean =>
  one.status === other.status && one.progress === other.progress && one.startedAt === other.startedAt;

/** Whether a task is further than it was by what is seen. What says nothing new to an earlier state says nothing later. */
export function isNews({ status, ...rest }: KnownProgress, seen: SeenTask): boolean {
  if (isTerminal(status)) return false;
  const before = { ...rest, status };
  return seen.status === 'succeeded' || !isSame(progressed(before, seen), before);
}

function observed(task: KnownTask & { status: OpenTaskStatus }, seen: SeenTask): TaskEvent[] {
  const { facts } = task;
  const { status, progress, startedAt } = progressed(task, seen);
  if (seen.status === 'succeeded') return [{ type: 'TaskSucceeded', facts, startedAt, finishedAt: seen.finishedAt }];
  if (task.changes >= maxChanges || !isNews(task, seen)) return [];
  return [{ type: 'TaskProgressed', facts, status, progress, startedAt }];
}

export const taskDecider: Decider<Task, TaskCommand, TaskEvent> = {
  initial: { status: 'none' },
  decide(command, task) {
    if (command.type === 'SubmitTask') {
      if (task.status !== 'none') return [];
      checkFacts(command.facts);
      const { facts } = command;
      return [
        { type: 'TaskSubmitted', facts, status: openStatus(command.status), progress: percent(command.progress, 0) },
      ];
    }
    if (task.status === 'none') throw invalidField('task', 'a task that was submitted');
    const { status } = task;
    if (isTerminal(status)) return [];
    switch (command.type) {
      case 'ObserveTask':
        return observed({ ...task, status }, command);
      case 'FailTask': {
        const { reason, refund, finishedAt } = command;
        const startedAt = task.startedAt ?? command.startedAt;
        const { facts, progress } = task;
        return [{ type: 'TaskFailed', facts, reason, refund, progress, startedAt, finishedAt }];
      }
      default:
        return assertNever(command);
    }
  },
  evolve(task, event) {
    const { facts } = event;
    const changes = task.status === 'none' ? 0 : task.changes;
    switch (event.type) {
      case 'TaskSubmitted':
        return { status: event.status, facts, progress: event.progress, startedAt: null, changes };
      case 'TaskProgressed': {
        const { status, progress, startedAt } = event;
        return { status, facts, progress, startedAt, changes: changes + 1 };
      }
      case 'TaskSucceeded':
        return { status: 'succeeded', facts, progress: 100, startedAt: event.startedAt, changes };
      case 'TaskFailed':
        return { status: 'failed', facts, progress: event.progress, startedAt: event.startedAt, changes };
      default:
        return assertNever(event);
    }
  },
};
