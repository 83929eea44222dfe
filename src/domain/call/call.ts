import type { Decider } from '../kernel/decider.js';
import { assertNever, Failure } from '../kernel/failure.js';
import type { ApiKeyId, ChannelId, TaskId, UserId } from '../kernel/ids.js';
import type { Instant } from '../kernel/instant.js';
import type { Quota } from '../kernel/quota.js';
import type { CallRefused } from '../kernel/refusal.js';
import type { Price } from '../pricing/pricing.js';
import type { TaskFailureReason, TaskPlatform } from '../task/task.js';
import type { CallCorrected } from './call-correction.js';
import type { KeptObject } from './kept-object.js';
import type { Usage } from './usage.js';

/*
 * One relayed request. Stream `call-{requestId}`: reserved, then exactly one of settled or released. A settlement whose
 * answer was withheld from the caller, or whose task has failed, is refunded. One whose price was wrong may be corrected
 * before that, again and again. The stream of a call that was refused says that and nothing else.
 */

/** What stays the same from reservation to outcome; repeated in each event so that each can be read alone. */
export interface CallFacts {
  readonly userId: UserId;
  /** null: no API key pays (playground). */
  readonly apiKeyId: ApiKeyId | null;
  readonly apiKeyName: string;
  readonly group: string;
  /** The name asked and billed for, never the mapped one. */
  readonly model: string;
  /** The name it was asked for by, an alias of the key. Left out: by its own. */
  readonly alias?: string;
  /** The endpoint, e.g. `/v1/chat/completions`. */
  readonly path: string;
  readonly stream: boolean;
}

/**
 * Where the settled token counts come from. `disbelieved`: counted locally, because upstream reported what cannot be: more
 * than the call can have used, or less than its answer contains.
 */
export type UsageSource = 'upstream' | 'estimated' | 'disbelieved' | 'none';

/** How the answer ended, as far as the caller could see. `gateway-failed`: whoever served it did not live to settle it. */
export type CallOutcome =
  | 'completed'
  | 'caller-left'
  | 'caller-stalled'
  | 'upstream-broke'
  | 'quota-ran-out'
  | 'gateway-failed';

/** A channel that was asked and did not answer the call. */
export interface FailedAttempt {
  readonly channelId: ChannelId;
  /** What upstream answered with, before any mapping; null: it gave no answer. */
  readonly status: number | null;
  /** The code its caller would have been given; null: none. */
  readonly code: string | null;
  readonly durationMs: number;
}

/** The task that a call has submitted, as its upstream works on it after the call. */
export interface SettledTask {
  readonly id: TaskId;
  readonly platform: TaskPlatform;
  readonly action: string;
  /** By which its caller names it. */
  readonly publicId: string;
}

/** `not-booked`: the answer was there, but its settlement could not be made durable, so it was withheld. */
export type ReleaseReason = 'upstream-failed' | 'no-channel' | 'caller-left' | 'not-booked' | 'internal' | 'recovered';

