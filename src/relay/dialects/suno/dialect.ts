import { gatewayErrorType, type RelayError } from '../../contracts/errors.js';
import { taskDialect } from '../task-dialect.js';

/* How clients of Suno's servers are answered. */

/** By the gateway's own codes: those that clients of such a server know them by. */
const codes: ReadonlyMap<string | null, string> = new Map([
  ['insufficient_user_quota', 'quota_not_enough'],
  ['pre_consume_token_quota_failed', 'quota_not_enough'],
  ['token_budget_exceeded', 'quota_not_enough'],
]);

/** The request id stands in the headers: clients compare messages. */
function errorBody({ code, message, type }: RelayError): string {
  const known = type === gatewayErrorType ? codes.get(code) : undefined;
  return JSON.stringify({ code: known ?? (code || type), message, data: null });
}

export const sunoCaller = taskDialect({ errorBody });
