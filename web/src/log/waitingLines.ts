import type { LogRowFragment } from '../generated/log/log.js';

/* Lines the feed has delivered and the table does not show yet. */

interface WaitingLines {
  /** Newest first, as the table wants them. */
  readonly lines: readonly LogRowFragment[];
  /** So many were delivered that the oldest were let go: what is shown next has to be asked for. */
  readonly overflowed: boolean;
  /** How many came, those that were let go among them. */
  readonly count: number;
}

/** More than the largest page: older ones would not be seen anyway. */
const maxWaiting = 200;

export const noneWaiting: WaitingLines = { lines: [], overflowed: false, count: 0 };

/** `line` is newer than all before it; one that was delivered already is not added twice. */
export function withLine(waiting: WaitingLines, line: LogRowFragment): WaitingLines {
  if (waiting.lines.some(({ id }) => id === line.id)) return waiting;
  const lines = [line, ...waiting.lines];
  const count = waiting.count + 1;
  return lines.length > maxWaiting
    ? { lines: lines.slice(0, maxWaiting), overflowed: true, count }
    : { lines, overflowed: waiting.overflowed, count };
}
