import type { CallerConnection } from './caller-connection.js';
import type { StalledCallers } from './stalled-callers.js';

/* Bytes to the caller, no faster than it takes them. */

/** Of an answer in events: names and values in turn. */
export const streamHeaders: readonly string[] = Object.entries({
  'cache-control': 'no-cache',
  connection: 'keep-alive',
  'x-accel-buffering': 'no',
}).flat();

export const eventStreamType = 'text/event-stream; charset=utf-8';

/** What is written at once: a caller that reads slowly must be seen to take it. */
const pieceSize = 64 * 1024;

/** All that is left of an answer. */
export async function writeToEnd(
  connection: CallerConnection,
  bytes: Buffer,
  stalledCallers: StalledCallers,
): Promise<void> {
  if (bytes.length <= pieceSize) connection.end(bytes);
  else {
    await write(connection, bytes, stalledCallers);
    connection.end();
  }
  if (connection.pending > 0) stalledCallers.watch(connection);
}

/** What is to be waited for while the caller reads slower than upstream writes; null: nothing, as with most frames. */
export function write(
  connection: CallerConnection,
  bytes: Buffer,
  stalledCallers: StalledCallers,
): Promise<void> | null {
  if (bytes.length > pieceSize) return writePieces(connection, bytes, stalledCallers);
  return connection.gone || connection.write(bytes) ? null : drained(connection, stalledCallers);
}

async function writePieces(connection: CallerConnection, bytes: Buffer, stalledCallers: StalledCallers): Promise<void> {
  for (let from = 0; from < bytes.length && !connection.gone; from += pieceSize)
    if (!connection.write(bytes.subarray(from, from + pieceSize))) await drained(connection, stalledCallers);
}

function drained(connection: CallerConnection, stalledCallers: StalledCallers): Promise<void> {
  stalledCallers.watch(connection);
  return connection.drained();
}
