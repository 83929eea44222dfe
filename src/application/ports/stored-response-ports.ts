import type { UserId } from '../../domain/kernel/ids.js';
import type { Instant } from '../../domain/kernel/instant.js';

/* Responses that the gateway stores itself, with their conversations, for upstreams that store none. */

export interface StoredResponse {
  readonly userId: UserId;
  /** See storedResponseId. */
  readonly id: string;
  readonly at: Instant;
  /** The conversation and the response, packed. */
  readonly content: Buffer;
}

type ReleaseRoom = () => void;

/** What the relay needs of them, in whichever process. */
export interface StoredResponses {
  /**
   * Room for a response whose call begins, of about so many bytes: it is stored then, whatever else comes. What is returned
   * gives the room back, if nothing was put by that id. null: there is no room.
   */
  reserve(user: UserId, id: string, bytes: number): ReleaseRoom | null | Promise<ReleaseRoom | null>;
  /** No more than so many bytes are needed of what was reserved. */
  shrink(id: string, bytes: number): void;
  /**
   * Queues it, and it is found from now on. Nobody waits, and it never throws: one for which there is no room, and none
   * was reserved, is lost.
   */
  put(response: StoredResponse): void;
  /** Its content; null: there is none of this user's, it is too old, or it cannot be opened. */
  find(user: UserId, id: string): Promise<Buffer | null>;
  /** False: there was none of this user's. */
  remove(user: UserId, id: string): Promise<boolean>;
}

/** For faces: all of a user. */
export interface StoredResponsesOfUser {
  /** How many there were. */
  removeAll(user: UserId): Promise<number>;
  count(user: UserId): Promise<number>;
}

/** The most that is stored of one user. */
export interface StoredShare {
  readonly responses: number;
  readonly bytes: number;
}

/** Where they are stored, sealed. */
export interface StoredResponseRows {
  /**
   * All of them, or none where it throws. Those of users whose key is destroyed or cannot be opened are left out. Of each
   * user the oldest beyond the share are removed.
   */
  add(responses: readonly StoredResponse[], share: StoredShare): Promise<void>;
  /** `unreadable`: it is there, and cannot be opened. null: it is not there. */
  get(user: UserId, id: string, since: Instant): Promise<Buffer | 'unreadable' | null>;
  remove(user: UserId, id: string): Promise<boolean>;
  /** It is not added from now on, whichever process has it still to add. True: it was there by now, and is removed. */
  keepOut(user: UserId, id: string, now: Instant): Promise<boolean>;
  /** Nor are those added later that were put until now. */
  removeAll(user: UserId, now: Instant): Promise<number>;
  count(user: UserId, since: Instant): Promise<number>;
  /** Removes those of before, the oldest beyond so many bytes, and what keeps others out since before `unkept`. */
  purge(
    before: Instant,
    maxBytes: number,
    unkept: Instant,
  ): Promise<{ readonly removed: number; readonly bytes: number }>;
}
