import type { ChannelId } from '../kernel/ids.js';
import type { CallReserved } from './call.js';
import type { Usage } from './usage.js';

/* What is known of a call in flight if the node that serves it dies: its last note. */

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

/** What had reached the caller, with the channel it came from and the usage that is charged for it. */
interface Delivered {
  readonly usage: Usage;
  readonly channelId: ChannelId;
  readonly firstTokenMs: number;
  readonly progress: CallProgress;
}

/** null: nothing had reached the caller, as far as is known. */
export function deliveredOf(
  { promptTokens, pieces }: Pick<CallReserved, 'promptTokens' | 'pieces'>,
  seen: LastSeen,
): Delivered | null {
  if (seen.kind !== 'sent') return null;
  const { progress } = seen;
  const { delivered } = progress;
  const channelId = progress.attempts.at(-1);
  if (delivered === null || channelId === undefined) return null;
  const { firstTokenMs, outputTokens } = delivered;
  return { usage: { input: promptTokens, output: outputTokens, ...pieces }, channelId, firstTokenMs, progress };
}

/** Attempts that upstream may charge for: each that failed after it was sent, and the one under way. */
export function costlyAttempts(seen: LastSeen): number {
  switch (seen.kind) {
    case 'not-sent':
      return 0;
    case 'unknown':
      return 1;
    case 'sent':
      return seen.progress.unknownAttempts + 1;
  }
}
