import type { ChannelId, TaskId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';
import type { KnownProgress, TaskPlatform } from '../../domain/task/task.js';
import type { TaskObservation } from './task-ports.js';

/* Tasks that are at no end yet, and how their upstreams are asked about them. */

export interface OpenTask {
  readonly taskId: TaskId;
  readonly channelId: ChannelId;
  readonly platform: TaskPlatform;
  /** As upstream is asked about it. */
  readonly upstreamId: string;
  readonly action: string;
  readonly model: string;
  readonly submittedAt: Instant;
  /** As the list has it, which may lag behind the log. */
  readonly known: KnownProgress;
}

/** A channel, and one platform of its tasks. */
export interface TaskSource {
  readonly channelId: ChannelId;
  readonly platform: TaskPlatform;
}

export interface OpenTasks {
  /** Those after this one, in the order of their ids. They may lag behind the log. */
  page(after: TaskId | null, limit: number): Promise<readonly OpenTask[]>;
  /** null: it is none, or at its end. */
  find(taskId: TaskId): Promise<OpenTask | null>;
}

/** How tasks of a channel are asked about. */
export interface TaskTerms {
  /** Tasks of one request. */
  readonly batch: number;
  /** Milliseconds after which a task fails that is not at an end. */
  readonly limitMs: number;
}

/** Nothing can be told of any: why, without key and address. `refused`: the upstream has answered, and may for fewer. */
export interface UnreachedTasks {
  readonly kind: 'unreached' | 'refused';
  readonly why: string;
}

export type AskedTasks = UnreachedTasks | { readonly kind: 'seen'; readonly tasks: readonly TaskObservation[] };

export interface TaskUpstreams {
  /** `gone`: there is no such channel any more. `unasked`: its provider takes no such tasks now. */
  terms(channel: ChannelId, platform: TaskPlatform): TaskTerms | 'gone' | 'unasked';
  /** Asks one channel about tasks of one platform, no more than `batch`. */
  ask(channel: ChannelId, platform: TaskPlatform, tasks: readonly OpenTask[]): Promise<AskedTasks>;
}
