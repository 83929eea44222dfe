import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SignInTrip } from '../../src/application/ports/identity-provider-ports.js';
import { oidc } from '../../src/identity-providers/oidc.js';
import { resolveBySystem } from '../../src/outbound/address-guard.js';
import { type GuardedClient, openGuardedClient } from '../../src/outbound/guarded-client.js';
import { someInstant } from '../support/given/events.js';
import { settableClock } from '../support/given/fixed-clock.js';
import { refusal } from '../support/refusal.js';
import { startUpstream, type Upstream } from '../support/upstreams/upstream.js';

/* Why a provider did not vouch for somebody, as the operator reads it in the log. */

let provider: Upstream;
let outbound: GuardedClient;
/** What the place for tokens says. */
let answer: (response: ServerResponse) => void;

const trip: SignInTrip = { redirectUri: 'https://gate.example/oauth/oidc', verifier: 'v'.repeat(43), nonce: 'nonce' };

const json = (response: ServerResponse, status: number, body: string): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(body);

beforeAll(async () => {
  provider = await startUpstream(({ url }, response) => {
    if (!url.includes('well-known')) return answer(response);
    const document = {
      issuer: provider.url,
      authorization_endpoint: `${provider.url}/authorise`,
      token_endpoint: `${provider.url}/token`,
      jwks_uri: `${provider.url}/keys`,
      response_types_supported: ['code'],
    };
    return json(response, 200, JSON.stringify(document));
  });
  outbound = openGuardedClient({ allowedNetworks: ['127.0.0.0/8'], allowHttp: true, resolve: resolveBySystem });
});
afterAll(async () => {
  await outbound?.close();
  await provider?.stop();
});

/** What the log gets when the provider answers so. */
async function reasonOf(given: (response: ServerResponse) => void): Promise<string> {
  const reasons: string[] = [];
  answer = given;
  const signIn = oidc(
    {
      outbound,
      text: (key) => (key === 'oidc.well_known' ? `${provider.url}/.well-known/openid-configuration` : 'client'),
      secretOf: async () => 'secret',
      report: ({ step, reason }) => reasons.push(`${step}/${reason}`),
    },
    settableClock(someInstant),
  );
  await expect(signIn.identify('code', trip)).rejects.toThrow(
    refusal('provider-token-refused', { provider: 'oidc', step: 'token' }),
  );
  expect(reasons).toHaveLength(1);
  return reasons[0] ?? '';
}

const refusing = (error: unknown) => (response: ServerResponse) =>
  json(response, 400, JSON.stringify({ error, error_description: 'secret-of-ours is wrong' }));

describe('the logged reason of a failed token request', () => {
  test.each(['invalid_client', 'invalid_grant', 'unauthorized_client'])(
    'is the registered error code: %s',
    async (code) => {
      expect(await reasonOf(refusing(code))).toBe(`token/${code}`);
    },
  );

  test.each<[string, (response: ServerResponse) => void]>([
    ['a code with line ends and control characters', refusing('invalid_client\n\u001b[31mlevel=fatal')],
    ['an endless code', refusing('x'.repeat(100_000))],
    ['an unregistered code', refusing('secret-of-ours')],
    ['a code that is not a text', refusing({ toString: 'invalid_client' })],
    ['an HTML page', (response) => json(response, 500, '<p>secret-of-ours\u0000</p>')],
    ['nothing', (response) => json(response, 400, '')],
    [
      'a challenge',
      (response) => void response.writeHead(401, { 'www-authenticate': 'Basic realm="secret-of-ours"' }).end(),
    ],
  ])('is a generic reason for %s', async (_what, given) => {
    const reason = await reasonOf(given);
    expect(reason).toMatch(/^token\/[\w-]{1,64}$/);
    expect(reason).not.toContain('secret-of-ours');
  });
});
