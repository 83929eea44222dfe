import { UnreadableEvent } from '../events/upcast.js';
import { Failure } from '../kernel/failure.js';

/*
 * The one judgement on errors of the database, for everybody who must choose between trying again and giving up. It
 * knows no driver: SQLSTATEs, codes of the operating system and what drivers say are the world's own words.
 */

/**
 * SQLSTATE: connection lost (08), resources short (53), the system around the server (58), a statement cancelled by
 * somebody or by a time limit, the server stopping, starting or read-only, a transaction that took too long, lost races,
 * a lock not had in time.
 */
const passingState = /^(08...|53...|58...|57014|57P0[1235]|25006|25P0[34]|4000[013]|40P01|55006|55P03)$/;
/** Codes of the operating system and the resolver (ECONNREFUSED, EAI_AGAIN), and of Node about a connection. */
const systemCode = /^(E(?!RR_)[A-Z0-9_]+|ERR_(SSL|TLS|SOCKET|STREAM)_\w+)$/;
/** What the driver says without a code when the connection, or the wait for one, goes away under it. */
const lostConnection = /connection|not queryable|timeout|received unexpected|calling end on the pool/i;

/** Whether the same work may succeed later without anybody changing anything: the world's fault, not the work's. */
export function isTransient(error: unknown): boolean {
  if (error instanceof Failure) return error.kind === 'unavailable';
  // Its words are those of whoever wrote the event, and prove nothing about a connection.
  if (!(error instanceof Error) || error instanceof UnreadableEvent) return false;
  if ('code' in error && typeof error.code === 'string')
    return passingState.test(error.code) || systemCode.test(error.code);
  return lostConnection.test(error.message);
}

/** What a reader of a database gets of its error: `store-unavailable` where patience may help, else the error. */
export const shownError = (error: unknown): unknown =>
  isTransient(error) && !(error instanceof Failure)
    ? new Failure('store-unavailable', { reason: String(error) })
    : error;
