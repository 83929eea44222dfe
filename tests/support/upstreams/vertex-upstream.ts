import { createPublicKey, generateKeyPairSync, type JsonWebKey, verify } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { isObject, type JsonObject, parseJson } from '../../../src/relay/json/json.js';
import { startUpstream, type UpstreamCall } from './upstream.js';

/*
 * Google's cloud on this machine: it grants tokens for assertions that are signed as they must be, and answers calls
 * that show a token it takes.
 */

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const publicJwk: JsonWebKey = publicKey.export({ format: 'jwk' });

export const testPrivateKey = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

export const serviceAccountDocument = (tokenUri: string, rest: JsonObject = {}): string =>
  JSON.stringify({
    type: 'service_account',
    project_id: 'proj-test-1',
    private_key_id: 'kid-test-1',
    private_key: testPrivateKey,
    client_email: 'calls@proj-test-1.iam.gserviceaccount.com',
    token_uri: tokenUri,
    ...rest,
  });

const decoded = (part = ''): unknown => parseJson(Buffer.from(part, 'base64url').toString());

/** The claims of an assertion whose signature is right; null: it is not. */
export function claimsIn(assertion: string): JsonObject | null {
  const [header, claims, signature = ''] = assertion.split('.');
  const head = decoded(header);
  if (!isObject(head) || head.alg !== 'RS256' || head.kid !== 'kid-test-1') return null;
  const key = createPublicKey({ key: publicJwk, format: 'jwk' });
  const right = verify('RSA-SHA256', Buffer.from(`${header}.${claims}`), key, Buffer.from(signature, 'base64url'));
  const signed = decoded(claims);
  return right && isObject(signed) ? signed : null;
}

type Answering = (call: UpstreamCall, response: ServerResponse) => void;

export interface VertexUpstream {
  readonly url: string;
  readonly tokenUri: string;
  /** Calls that showed a good token, newest last. */
  readonly calls: UpstreamCall[];
  /** Claims of those who were granted a token. */
  readonly granted: JsonObject[];
  /** How tokens are granted from now on; null: as they should be. */
  grants(answering: Answering | null): void;
  /** How calls are answered from now on. */
  respondWith(answering: Answering): void;
  /** Tokens granted till now are taken no more. */
  withdraw(): void;
  /** As in the beginning. */
  reset(): void;
  stop(): Promise<void>;
}

export const json = (response: ServerResponse, status: number, body: unknown): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

export async function startVertexUpstream(): Promise<VertexUpstream> {
  const calls: UpstreamCall[] = [];
  const granted: JsonObject[] = [];
  const taken = new Set<string>();
  let grants: Answering | null = null;
  let says: Answering = (_, response) => json(response, 500, {});

  const grant: Answering = ({ body, headers }, response) => {
    const form = new URLSearchParams(body);
    const claims = claimsIn(form.get('assertion') ?? '');
    const asked =
      headers['content-type'] === 'application/x-www-form-urlencoded' &&
      form.get('grant_type') === 'urn:ietf:params:oauth:grant-type:jwt-bearer';
    if (claims === null || !asked || claims.aud !== `${upstream.url}/token`)
      return json(response, 400, { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' });
    granted.push(claims);
    const token = `ya29.token-${granted.length}`;
    taken.add(token);
    return json(response, 200, { access_token: token, expires_in: 3599, token_type: 'Bearer' });
  };

  const upstream = await startUpstream((call, response) => {
    if (call.url === '/token') return (grants ?? grant)(call, response);
    if (!taken.has(/^Bearer (.+)$/.exec(call.headers.authorization ?? '')?.[1] ?? ''))
      return json(response, 401, {
        error: { code: 401, message: 'Request had invalid authentication credentials.', status: 'UNAUTHENTICATED' },
      });
    calls.push(call);
    return says(call, response);
  });

  return {
    url: upstream.url,
    tokenUri: `${upstream.url}/token`,
    calls,
    granted,
    grants(answering) {
      grants = answering;
    },
    respondWith(answering) {
      says = answering;
    },
    withdraw: () => taken.clear(),
    reset() {
      grants = null;
      calls.length = 0;
      granted.length = 0;
    },
    stop: () => upstream.stop(),
  };
}
