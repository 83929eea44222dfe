import type { Clock } from '../../application/ports/storage-ports.js';
import type { AccessTokens } from '../upstream/access-tokens.js';
import type { ControlClient } from '../upstream/control-client.js';
import type { Unreached } from '../upstream/upstream.js';
import type { UpstreamError } from '../upstream/upstream-error.js';
import type { Provider, UpstreamChannel, UpstreamRequest } from './protocol.js';

/*
 * How a request that is otherwise ready shows that it is the channel's, where its key alone does not: a signature over
 * it, or a token that is fetched first.
 */

export interface AuthorisationPorts {
  readonly clock: Clock;
  readonly sideRequests: ControlClient;
  readonly accessTokens: AccessTokens;
}

export type NotAuthorised =
  /** Whoever grants was asked and did not: judged as an upstream's own refusal, so 401 says that the credentials are dead. */
  { readonly ok: false; readonly refusal: UpstreamError } | (Unreached & { readonly refusal: null });

export type Authorised = { readonly ok: true; readonly request: UpstreamRequest } | NotAuthorised;

export interface Authorisation {
  /**
   * The request as it is to be sent: address, headers and content may be others than before. Throws NotConvertible, of
   * whose kinds `channel` says that the key cannot be used.
   */
  readonly authorise: (
    request: UpstreamRequest,
    to: { readonly provider: Provider; readonly channel: UpstreamChannel },
    ports: AuthorisationPorts,
  ) => Authorised | Promise<Authorised>;
  /**
   * Upstream answered 401 to this request. True: authorised anew it may be taken, and nothing that was shown before is
   * shown again. Left out: it would not.
   */
  readonly renew?: (shown: UpstreamRequest, channel: UpstreamChannel, ports: AuthorisationPorts) => boolean;
}
