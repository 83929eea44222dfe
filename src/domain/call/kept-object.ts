import type { CallId, ChannelId, UserId } from '../kernel/ids.js';
import type { Instant } from '../kernel/instant.js';

/*
 * What a provider keeps of a call, in the account of a channel, under an id by which a later call may name it.
 */

export type KeptKind = 'response' | 'item' | 'container' | 'file' | 'conversation' | 'audio' | 'message';

export interface KeptObject {
  readonly kind: KeptKind;
  /** As upstream names it, see `isKeptId`. */
  readonly id: string;
}

/** Of one call. What comes beyond belongs to nobody, and nobody can name it. */
export const maxKeptOfCall = 128;

/** Upstream chooses ids: what may stand in the log, in an address and in a message. */
export const isKeptId = (id: string): boolean => /^[A-Za-z0-9][\w.:-]{0,127}$/.test(id) && !id.includes('..');

/** Whose it is, and which channel has it. */
export interface KeptOwner {
  readonly userId: UserId;
  readonly channelId: ChannelId;
  readonly kind: KeptKind;
  /** That it was made by. */
  readonly callId: CallId;
  readonly at: Instant;
  /** All that call used, input and output. */
  readonly tokens: number;
  /** Of that call, as billed; empty: it was for none. */
  readonly model: string;
  /** As sent upstream, where that is another. */
  readonly upstreamModel: string | null;
}
