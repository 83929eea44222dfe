import { z } from 'zod';
import { urlIn } from '../../domain/kernel/address.js';
import { checkText } from '../../domain/kernel/bounds.js';
import { Failure, invalidField } from '../../domain/kernel/failure.js';
import type { Actor } from '../../domain/user/user.js';
import { wellKnownAddress } from '../../domain/user/well-known.js';
import { authorise } from '../authorise.js';
import type { Outbound } from '../ports/outbound-ports.js';

/* What a provider of OpenID Connect says of itself, so that nobody has to copy its addresses. */

interface OidcEndpoints {
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly userInfoEndpoint: string;
}

/** A person is waiting. */
const timeoutMs = 5_000;
/** Far beyond a discovery document. */
const maxBytes = 256 * 1024;
const maxAddressLength = 2048;

const address = z.url({ protocol: /^https?$/ }).max(maxAddressLength);
const document = z.object({
  authorization_endpoint: address,
  token_endpoint: address,
  // The one of the three that a provider may leave out: what it would return is in the id_token.
  userinfo_endpoint: address.optional(),
});

function documentIn(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return null;
  }
}

/** Throws `oidc-discovery-failed` with a `reason` that repeats nothing of the answer. */
export const oidcEndpoints =
  ({ outbound }: { readonly outbound: Outbound }) =>
  async (actor: Actor, wellKnown: string): Promise<OidcEndpoints> => {
    authorise(actor, 'root');
    const url = wellKnownAddress(wellKnown);
    checkText('wellKnown', url, { max: maxAddressLength });
    if (!/^https?:\/\//i.test(url) || urlIn(url) === null)
      throw invalidField('wellKnown', `an address that begins with http:// or https://`);
    const answer = await outbound.fetch({ url, headers: { accept: 'application/json' }, timeoutMs, maxBytes });
    if (!answer.ok) throw new Failure('oidc-discovery-failed', { reason: answer.reason });
    if (answer.status !== 200) throw new Failure('oidc-discovery-failed', { reason: `status ${answer.status}` });
    const found = document.safeParse(documentIn(answer.body)).data;
    if (found === undefined) throw new Failure('oidc-discovery-failed', { reason: 'no-discovery-document' });
    return {
      authorizationEndpoint: found.authorization_endpoint,
      tokenEndpoint: found.token_endpoint,
      userInfoEndpoint: found.userinfo_endpoint ?? '',
    };
  };
