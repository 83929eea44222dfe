import type { Position } from '../domain/events.js';
import type { CallId, ChannelId } from '../domain/ids.js';

/*
 * How far calls under way have come, noted now and then beside the log: what is lost with a node that dies is at most
 * what happened since its last note. It decides nothing while the node lives.
 */

/** A call that has gone upstream and has no outcome yet. */
export interface CallProgress {
  /** Channels tried, the last one being asked now. */
  readonly attempts: readonly ChannelId[];
  /** Attempts that upstream may charge for beside the one under way. */
  readonly unknownAttempts: number;
  readonly upstreamModel: string | null;
  /** Of a stream that has begun to reach its caller; tokens are counted roughly. */
  readonly delivered: { readonly firstTokenMs: number; readonly outputTokens: number } | null;
}

/** `unknown`: it was reserved too shortly before the node died, or by a node that noted nothing. */
export type LastSeen =
  | { readonly kind: 'not-sent' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'sent'; readonly progress: CallProgress };

export interface CallProgressNotes {
  /** From now on this node notes; its reservations lie behind `after`. */
  begin(after: Position): Promise<void>;
  /**
   * All at once or not at all. `notedTo`: of calls reserved up to there, each that has gone upstream is among those noted
   * and not ended.
   */
  note(
    notedTo: Position,
    progressed: readonly { readonly callId: CallId; readonly progress: CallProgress }[],
    ended: readonly CallId[],
  ): Promise<void>;
  /** What the nodes that reserved these calls have noted last. */
  lastSeen(
    calls: readonly { readonly callId: CallId; readonly position: Position }[],
  ): Promise<ReadonlyMap<CallId, LastSeen>>;
  /** Drops what is noted of calls that have their outcome. */
  forget(calls: readonly CallId[]): Promise<void>;
  /** Drops what nodes before this one have noted, for when all their calls have their outcome. */
  forgetOthers(): Promise<void>;
}
