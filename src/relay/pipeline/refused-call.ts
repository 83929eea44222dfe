import { failureCodeOf, isModelName } from '../../domain/call/call-texts.js';
import { CallId } from '../../domain/kernel/ids.js';
import type { Refusal } from '../../domain/kernel/refusal.js';
import { clientNetwork } from '../../http/client-network.js';
import { RelayError, refusalFor } from '../contracts/errors.js';
import type { CallContext } from './call-context.js';
import type { StagePorts } from './stage-ports.js';

/* A call that has failed: what its caller is answered, and what is counted of one that was not reserved. */

/** What an API key's owner needs to know of an address that may not call. */
const aboutTheAddress = 'ip_not_allowed';

/** Of callers that nobody knows nothing is kept that they have chosen. */
const modelOf = (model: unknown): string => (typeof model === 'string' && isModelName(model) ? model : '');

/** By the last context that the call has reached. */
function refusedCall({ incoming, user, apiKey, named }: CallContext, error: RelayError): Refusal {
  const userId = user?.id ?? apiKey?.owner ?? null;
  const code = failureCodeOf(error.code) ?? 'unknown';
  const group = apiKey?.terms.group || named?.group || user?.group || '';
  return {
    userId,
    apiKeyId: apiKey?.id ?? null,
    apiKeyName: apiKey?.terms.name ?? (user === null ? '' : `playground-${group}`),
    group,
    model: userId === null ? '' : modelOf(named?.model ?? ''),
    path: incoming.endpoint.path,
    status: error.status,
    code,
    network: userId === null || code === aboutTheAddress ? clientNetwork(incoming.ip) : null,
  };
}

/** Answers a call that has failed with why, and counts it unless its own stream says what has become of it. */
export function refuseCall(
  ports: Pick<StagePorts, 'log' | 'refusals' | 'clock'>,
  call: CallContext,
  error: unknown,
): void {
  const { connection, heartbeat, reservation } = call;
  const { requestId } = call.incoming;
  const refusal = refusalFor(error, requestId, ports.log);
  if (heartbeat.open && !connection.ended) connection.refuseInStream(refusal);
  else connection.refuse(refusal);
  if (reservation !== null || connection.gone) return;
  // Where the log did not answer it may hold a reservation, and then shows by itself what becomes of the call.
  const callId = error instanceof RelayError ? CallId(requestId) : null;
  ports.refusals.count(refusedCall(call, refusal), callId, ports.clock.now());
}
