import type { ChannelHealthStateFragment } from '../generated/kit/channel/channelHealth.js';
import type { ChannelChange } from '../kit/channel/useChannelHealth.js';

/* What just happened to channels, newest first, and what each of them failed with last. */

const mostChanges = 30;

export interface SeenChange {
  readonly key: number;
  readonly change: ChannelChange;
  /** How the channel is, or was, called; null: it came and went unseen. */
  readonly name: string | null;
}

export interface BoardChanges {
  readonly changes: readonly SeenChange[];
  /** By channel: why it was switched off, or why its test failed; null: it has worked since. */
  readonly errors: ReadonlyMap<string, string | null>;
}

export const noChanges: BoardChanges = { changes: [], errors: new Map() };

/** The last error a change leaves behind; undefined: it says nothing about errors. */
function errorAfter({ kind, ok, reason, automatic }: ChannelChange): string | null | undefined {
  if (kind === 'TESTED') return ok === true ? null : reason;
  if (kind === 'DISABLED' && automatic === true) return reason;
  return kind === 'ENABLED' ? null : undefined;
}

/** `lastName`: of the channel as the board shows it, for when the change removed it. */
export function withChange(
  { changes, errors }: BoardChanges,
  change: ChannelChange,
  lastName: string | undefined,
): BoardChanges {
  const error = errorAfter(change);
  const before = changes.find((seen) => seen.change.channelId === change.channelId);
  const name = change.channel?.name ?? before?.name ?? lastName ?? null;
  return {
    changes: [{ key: (changes[0]?.key ?? 0) + 1, change, name }, ...changes].slice(0, mostChanges),
    errors: error === undefined ? errors : new Map([...errors, [change.channelId, error]]),
  };
}

/** What a channel failed with last: by what was seen of it, or by what it was switched off for. null: nothing. */
export function lastErrorOf(
  { id, status, statusReason }: Pick<ChannelHealthStateFragment, 'id' | 'status' | 'statusReason'>,
  { errors }: BoardChanges,
): string | null {
  const error = errors.get(id);
  if (error !== undefined) return error;
  return status === 'AUTO_DISABLED' ? statusReason : null;
}
