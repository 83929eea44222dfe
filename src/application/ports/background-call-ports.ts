import type { Settlement } from '../../domain/call/call-conclusion.js';
import type { UsageBound } from '../../domain/call/usage-bound.js';
import type { CallId, ChannelId, UserId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';

/* Calls that an upstream works off in the background: their reservation outlives request and process. */

/** What is known of one when its upstream has taken it. All of it is JSON. */
export interface BackgroundCall {
  readonly callId: CallId;
  readonly userId: UserId;
  readonly channelId: ChannelId;
  /** By which its upstream is asked for it. */
  readonly responseId: string;
  readonly since: Instant;
  /** As billed. */
  readonly model: string;
  /** The most that it can use, and its prompt as counted here: what usage is believed by. */
  readonly bound: UsageBound;
  readonly promptTokens: number;
  /** The tier of service was asked for by the caller, or chosen by an operator; null: neither. */
  readonly service: 'asked' | 'overridden' | null;
  /** What its settlement says whatever it used. */
  readonly course: Pick<
    Settlement,
    'attempts' | 'failedAttempts' | 'upstreamModel' | 'reasoningEffort' | 'unknownAttempts'
  >;
  /** What its stream had delivered when that was cut: at least so much is charged. Left out: nothing that is known. */
  readonly delivered?: DeliveredInBackground;
}

/** As of a stream whose caller hangs up. */
export type DeliveredInBackground = Pick<Settlement, 'usage' | 'usageSource'>;

/** What the relay needs of them, in whichever process. */
export interface BackgroundCalls {
  /** Takes a slot for a call that is to be worked off in the background; false: as many are taken as may be. */
  takeSlot(callId: CallId, user: UserId): Promise<boolean>;
  /** Gives back the slot of a call that has not begun in the background; nothing, where it has, or has no slot. */
  releaseSlot(callId: CallId): void;
  /** From now on its slot is its own. Resolves once it is durable: only then may its caller know of it. */
  begin(call: BackgroundCall): Promise<void>;
  /** Whether it has no outcome yet, as far as is known. */
  isOpen(callId: CallId): Promise<boolean>;
  /** Asks upstream now, and settles it if that is at its end. Resolves when there is nothing more to be done now. */
  look(callId: CallId): Promise<void>;
  /** Its stream was cut, and had delivered so much by then. Never rejects for a row that cannot be written. */
  delivered(callId: CallId, delivered: DeliveredInBackground): Promise<void>;
  /** It cannot be paid for any longer: upstream is to stop, and it is settled by what that says. */
  stop(callId: CallId): Promise<void>;
  /** It has its outcome. */
  end(callId: CallId): Promise<void>;
}

/** Where they are kept for the process after this one. */
export interface BackgroundCallStore {
  all(): Promise<readonly BackgroundCall[]>;
  add(call: BackgroundCall): Promise<void>;
  /** Writes what is known of it by now; nothing, where it is not there. */
  update(call: BackgroundCall): Promise<void>;
  remove(callId: CallId): Promise<void>;
}

/** What upstream says of one. */
export type BackgroundState =
  | { readonly kind: 'running' }
  /** Nobody could be asked now. */
  | { readonly kind: 'unreached' }
  /** Upstream says that it does not know it, which it may say for a moment of what it has just taken. */
  | { readonly kind: 'missing' }
  /** Nobody can ever tell what became of it. */
  | { readonly kind: 'lost' }
  /** It is at an end before it was whole, and nothing says what it has used. */
  | { readonly kind: 'unmeasured'; readonly kept: Settlement['kept'] }
  /** It has failed, and has cost nothing. */
  | { readonly kind: 'failed'; readonly code: string | null }
  | {
      readonly kind: 'ended';
      readonly used: Pick<
        Settlement,
        'usage' | 'usageSource' | 'outcome' | 'serviceTier' | 'kept' | 'upstreamCost' | 'claimed' | 'answerId'
      >;
    };

/** Asks the upstream of one how far it is; `stop`: and that it stops. Never rejects. */
export type AskBackgroundCall = (call: BackgroundCall, stop: boolean) => Promise<BackgroundState>;
