import type { JsonObject } from '../json/json.js';
import type { AnswerDialect } from './answer-writer.js';
import type { RelayError } from './errors.js';
import type { ServiceAsked } from './service-tier.js';

/* What a call needs of the dialect its caller speaks. Each dialect is a room in `callers`; a call is handed the value. */

/** An API key as its caller shows it. */
export interface Credential {
  readonly key: string;
  /** Text behind the key (`sk-<key>-<channel id>`); null: none. */
  readonly pinnedChannel: string | null;
}

/** A member of a body, and what is wrong with it. */
export interface InvalidMember {
  readonly param: string;
  readonly message: string;
}

export interface SentBefore {
  /** Something of the answer. */
  readonly begun: boolean;
  /** The number of the next event. */
  readonly sequence: number;
}

export const nothingSent: SentBefore = { begun: false, sequence: 0 };

export interface CallerDialect extends AnswerDialect {
  /** A member that a lenient receiver takes for one of the dialect's, and nobody here; null: there is none. */
  readonly misspelled: (body: JsonObject) => InvalidMember | null;
  /** The tier of service that a body asks for. */
  readonly serviceAsked: (body: JsonObject) => ServiceAsked;
  /**
   * The body of a refusal, as JSON. It contains the request id exactly once: what a caller quotes when asking for help.
   */
  readonly errorBody: (error: RelayError, requestId: string) => string;
  /** Under which status its clients understand a refusal. Left out: that of the refusal. */
  readonly statusOf?: (error: RelayError) => number;
  /** What its streams are called. Left out: server-sent events. */
  readonly streamType?: string;
  /** A failure inside a stream, behind what has been sent of the answer. */
  readonly errorFrame: (error: RelayError, requestId: string, sent: SentBefore) => string;
  /** By it the caller knows that nothing is missing. */
  readonly endFrame: string;
  /** Where its clients look for the id of a request, beside the gateway's own names for it; null: nowhere else. */
  readonly idHeader: string | null;
  /** Sent while upstream is silent, where the operator wants it: no client takes it for a part of the answer. */
  readonly keepAlive: string;
}
