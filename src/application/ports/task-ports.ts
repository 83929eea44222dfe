import type { CallId, Sealed, TaskId, UserId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';
import type { Quota } from '../../domain/kernel/quota.js';
import type { TaskFacts, TaskFailureReason, TaskPlatform, TaskStatus } from '../../domain/task/task.js';

/* Tasks, for those who submit them and for those who learn what becomes of them. */

/**
 * What a task says and shows, in words of its caller and its upstream. Texts are bounded when they are kept: a long
 * member is cut, and a `result` that is too long is left out, for half of a JSON text is none.
 */
export interface TaskContent {
  readonly prompt?: string;
  readonly promptEn?: string;
  readonly description?: string;
  readonly state?: string;
  /** Upstream's own words for why it failed. */
  readonly failReason?: string;
  /** JSON text of what upstream has returned for it. */
  readonly result?: string;
  /** Addresses of pictures, sound and videos that upstream has returned: nothing else is ever fetched for it. */
  readonly urls: readonly string[];
}

/** One call submits at most one task. */
export interface NewTask extends Omit<TaskFacts, 'taskId' | 'publicId'> {
  /** Left out: the same as `upstreamId`, which must then be a kept id. */
  readonly publicId?: string;
  /** `failed` is looked into, and not believed of an upstream that has just taken it. */
  readonly status: TaskStatus;
  /** Percent. */
  readonly progress: number;
  readonly content: TaskContent;
}

/** How upstream says a task is. */
export interface TaskObservation {
  readonly upstreamId: string;
  readonly status: TaskStatus;
  /** Why it has failed. Left out: `upstream`. */
  readonly reason?: TaskFailureReason;
  /** Percent; null: not said. */
  readonly progress: number | null;
  readonly startedAt: Instant | null;
  readonly finishedAt: Instant | null;
  /** Members that are left out stay as they are; so do `urls` where there are none. */
  readonly content: TaskContent;
}

export interface TaskView {
  readonly facts: TaskFacts;
  readonly status: TaskStatus;
  /** Percent. */
  readonly progress: number;
  /** null: it has not failed. */
  readonly reason: TaskFailureReason | null;
  readonly submittedAt: Instant;
  readonly startedAt: Instant | null;
  readonly finishedAt: Instant | null;
  /** What its call was charged; null: nothing yet. */
  readonly charged: Quota | null;
  readonly refunded: boolean;
  /** null: it is not kept any more. */
  readonly content: TaskContent | null;
}

/** In the order in which they were submitted. */
export interface TaskPage {
  /** The last of the page before, as its caller names it; null: it is the first page. */
  readonly after: string | null;
  readonly order: 'asc' | 'desc';
  readonly limit: number;
}

export interface Tasks {
  /** Takes a slot for a call that may submit a task; false: its user has `limit` open tasks, with such calls. */
  takeSlot(callId: CallId, user: UserId, limit: number): Promise<boolean>;
  /** Gives back the slot of a call whose task is not written down; nothing, where it is, or the call has no slot. */
  releaseSlot(callId: CallId): void;
  /** Resolves when it is durable; the same task where its call has submitted one already. Throws `store-unavailable`. */
  submitted(task: NewTask): Promise<TaskId>;
  /** Of these those that are the user's, the newest of each id. */
  ofUser(user: UserId, publicIds: readonly string[], platform: TaskPlatform): Promise<readonly TaskView[]>;
  /** Of those that are the user's and whose content is kept; null: there is none that the page is to come after. */
  page(user: UserId, platform: TaskPlatform, page: TaskPage): Promise<readonly TaskView[] | null>;
  /** Keeps its content no longer. What it has cost stays. */
  forget(taskId: TaskId): Promise<void>;
  /** null: there is none. */
  byId(taskId: TaskId): Promise<TaskView | null>;
  /** That this call has submitted. null: it has submitted none. */
  byCall(callId: CallId): Promise<TaskView | null>;
  /** Its one transition: whoever has learned something of it says so here. A repeat, or what comes late, changes nothing. */
  observe(taskId: TaskId, seen: TaskObservation): Promise<void>;
  /** Asks upstream now, at most every 2 s for each task. Never rejects. */
  look(taskId: TaskId): Promise<void>;
}

/** A task as it was submitted. All of it is JSON. */
export type TaskSubmission = Omit<TaskFacts, 'taskId'> & { readonly status: TaskStatus; readonly progress: number };

export interface StoredTask {
  readonly id: TaskId;
  readonly callId: CallId;
  readonly userId: UserId;
  readonly submittedAt: Instant;
  /** Up to where `sealed` says how it is; beyond 100: it is at an end. */
  readonly progress: number;
  readonly submission: TaskSubmission;
  /** Its content, for its user; null: it is not kept any more. */
  readonly sealed: Sealed | null;
}

/** Where tasks are written down before their events, and where their content is kept. */
export interface TaskStore {
  /** Resolves when it is durable, with the one of its call that came first. */
  add(task: Omit<StoredTask, 'id' | 'progress'>): Promise<StoredTask>;
  byIds(ids: readonly TaskId[]): Promise<readonly StoredTask[]>;
  byCalls(calls: readonly CallId[]): Promise<readonly StoredTask[]>;
  /** The newest of each of these ids. */
  newestOf(user: UserId, publicIds: readonly string[], platform: TaskPlatform): Promise<readonly StoredTask[]>;
  /** How many of this user's are at no end. */
  openOf(user: UserId): Promise<number>;
  /** Of those whose content is kept, in this order. `after`: its id; null: from the first. */
  page(
    user: UserId,
    platform: TaskPlatform,
    page: Omit<TaskPage, 'after'> & { readonly after: TaskId | null },
  ): Promise<readonly StoredTask[]>;
  /** False: it says something else than `was` by now, or something newer. */
  replace(
    id: TaskId,
    content: {
      readonly was: Sealed | null;
      readonly sealed: Sealed;
      readonly progress: number;
      /** Left out: the task is at no end. */
      readonly endedAt?: Instant;
    },
  ): Promise<boolean>;
  /** Forgets the content of tasks that came to their end before. */
  clear(before: Instant): Promise<void>;
  /** Forgets the content of this task. */
  forget(id: TaskId): Promise<void>;
  /** Forgets the content of these users' tasks. */
  clearOf(users: readonly UserId[]): Promise<void>;
}
