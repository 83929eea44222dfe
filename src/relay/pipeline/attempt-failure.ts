import type { Got } from '../answers/answer-reading.js';
import { networkFailure, type RelayError, saturatedHere } from '../contracts/errors.js';
import type { LaterAnswer } from '../contracts/protocol.js';
import type { ServiceSent } from '../contracts/service-tier.js';
import type { RequestedThinking } from '../protocols/requested-thinking.js';
import type { Unreached } from '../upstream/upstream.js';

/* What one attempt at one channel came to. */

/** What was asked of upstream, as far as it differs from what was asked of us. */
export interface SentRequest {
  readonly upstreamModel: string;
  readonly reasoningEffort: string | null;
  readonly thinking: RequestedThinking;
  readonly service?: ServiceSent;
}

/** An answer has begun to come, or has come whole. */
export interface AnsweredAttempt extends SentRequest {
  readonly ok: true;
  readonly got: Got;
  /** Of upstream's, for the caller: names and values in turn. null: none. */
  readonly headers: readonly string[] | null;
  /** The response is to be stored here. Left out: it is not. */
  readonly stores?: boolean;
}

export interface AttemptFailure {
  readonly ok: false;
  readonly retryable: boolean;
  /** For the caller. */
  readonly error: RelayError;
  /** In upstream's own words where the caller gets others. */
  readonly forOperator: RelayError;
  /** What upstream answered with, before any mapping; null: it gave no answer. */
  readonly answered: number | null;
  /** Upstream may have done the work, and may charge for it. */
  readonly costUnknown: boolean;
  /** Upstream was still at it when nobody was left to wait for it. null: it was not, or somebody was. */
  readonly abandoned: SentRequest | null;
  /** Nothing was sent, and another channel may be asked as if this one were not there. */
  readonly passedOver: 'busy' | 'unsuited' | null;
  /** Upstream did not take the credentials that were shown. */
  readonly unauthorised: boolean;
  /** Set when the failure says that the channel itself is out of order: why. */
  readonly outOfOrder: string | null;
  /** What was ordered is to come. Left out: it is not. */
  readonly later?: LaterAnswer;
  /** What was ordered has failed for good. Left out: nothing is known of an order. */
  readonly orderFailed?: true;
}

export type Attempt = AnsweredAttempt | AttemptFailure;

/** The channel, or its host, is as busy as it may be. */
export const noRoom = (): AttemptFailure => ({ ...failed(saturatedHere(), true), passedOver: 'busy' });

/** Nothing came back, or there was no way to ask. */
export function unreached({ saturated, blocked, timedOut }: Unreached): AttemptFailure {
  if (saturated) return noRoom();
  if (blocked) return failed(networkFailure('the address of the upstream is not allowed'), true);
  return failed(networkFailure(timedOut ? 'the upstream did not answer in time' : undefined), true);
}

export const failed = (error: RelayError, retryable: boolean): AttemptFailure => ({
  ok: false,
  retryable,
  error,
  forOperator: error,
  answered: null,
  costUnknown: false,
  abandoned: null,
  passedOver: null,
  unauthorised: false,
  outOfOrder: null,
});

/** Ends an answer that nobody wants. */
export function dropAnswer(got: Got): void {
  if (got.kind === 'conversation') got.socket.terminate();
  else if (got.kind !== 'answer') got.reading.cancel();
}
