import type {
  ChannelChangeFactsFragment,
  ChannelHealthStateFragment,
  ChannelHistoryItemFragment,
} from '../generated/kit/channel/channelHealth.js';
import type { ChannelChange } from '../kit/channel/useChannelHealth.js';

/* What just happened to channels, newest first, and what each of them failed with last. */

export const maxChanges = 30;
const daySeconds = 24 * 60 * 60;

export interface SeenChange {
  readonly change: ChannelChangeFactsFragment;
  /** How the channel is, or was, called; null: it came and went unseen. */
  readonly name: string | null;
}

export interface BoardChanges {
  /** Seen as they happened. */
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
    changes: [{ change, name }, ...changes].slice(0, maxChanges),
    errors: error === undefined ? errors : new Map([...errors, [change.channelId, error]]),
  };
}

/** What was seen, and before it what happened in the last day while nobody looked; each once, the newest first. */
export function lastChanges(
  seen: readonly SeenChange[],
  history: readonly ChannelHistoryItemFragment[],
  now: number,
): readonly SeenChange[] {
  const known = new Set(seen.map(({ change }) => change.position));
  const missed = history.filter(({ change }) => !known.has(change.position) && change.at > now - daySeconds);
  return [...seen, ...missed].sort((one, other) => other.change.position - one.change.position).slice(0, maxChanges);
}

/** What a channel failed with last: by what was seen of it, by its last test, or by what it was switched off for. */
export function lastErrorOf(
  { id, status, statusReason, testError }: Omit<ChannelHealthStateFragment, 'name'>,
  { errors }: BoardChanges,
): string | null {
  const error = errors.get(id);
  if (error !== undefined) return error;
  return (status === 'AUTO_DISABLED' && statusReason) || testError;
}

/** Switched off by the gateway, failing, switched off by somebody, fine. */
const urgencyOf = ({ status, testError }: ChannelHealthStateFragment): number => {
  if (status === 'AUTO_DISABLED') return 0;
  if (status === 'DISABLED') return 2;
  return testError === null ? 3 : 1;
};

/** Each once; those that need somebody come first. */
export const byUrgency = (channels: readonly ChannelHealthStateFragment[]): ChannelHealthStateFragment[] =>
  [...new Map(channels.map((channel) => [channel.id, channel])).values()].sort(
    (one, other) => urgencyOf(one) - urgencyOf(other) || Number(one.id) - Number(other.id),
  );
