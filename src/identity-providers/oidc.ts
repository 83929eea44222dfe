import {
  allowInsecureRequests,
  authorizationCodeGrant,
  ClientSecretPost,
  Configuration,
  type CustomFetch,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
} from 'openid-client';
import { z } from 'zod';
import type { SignInTrip } from '../application/ports/identity-provider-ports.js';
import type { Clock } from '../application/ports/storage-ports.js';
import { Failure } from '../domain/kernel/failure.js';
import type { Instant } from '../domain/kernel/instant.js';
import { wellKnownAddress } from '../domain/user/well-known.js';
import {
  accessToken,
  authoriseAddress,
  configuration,
  configured,
  guardedFetch,
  resource,
  step,
} from './code-exchange.js';
import { answerTimeoutMs, type IdentityProviderPorts, neededSecret, type OAuthProvider } from './identity-provider.js';
import { displayNameOf, profileText, shownName } from './profile-text.js';

/*
 * Any provider of OpenID Connect: found by its discovery document, or by three addresses. Who gives three addresses has
 * named no issuer and no keys, so then an id_token proves nothing, and who it is is what the user info says.
 */

const provider = 'oidc';
const scope = 'openid profile email';

const claimsShape = z.object({
  sub: z.string().min(1).max(255),
  email: z.string().min(1),
  email_verified: z.unknown().optional(),
  preferred_username: z.string().nullish(),
  name: z.string().nullish(),
});

/** What discovery says is believed for so long. */
const discoveryLifetimeMs = 10 * 60_000;

interface Known {
  /** Where it comes from; another one is asked for when the operator changes it. */
  readonly source: string;
  readonly config: Promise<Configuration>;
  readonly since: Instant;
}

/** Without keys nothing can say whether an id_token is right, so none is looked at. */
const withoutIdToken =
  (fetch: CustomFetch, tokenEndpoint: string): CustomFetch =>
  async (url, options) => {
    const answer = await fetch(url, options);
    if (url !== new URL(tokenEndpoint).href || !answer.ok) return answer;
    const { id_token: _, ...rest } = (await answer.json()) as Record<string, unknown>;
    return Response.json(rest, { status: answer.status });
  };

export function oidc(ports: IdentityProviderPorts, clock: Clock): OAuthProvider {
  const { text, outbound } = ports;
  const fetch = guardedFetch(outbound);
  let known: Known | null = null;

  const discovered = async (wellKnown: string, id: string, secret: string): Promise<Configuration> => {
    const found = await discovery(new URL(wellKnown), id, undefined, ClientSecretPost(secret), {
      [customFetch]: fetch,
      timeout: answerTimeoutMs / 1000,
      execute: [allowInsecureRequests],
    });
    // Clients of the legacy contract bring back code and state alone. With one provider there is none to be mixed up with.
    const { supportsPKCE: _, ...metadata } = found.serverMetadata();
    const server = { ...metadata, authorization_response_iss_parameter_supported: false };
    const config = configured(new Configuration(server, id, undefined, ClientSecretPost(secret)), fetch);
    if (server.jwks_uri !== undefined) enableNonRepudiationChecks(config);
    return config;
  };

  const named = (id: string, secret: string): Configuration => {
    const token_endpoint = text('oidc.token_endpoint').trim();
    const server = {
      issuer: new URL(token_endpoint).origin,
      authorization_endpoint: text('oidc.authorization_endpoint').trim(),
      token_endpoint,
      userinfo_endpoint: text('oidc.user_info_endpoint').trim(),
    };
    return configuration(server, { id, auth: ClientSecretPost(secret) }, withoutIdToken(fetch, token_endpoint));
  };

  const config = (): Promise<{ config: Configuration; isDiscovered: boolean }> =>
    step(ports, { provider, name: 'discovery', refused: 'provider-unreachable' }, async () => {
      const secret = await neededSecret(ports, provider, 'oidc.client_secret');
      const id = text('oidc.client_id').trim();
      const wellKnown = wellKnownAddress(text('oidc.well_known'));
      if (wellKnown === '') return { config: named(id, secret), isDiscovered: false };
      const source = JSON.stringify([wellKnown, id, secret]);
      const now = clock.now();
      if (known === null || known.source !== source || now - known.since > discoveryLifetimeMs) {
        const asked: Known = { source, config: discovered(wellKnown, id, secret), since: now };
        known = asked;
        // What has failed is asked again by the next who comes.
        asked.config.catch(() => {
          if (known === asked) known = null;
        });
      }
      return { config: await known.config, isDiscovered: true };
    });

  /** By the id_token and, where there is a userinfo endpoint, what it reports of the same subject. */
  const proven = async (config: Configuration, code: string, trip: SignInTrip): Promise<unknown> => {
    const back = new URL(trip.redirectUri ?? '');
    back.searchParams.set('code', code);
    const tokens = await step(ports, { provider, name: 'token', refused: 'provider-token-refused' }, () =>
      authorizationCodeGrant(config, back, {
        idTokenExpected: true,
        ...(trip.verifier === null ? {} : { pkceCodeVerifier: trip.verifier }),
        ...(trip.nonce === null ? {} : { expectedNonce: trip.nonce }),
      }),
    );
    const claims = tokens.claims();
    if (config.serverMetadata().userinfo_endpoint === undefined || claims === undefined) return claims;
    return step(ports, { provider, name: 'profile', refused: 'provider-profile-refused' }, () =>
      fetchUserInfo(config, tokens.access_token, claims.sub),
    );
  };

  const profileOf = async (config: Configuration, code: string, trip: SignInTrip): Promise<unknown> => {
    const token = await step(ports, { provider, name: 'token', refused: 'provider-token-refused' }, () =>
      accessToken(config, code, trip),
    );
    return step(ports, { provider, name: 'profile', refused: 'provider-profile-refused' }, () =>
      resource(config, token, config.serverMetadata().userinfo_endpoint ?? ''),
    );
  };

  return {
    async authoriseAddress(state, trip) {
      const { config: found, isDiscovered } = await config();
      // What was discovered, or typed, may name no address a browser can be sent to.
      return step(ports, { provider, name: 'address', refused: 'provider-unreachable' }, () =>
        authoriseAddress(found, state, scope, isDiscovered ? trip : { ...trip, nonce: null }),
      );
    },

    async identify(code, trip) {
      const { config: found, isDiscovered } = await config();
      const answer = await (isDiscovered ? proven : profileOf)(found, code, trip);
      const claims = claimsShape.safeParse(answer).data;
      if (claims === undefined) throw new Failure('provider-profile-empty', { provider });
      return {
        // Another provider's subject of the same text is somebody else.
        subject: JSON.stringify([found.serverMetadata().issuer, claims.sub]),
        shown: shownName(claims.sub),
        username: profileText(claims.preferred_username, 64) || null,
        displayName: displayNameOf(claims.name, 'OIDC User'),
        email: claims.email_verified === true ? claims.email : null,
      };
    },
  };
}
