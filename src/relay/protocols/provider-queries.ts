import type { Instant } from '../../domain/kernel/instant.js';
import type { JsonObject } from '../json/json.js';

/* Small questions to a provider beside the calls, with a channel's key: what is left in its account, what it has. */

export interface ProviderQueries {
  /** The channel's base URL or the provider's default, without a slash at the end. */
  readonly base: string;
  /** The channel has a base URL of its own. */
  readonly isOwnBase: boolean;
  readonly key: string;
  /** The channel's further parameter, whose meaning depends on the type. */
  readonly other: string;
  readonly now: Instant;
  /** Asks with GET for a JSON object, with the key as a bearer token unless stated otherwise. Throws NotReported. */
  json(url: string, headers?: Record<string, string>): Promise<JsonObject>;
}

/** The answer does not contain what was asked for. The message may hold words of the upstream's. */
export class NotReported extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'NotReported';
  }
}

/** The channel lacks what is needed to ask, in the field of this name; the message says what. */
export class NotSupported extends NotReported {
  constructor(
    readonly field: 'baseUrl' | 'other',
    message: string,
  ) {
    super(message);
  }
}

/** An answer came, and is not what such an answer is. */
export class NotUnderstood extends NotReported {}
