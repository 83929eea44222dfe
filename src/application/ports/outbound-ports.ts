import type { Sealed, UserId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';

/* Ports to what lies outside and is no upstream: whatever the gateway fetches or sends beside calls. */

/** A request to an address that somebody typed. */
export interface OutboundRequest {
  readonly url: string;
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** For all of it: names, connections, redirects and the whole of the answer. */
  readonly timeoutMs: number;
  /** Of the answer's body, before and after decompression; 0: it is not read. */
  readonly maxBytes: number;
  /** How many redirects are followed; without it none: the redirect is the answer. */
  readonly redirects?: number;
  /** http will do for this one, whatever the operator says. */
  readonly allowHttp?: boolean;
}

/**
 * `address-invalid`: it is none, or carries credentials. `http-refused`: it must begin with https. `blocked`: it is not of
 * the public internet. `unreachable`: nobody there, or the connection broke. `redirect-refused`: one too many, or to where
 * it must not go. `unreadable`: the answer is not encoded as it says.
 */
export type OutboundFailure =
  | 'address-invalid'
  | 'http-refused'
  | 'blocked'
  | 'unreachable'
  | 'timed-out'
  | 'too-large'
  | 'redirect-refused'
  | 'unreadable';

export type OutboundAnswer =
  | {
      readonly ok: true;
      readonly status: number;
      /** By lower-case names. */
      readonly headers: ReadonlyMap<string, string>;
      readonly body: Buffer;
    }
  | { readonly ok: false; readonly reason: OutboundFailure };

/** Fetches what somebody typed the address of: from the public internet only, within bounds, every failure a value. */
export interface Outbound {
  fetch(request: OutboundRequest): Promise<OutboundAnswer>;
}

/** Checks whether what a page's widget has given shows a human. `unavailable`: it could not be checked. */
export interface HumanVerifier {
  /** `address`: of the browser. */
  verify(answer: string, address: string): Promise<'human' | 'refused' | 'unavailable'>;
}

export interface Mail {
  /** One address, or several with `;` between them. */
  readonly to: string;
  readonly subject: string;
  readonly html: string;
  /** The same for who reads no HTML. */
  readonly text: string;
}

/**
 * Sends through the server the options name. Rejects with `mail-not-configured`, or with `mail-failed` and a `reason`
 * that names neither addresses nor secrets.
 */
export interface Mailer {
  send(mail: Mail): Promise<void>;
}

export interface NewNotification {
  readonly user: UserId;
  readonly kind: string;
  /** What led to it: what is added twice is there once, as long as it is remembered. */
  readonly cause: string;
  /** The notification, as JSON. */
  readonly content: Sealed;
  readonly at: Instant;
}

/** Of one kind for one user, within a time. */
export interface NotificationLimit {
  readonly max: number;
  readonly withinMs: number;
}

export interface QueuedNotification {
  readonly id: number;
  readonly user: UserId;
  readonly kind: string;
  readonly content: Sealed;
  readonly at: Instant;
  /** This one counted. */
  readonly tries: number;
}

export interface NotificationQueueState {
  readonly waiting: number;
  /** null: none waits. */
  readonly oldestWaitingSince: Instant | null;
  /** In the last seven days. */
  readonly givenUp: number;
}

/** Notifications that wait to be sent, kept for the process after this one. */
export interface NotificationQueue {
  /** Nothing, where it is known by its cause, or one too many for the limit or the queue. */
  add(notification: NewNotification, limit: NotificationLimit): Promise<void>;
  /** Those that are due, oldest first; each counts as tried, and is nobody else's until `leasedTo`. */
  take(now: Instant, max: number, leasedTo: Instant): Promise<readonly QueuedNotification[]>;
  later(id: number, at: Instant): Promise<void>;
  /** It is not tried again, and its content is gone. */
  end(id: number, outcome: 'told' | 'skipped' | 'given-up'): Promise<void>;
  state(now: Instant): Promise<NotificationQueueState>;
}
