import {
  AuthorizationResponseError,
  allowInsecureRequests,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientError,
  Configuration,
  type CustomFetch,
  calculatePKCECodeChallenge,
  customFetch,
  fetchProtectedResource,
  genericGrantRequest,
  ResponseBodyError,
  type ServerMetadata,
} from 'openid-client';
import type { SignInTrip } from '../application/ports/identity-provider-ports.js';
import type { Outbound } from '../application/ports/outbound-ports.js';
import type { IdentityProvider } from '../domain/kernel/claim.js';
import { Failure, type FailureCode } from '../domain/kernel/failure.js';
import { OutboundError, outboundFetch } from '../outbound/outbound-fetch.js';
import { answerTimeoutMs, type IdentityProviderPorts, maxAnswerBytes } from './identity-provider.js';

/* The code of a browser that comes back, brought to its provider for a token, and the token for a profile. */

const limits = { timeoutMs: answerTimeoutMs, maxBytes: maxAnswerBytes };

/** The library's requests, through the guarded client. */
export const guardedFetch = (outbound: Outbound): CustomFetch => {
  const fetched = outboundFetch(outbound, limits);
  return (url, { method, headers, body }) => {
    if (body instanceof ReadableStream)
      throw new TypeError('a request to an identity provider has no body that is read as it is sent');
    return fetched(url, { method, headers, body: body ?? null });
  };
};

/** Whether an address may be http is the guarded client's to say. */
export function configured(config: Configuration, fetch: CustomFetch): Configuration {
  config[customFetch] = fetch;
  config.timeout = answerTimeoutMs / 1000;
  allowInsecureRequests(config);
  return config;
}

export const configuration = (
  server: ServerMetadata,
  client: { readonly id: string; readonly auth: ClientAuth },
  fetch: CustomFetch,
): Configuration => configured(new Configuration(server, client.id, undefined, client.auth), fetch);

/** Where the browser is to go: with PKCE where the trip has a verifier. */
export async function authoriseAddress(
  config: Configuration,
  state: string,
  scope: string | null,
  { redirectUri, verifier, nonce }: SignInTrip,
): Promise<string> {
  return buildAuthorizationUrl(config, {
    state,
    ...(scope === null ? {} : { scope }),
    ...(redirectUri === null ? {} : { redirect_uri: redirectUri }),
    ...(verifier === null
      ? {}
      : { code_challenge: await calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256' }),
    ...(nonce === null ? {} : { nonce }),
  }).href;
}

const isUnanswered = (error: unknown): error is Error & { cause: OutboundError } =>
  error instanceof Error && (error instanceof OutboundError || error.cause instanceof OutboundError);

/** Of RFC 6749 and OpenID Connect: a word of the provider's own could be anything. */
const registeredErrors: ReadonlySet<string> = new Set([
  'access_denied',
  'invalid_client',
  'invalid_grant',
  'invalid_request',
  'invalid_scope',
  'invalid_token',
  'server_error',
  'temporarily_unavailable',
  'unauthorized_client',
  'unsupported_grant_type',
  'unsupported_response_type',
]);

const reasonOf = (error: unknown): string => {
  if (error instanceof OutboundError) return error.reason;
  if (isUnanswered(error)) return error.cause.reason;
  // Of the provider's own words the registered error code alone, such as `invalid_client`.
  const reported =
    error instanceof ResponseBodyError || error instanceof AuthorizationResponseError ? error.error : null;
  if (reported !== null && registeredErrors.has(reported)) return reported;
  return error instanceof ClientError && error.code !== undefined ? error.code : 'refused';
};

interface ExchangeStep {
  readonly provider: IdentityProvider;
  readonly name: string;
  /** What a refusal of it is called. */
  readonly refused: FailureCode;
}

/** One step of the talk with a provider: whatever goes wrong in it is a Failure, and says nothing of its answer. */
export async function step<Result>(
  { report }: Pick<IdentityProviderPorts, 'report'>,
  { provider, name, refused }: ExchangeStep,
  talk: () => Promise<Result>,
): Promise<Result> {
  try {
    return await talk();
  } catch (error) {
    if (error instanceof Failure) throw error;
    report({ provider, step: name, reason: reasonOf(error) });
    throw new Failure(isUnanswered(error) ? 'provider-unreachable' : refused, { provider, step: name });
  }
}

/** The access token for a code, by OAuth 2 alone: what else the answer holds is nobody's proof. */
export async function accessToken(
  config: Configuration,
  code: string,
  { redirectUri, verifier }: SignInTrip,
): Promise<string> {
  const { access_token } = await genericGrantRequest(config, 'authorization_code', {
    code,
    ...(redirectUri === null ? {} : { redirect_uri: redirectUri }),
    ...(verifier === null ? {} : { code_verifier: verifier }),
  });
  return access_token;
}

/** What the provider says to the access token at this address. */
export async function resource(config: Configuration, token: string, address: string): Promise<unknown> {
  const headers = new Headers({ accept: 'application/json' });
  const answer = await fetchProtectedResource(config, token, new URL(address), 'GET', null, headers);
  if (!answer.ok) throw new Error('the profile was not given');
  return answer.json();
}
