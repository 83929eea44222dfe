import { Lost } from '../upstream/upstream-response.js';
import type { CallerConnection } from './caller-connection.js';
import type { StalledCallers } from './stalled-callers.js';
import { write } from './write-answer.js';

interface BodyLength {
  /** As it was stated; undefined: it was not. */
  readonly length: number | undefined;
  readonly maxBytes: number;
}

interface Body {
  next(): Promise<IteratorResult<Buffer, unknown>>;
}

/**
 * Passes the body of a file on as it comes, with its end. It is broken off where it is longer than it may be, or not as
 * long as stated, or where upstream is lost. Resolves when all of that is done, or the caller has gone.
 */
export async function passBody(
  connection: CallerConnection,
  body: Body,
  { length, maxBytes }: BodyLength,
  stalledCallers: StalledCallers,
): Promise<void> {
  let passed = 0;
  try {
    for (;;) {
      const next = await body.next();
      if (next.done || connection.gone) break;
      passed += next.value.length;
      if (passed > (length ?? maxBytes)) return connection.breakOff();
      await write(connection, next.value, stalledCallers);
    }
  } catch (error) {
    if (!(error instanceof Lost)) throw error;
    if (!connection.gone) connection.breakOff();
    return;
  }
  if (connection.gone) return;
  if (passed < (length ?? 0)) return connection.breakOff();
  connection.end();
  if (connection.pending > 0) stalledCallers.watch(connection);
}
