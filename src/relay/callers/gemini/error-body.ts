import type { RelayError } from '../../errors.js';

/* Refusals as Google's interfaces tell them. */

const names: ReadonlyMap<number, string> = new Map([
  [400, 'INVALID_ARGUMENT'],
  [401, 'UNAUTHENTICATED'],
  [403, 'PERMISSION_DENIED'],
  [404, 'NOT_FOUND'],
  [408, 'DEADLINE_EXCEEDED'],
  [409, 'ABORTED'],
  [413, 'INVALID_ARGUMENT'],
  [429, 'RESOURCE_EXHAUSTED'],
  [499, 'CANCELLED'],
  [500, 'INTERNAL'],
  [501, 'UNIMPLEMENTED'],
  [502, 'INTERNAL'],
  [503, 'UNAVAILABLE'],
  [504, 'DEADLINE_EXCEEDED'],
]);
const allNames = new Set([
  ...names.values(),
  'FAILED_PRECONDITION',
  'OUT_OF_RANGE',
  'ALREADY_EXISTS',
  'DATA_LOSS',
  'UNKNOWN',
]);

/** An upstream that has such names keeps its own. */
const nameOf = ({ type, status }: RelayError): string =>
  allNames.has(type) ? type : (names.get(status) ?? (status < 500 ? 'FAILED_PRECONDITION' : 'UNKNOWN'));

export function errorBody(error: RelayError, requestId: string): string {
  const suffix = ` (request id: ${requestId})`;
  const message = error.message.endsWith(suffix) ? error.message : `${error.message}${suffix}`;
  return JSON.stringify({ error: { code: error.status, message, status: nameOf(error) } });
}
