import type { ChangedOption, ChangedPrice } from '../../application/memory/changed-options.js';
import type { DirectorySnapshot } from '../../application/memory/directory.js';
import type { BackgroundCall, DeliveredInBackground } from '../../application/ports/background-call-ports.js';
import type { Shortage } from '../../application/ports/quota-gate-ports.js';
import type { NewTask, TaskObservation, TaskPage, TaskView } from '../../application/ports/task-ports.js';
import type { Config } from '../../config.js';
import type { Release } from '../../domain/call/call-conclusion.js';
import type { CallProgress } from '../../domain/call/call-progress.js';
import type { KeptOwner } from '../../domain/call/kept-object.js';
import type { Position, Recorded, StreamName } from '../../domain/events/events.js';
import type { ApiKeyId, CallId, ChannelId, SecretId, TaskId, UserId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';
import type { Quota } from '../../domain/kernel/quota.js';
import type { TaskPlatform } from '../../domain/task/task.js';
import type { ReportDoubt } from '../../http/client-address.js';
import type { Limits } from '../../relay/admission/call-limits.js';
import type { RelayError } from '../../relay/contracts/errors.js';
import type { Withdrawal } from '../../relay/metering/metered.js';
import type { RefusedKind } from '../../relay/pipeline/refusal-tally.js';
import type { ReservationMessage, ReserveMessage, SettleMessage } from './call-messages.js';
import type { Turn } from './calls-of-workers.js';

/*
 * What the processes of a node ask each other. The primary holds the database: it decides what is decided once, writes
 * the log and serves the console. Workers serve calls, and know by heart what they need for it. All of it is JSON.
 */

export interface PrimaryMethods {
  /** The page of a stream after a revision; empty at its end. */
  streamPage(stream: StreamName, after: number): Promise<readonly Recorded[]>;
  apiKeyIdByHash(keyHash: string): Promise<ApiKeyId | null>;
  secret(id: SecretId): Promise<string | null>;
  /** The worker's directory contains everything up to there. */
  taken(position: Position): void;

  isSpent(apiKey: ApiKeyId): Promise<boolean>;
  isUserSpent(user: UserId): Promise<boolean>;
  admit(user: UserId, apiKey: ApiKeyId | null, limits: Limits): Promise<Admitted>;
  /** null: there is no room. */
  enterChannel(channel: ChannelId, max: number): Promise<Ticket | null>;
  left(ticket: Ticket, succeeded: boolean): void;
  mayShowKey(network: string): Promise<boolean>;
  wrongKey(network: string): void;

  reserve(...order: ReserveMessage): Promise<Reserved>;
  extend(callId: CallId, quota: Quota): Promise<boolean>;
  settle(...settlement: SettleMessage): Promise<Quota>;
  settleOrWithdraw(withdrawal: Withdrawal, ...settlement: SettleMessage): Promise<Quota | null>;
  release(callId: CallId, release: Release): Promise<void>;
  /** Nobody serves the call any more, and it has no outcome. */
  abandon(callId: CallId): void;
  /** See CallProgressNotes; which calls have ended the primary knows itself. */
  note(notedTo: Turn, progressed: readonly { readonly callId: CallId; readonly progress: CallProgress }[]): void;

  /** See KeptObjects. */
  ownedKept(user: UserId, ids: readonly string[]): Promise<readonly (readonly [id: string, owner: KeptOwner])[]>;

  /** See BackgroundCalls. */
  takeBackgroundSlot(callId: CallId, user: UserId): Promise<boolean>;
  releaseBackgroundSlot(callId: CallId): void;
  beginBackground(call: BackgroundCall): Promise<void>;
  isBackgroundOpen(callId: CallId): Promise<boolean>;
  lookAtBackground(callId: CallId): Promise<void>;
  deliveredInBackground(callId: CallId, delivered: DeliveredInBackground): Promise<void>;
  stopBackground(callId: CallId): Promise<void>;
  endBackground(callId: CallId): Promise<void>;

  /** See StoredResponses; contents in base64. Room is given back by `left`. */
  reserveStoredResponse(user: UserId, id: string, bytes: number): Promise<Ticket | null>;
  shrinkStoredResponse(id: string, bytes: number): void;
  storeResponse(user: UserId, id: string, at: Instant, content: string): void;
  storedResponse(user: UserId, id: string): Promise<string | null>;
  removeStoredResponse(user: UserId, id: string): Promise<boolean>;

  /** See Tasks. */
  takeTaskSlot(callId: CallId, user: UserId, limit: number): Promise<boolean>;
  releaseTaskSlot(callId: CallId): void;
  taskSubmitted(task: NewTask): Promise<TaskId>;
  tasksOfUser(user: UserId, publicIds: readonly string[], platform: TaskPlatform): Promise<readonly TaskView[]>;
  pageOfTasks(user: UserId, platform: TaskPlatform, page: TaskPage): Promise<readonly TaskView[] | null>;
  forgetTask(taskId: TaskId): Promise<void>;
  taskById(taskId: TaskId): Promise<TaskView | null>;
  taskByCall(callId: CallId): Promise<TaskView | null>;
  observeTask(taskId: TaskId, seen: TaskObservation): Promise<void>;
  lookAtTask(taskId: TaskId): Promise<void>;

  apiKeyRefused(id: ApiKeyId, owner: UserId, cause: 'expired' | 'exhausted'): void;
  channelOutOfOrder(id: ChannelId, key: SecretId, reason: string): void;
  /** See ReportDoubt. */
  proxyDoubted(...doubted: Parameters<ReportDoubt>): void;
  /** Since the last time. */
  refused(kinds: readonly RefusedKind[]): void;
}

export interface WorkerMethods {
  /** Once, and first. Resolves with the port once it listens. */
  begin(setting: WorkerSetting, directory: SerializedDirectory): Promise<number>;
  /** What has been recorded since, calls left out. */
  news(events: readonly Recorded[]): Promise<void>;
  /** That the key is not spent is not to be believed any longer. */
  spent(apiKey: ApiKeyId): void;
  alive(): true;
  /** From now on requests are refused. */
  refuse(): void;
  /** The same, and nobody new is listened to. Resolves when no call is under way any more. */
  finish(): Promise<void>;
}

export interface WorkerSetting {
  readonly server: Config['server'];
  readonly outbound: Config['outbound'];
  readonly relay: Config['relay'];
  readonly logLevel: string;
  /** base64; finds API keys, and opens nothing. */
  readonly hashingKey: string;
  /** Of the places where long texts are looked at, in base64. */
  readonly samplingKey: string;
  /** The socket where what is not the relay's is passed on to. */
  readonly faces: string;
}

/** A slot taken of a limit, until it is left. */
type Ticket = number;

type Admitted = { readonly ticket: Ticket } | { readonly refused: SerializedRefusal };

/** A RelayError. */
export type SerializedRefusal = Pick<
  RelayError,
  'status' | 'code' | 'message' | 'type' | 'param' | 'retryAfter' | 'shouldRetry'
>;

type Reserved = ReservationMessage | Shortage;

export interface SerializedDirectory extends Omit<DirectorySnapshot, 'options' | 'prices'> {
  readonly options: readonly (readonly [string, ChangedOption])[];
  readonly prices: readonly (readonly [string, ChangedPrice])[];
}
