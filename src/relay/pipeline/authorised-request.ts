import type { Authorised } from '../contracts/authorisation.js';
import { RelayError } from '../contracts/errors.js';
import type { RelayPorts } from '../contracts/ports.js';
import { NotConvertible, type UpstreamRequest } from '../contracts/protocol.js';
import { unreached } from './attempt-failure.js';
import { type AttemptTarget, judged } from './send-attempt.js';

/*
 * A request beside calls with the authorisation of its channel. Every request to a provider that is no attempt of a call
 * and no question about models or balances is sent with what this returns.
 */

type AuthorisePorts = Pick<RelayPorts, 'authorising' | 'directory'>;

/** Throws RelayError: the key cannot be used, or no token is granted for it. */
export async function authorisedRequest(
  ports: AuthorisePorts,
  { provider, channel, parsed }: AttemptTarget,
  request: UpstreamRequest,
): Promise<UpstreamRequest> {
  if (provider.authorisation === undefined) return request;
  let authorised: Authorised;
  try {
    authorised = await provider.authorisation.authorise(request, { provider, channel }, ports.authorising);
  } catch (error) {
    if (!(error instanceof NotConvertible)) throw error;
    throw new RelayError(error.fault === 'channel' ? 500 : 400, 'convert_request_failed', error.message);
  }
  if (authorised.ok) return authorised.request;
  const { refusal } = authorised;
  throw refusal === null
    ? unreached(authorised).error
    : judged(ports, { provider, parsed }, { error: refusal, costUnknown: false, request: '' }).error;
}

/** A token that upstream refused with 401 may have been withdrawn before its time: the next request shows another. */
export function forgetRefused(
  { authorising }: Pick<RelayPorts, 'authorising'>,
  { provider, channel }: Pick<AttemptTarget, 'provider' | 'channel'>,
  request: UpstreamRequest,
  status: number,
): void {
  if (status === 401) provider.authorisation?.renew?.(request, channel, authorising);
}
