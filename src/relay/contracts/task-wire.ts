import type { NewTask, TaskObservation } from '../../application/ports/task-ports.js';
import type { TaskPlatform } from '../../domain/task/task.js';
import type { JsonObject } from '../json/json.js';
import type { Protocol, UpstreamChannel, UpstreamRequest } from './protocol.js';

/* What the relay knows of a provider that takes tasks: how they are put to it, and how to ask how far they are. */

/** A task as an answer has it: the rest is known of the call. */
export type AcceptedTask = Pick<NewTask, 'action' | 'upstreamId' | 'publicId' | 'status' | 'progress' | 'content'>;

/** How a task is put to a provider, and what the answer says: that it is taken, that it is not, or neither. */
export type SubmitWire = Pick<Protocol, 'request' | 'answer' | 'pictures'>;

/** What a request about a task says of it. */
interface PolledTask {
  readonly upstreamId: string;
  readonly action: string;
  readonly model: string;
}

export interface TaskWire {
  readonly platform: TaskPlatform;
  readonly submit: SubmitWire;
  /** Whether it has this action. Left out: it has all. */
  readonly offers?: (action: string) => boolean;
  /** Milliseconds after which a task fails that is not at an end. */
  readonly limitMs: number;
  /** Tasks that one request can ask about. */
  readonly batch: number;
  /** Of one answer. Left out: few, as tasks say little. */
  readonly maxAnswerBytes?: number;
  /** Throws NotConvertible. */
  poll(channel: UpstreamChannel, tasks: readonly PolledTask[]): UpstreamRequest;
  /**
   * A complete body, whatever its status: what it says of those `asked` about, and of no others. `unreached`: why nothing
   * can be told from it, without key and address.
   */
  read(
    status: number,
    body: Buffer,
    asked: readonly PolledTask[],
  ): readonly TaskObservation[] | { readonly unreached: string };
  /** What upstream reports by itself; null: nothing that can be read. Left out: it does not. */
  report?(body: JsonObject): TaskObservation | null;
}
