import { Failure } from '../domain/failure.js';

/** SQLSTATE: connection lost, resources short, a statement cancelled, the server stopping or read-only, lost races. */
const passingState = /^(08|53|58|57014$|57P0[1235]$|25006$|40001$|40P01$|55P03$)/;
/** Codes of the operating system, e.g. ECONNREFUSED. */
const systemCode = /^E[A-Z]+$/;
/** What the driver says without a code when the connection goes away under it. */
const lostConnection = /connection|not queryable|timeout exceeded/i;

/** Whether the same work may succeed later without anybody changing anything: the world's fault, not the event's. */
export function isPassing(error: unknown): boolean {
  if (error instanceof Failure) return error.kind === 'unavailable';
  if (!(error instanceof Error)) return false;
  if ('code' in error && typeof error.code === 'string')
    return passingState.test(error.code) || systemCode.test(error.code);
  return lostConnection.test(error.message);
}
