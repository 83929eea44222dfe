import { type RelayError, secondsToWait } from '../../contracts/errors.js';

/* Refusals as Google's interfaces write them. */

const names: ReadonlyMap<number, string> = new Map([
  [400, 'INVALID_ARGUMENT'],
  [401, 'UNAUTHENTICATED'],
  [402, 'FAILED_PRECONDITION'],
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

/** Where Google's clients look for how long to wait. */
const retryInfo = 'type.googleapis.com/google.rpc.RetryInfo';

/** An upstream that has such names keeps its own. */
const nameOf = ({ type, status }: RelayError): string =>
  allNames.has(type) ? type : (names.get(status) ?? (status < 500 ? 'FAILED_PRECONDITION' : 'UNKNOWN'));

export function errorBody(error: RelayError, requestId: string): string {
  const suffix = ` (request id: ${requestId})`;
  const message = error.message.endsWith(suffix) ? error.message : `${error.message}${suffix}`;
  const wait = secondsToWait(error);
  const details = wait === null ? {} : { details: [{ '@type': retryInfo, retryDelay: `${wait}s` }] };
  return JSON.stringify({ error: { code: error.status, message, status: nameOf(error), ...details } });
}