export type CallEvent =
  | {
      type: 'CallReserved';
      facts: CallFacts;
      reserved: Quota;
      promptTokens: number;
      maxOutputTokens: number | null;
      price: Price;
      /** What it uses of what is sold by the piece, as far as the request itself says: characters of a speech. */
      pieces?: Usage;
    }
  | {
      type: 'CallSettled';
      facts: CallFacts;
      reserved: Quota;
      charged: Quota;
      /** What the call cost beyond what could be charged: nobody's debt, booked to suspense. The cost is both together. */
      uncovered: Quota;
      usage: Usage;
      usageSource: UsageSource;
      price: Price;
      outcome: CallOutcome;
      channelId: ChannelId;
      /** Channels in the order tried; the last one answered. */
      attempts: readonly ChannelId[];
      /** Those of them that failed, and how. Left out: none did. */
      failedAttempts?: readonly FailedAttempt[] | undefined;
      /** The name sent upstream when it differs from the one asked for. */
      upstreamModel: string | null;
      useTimeMs: number;
      firstTokenMs: number | null;
      reasoningEffort: string | null;
      /** What upstream may charge for beside this and nobody pays: attempts that failed after they had been sent. */
      suspense: Quota;
      /** What its channel keeps of it, for its user. Left out: nothing. */
      kept?: readonly KeptObject[] | undefined;
      /** Left out: none. */
      task?: SettledTask | undefined;
      /** What upstream says that it charges for the call, in US dollars, as exact decimal text. Left out: it does not say. */
      upstreamCost?: string | undefined;
      /** What upstream has reported, where that was not believed. Left out: it was, or nothing was reported. */
      claimed?: Usage | undefined;
      /** By which upstream names its answer, see `answerIdOf`. Left out: it names none. */
      answerId?: string | undefined;
    }
  | {
      type: 'CallReleased';
      facts: CallFacts;
      reserved: Quota;
      reason: ReleaseReason;
      /** The status and code the caller got; null when nobody was there to get one. */
      status: number | null;
      code: string | null;
      attempts: readonly ChannelId[];
      /** How they failed. Left out: nobody knows, or nobody was asked. */
      failedAttempts?: readonly FailedAttempt[] | undefined;
      useTimeMs: number;
      /** What upstream may charge for and nobody pays. */
      suspense: Quota;
    }
  | {
      type: 'CallRefunded';
      facts: CallFacts;
      settlement: TakenBack;
      /** The status and code the caller got instead of the answer; of a failed task, what stands for its reason. */
      status: number;
      code: string;
      useTimeMs: number;
      /** What upstream may charge for and nobody pays. */
      suspense: Quota;
      /** That has failed after the answer, which its caller has got. Left out: the answer was withheld. */
      task?: SettledTask & { readonly reason: TaskFailureReason };
    }
  | CallCorrected;

/** A settlement that does not count any more: all that was counted because of it. */
export interface TakenBack
  extends Pick<CallSettled, 'charged' | 'usage' | 'channelId' | 'attempts' | 'failedAttempts' | 'useTimeMs'> {
  readonly eventId: string;
  readonly at: Instant;
}

export type CallReserved = Extract<CallEvent, { type: 'CallReserved' }>;
export type CallSettled = Extract<CallEvent, { type: 'CallSettled' }>;
export type CallReleased = Extract<CallEvent, { type: 'CallReleased' }>;
export type CallRefunded = Extract<CallEvent, { type: 'CallRefunded' }>;

type CallCommand =
  | { type: 'Reserve'; event: CallReserved }
  | { type: 'Settle'; event: CallSettled }
  | { type: 'Release'; event: CallReleased }
  | { type: 'Refund'; event: CallRefunded };

export interface Call {
  readonly status: 'none' | 'reserved' | 'settled' | 'released' | 'refunded' | 'refused';
  /** What it was corrected to be charged. Left out: nobody has corrected it. */
  readonly corrected?: Quota;
}

export const callDecider: Decider<Call, CallCommand, CallEvent | CallRefused> = {
  initial: { status: 'none' },
  decide(command, call) {
    switch (command.type) {
      case 'Reserve':
        return call.status === 'none' ? [command.event] : [];
      case 'Settle':
      case 'Release':
        if (call.status === 'none') throw new Failure('lost-race');
        return call.status === 'reserved' ? [command.event] : [];
      case 'Refund':
        if (call.status === 'none') throw new Failure('lost-race');
        return call.status === 'settled' ? [takingBack(command.event, call)] : [];
      default:
        return assertNever(command);
    }
  },
  evolve(call, event) {
    switch (event.type) {
      case 'CallReserved':
        return { status: 'reserved' };
      case 'CallSettled':
        return { status: 'settled' };
      case 'CallReleased':
        return { status: 'released' };
      case 'CallRefunded':
        return { status: 'refunded' };
      case 'CallRefused':
        return { status: 'refused' };
      case 'CallCorrected':
        return { ...call, corrected: event.to.charged };
      default:
        return assertNever(event);
    }
  },
};

/** Of a call that was corrected, what it pays since then; of what upstream may charge for nobody else bears more. */
export function takingBack(event: CallRefunded, { corrected }: Pick<Call, 'corrected'>): CallRefunded {
  if (corrected === undefined) return event;
  const { settlement, suspense } = event;
  const isBorne = suspense > 0 && suspense === settlement.charged;
  return {
    ...event,
    settlement: { ...settlement, charged: corrected },
    suspense: isBorne ? corrected : suspense,
  };
}
