import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { SignInTrip } from '../../src/application/ports/identity-provider-ports.js';
import type { OutboundRequest } from '../../src/application/ports/outbound-ports.js';
import type { OAuthProvider } from '../../src/identity-providers/identity-provider.js';
import { oidc } from '../../src/identity-providers/oidc.js';
import { resolveBySystem } from '../../src/outbound/address-guard.js';
import { type GuardedClient, openGuardedClient } from '../../src/outbound/guarded-client.js';
import { someInstant } from '../support/given/events.js';
import { settableClock } from '../support/given/fixed-clock.js';
import { refusal } from '../support/refusal.js';
import { startUpstream, type Upstream } from '../support/upstreams/upstream.js';

/* A provider of OpenID Connect is asked where its doors are before anybody is sent there: somebody waits for the answer. */

let provider: Upstream;
let outbound: GuardedClient;
let answer: (response: ServerResponse) => void;
let asked: OutboundRequest[];
let reported: string[];
let signIn: OAuthProvider;

const trip: SignInTrip = { redirectUri: 'https://gate.example/oauth/oidc', verifier: 'v'.repeat(43), nonce: 'nonce' };
const visit = (): Promise<string> => signIn.authoriseAddress('state', trip);
const document = () => ({
  issuer: provider.url,
  authorization_endpoint: `${provider.url}/authorise`,
  token_endpoint: `${provider.url}/token`,
  jwks_uri: `${provider.url}/keys`,
  response_types_supported: ['code'],
});
const send = (response: ServerResponse, body: string, status = 200): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(body);

beforeAll(async () => {
  provider = await startUpstream((_, response) => answer(response));
  outbound = openGuardedClient({ allowedNetworks: ['127.0.0.0/8'], allowHttp: true, resolve: resolveBySystem });
});
afterAll(async () => {
  await outbound?.close();
  await provider?.stop();
});
beforeEach(() => {
  asked = [];
  reported = [];
  const options: Readonly<Record<string, string>> = {
    'oidc.client_id': 'client',
    'oidc.well_known': `${provider.url}/.well-known/openid-configuration`,
  };
  const ports = {
    outbound: {
      fetch(request: OutboundRequest) {
        asked.push(request);
        // Whoever says nothing is not waited for to the end; that there is one is looked at below.
        return outbound.fetch({ ...request, timeoutMs: isSilent ? 100 : request.timeoutMs });
      },
    },
    text: (key: string) => options[key] ?? '',
    secretOf: async () => 'secret',
    report: ({ step, reason }: { readonly step: string; readonly reason: string }) =>
      reported.push(`${step} ${reason}`),
  };
  signIn = oidc(ports, settableClock(someInstant));
});
let isSilent = false;
afterEach(() => {
  isSilent = false;
});

describe('the discovery of an identity provider', () => {
  test.each<[string, (response: ServerResponse) => void]>([
    ['sends nothing', () => {}],
    ['begins to answer, and stops', (response) => void response.writeHead(200).write('{"issuer":')],
  ])('that %s is aborted within seconds, and repeated at the next sign-in', async (_, says) => {
    answer = says;
    isSilent = true;
    await expect(visit()).rejects.toThrow(refusal('provider-unreachable', { provider: 'oidc', step: 'discovery' }));
    expect(reported).toEqual(['discovery timed-out']);
    for (const { timeoutMs, maxBytes } of asked) {
      expect(timeoutMs).toBeLessThanOrEqual(5_000);
      expect(maxBytes).toBeLessThanOrEqual(256 * 1024);
    }
    isSilent = false;
    answer = (response) => send(response, JSON.stringify(document()));
    expect(await visit()).toContain(`${provider.url}/authorise?`);
  });

  test.each<[string, string, (response: ServerResponse) => void]>([
    ['disconnects', 'unreachable', (response) => response.destroy()],
    ['is endless', 'too-large', (response) => send(response, `{"issuer":"${'x'.repeat(300_000)}"}`)],
  ])('that %s is reported as unreachable', async (_, reason, says) => {
    answer = says;
    await expect(visit()).rejects.toThrow(refusal('provider-unreachable'));
    expect(reported).toEqual([`discovery ${reason}`]);
  });

  test.each<[string, (response: ServerResponse) => void]>([
    ['is an HTML page', (response) => send(response, '<p>secret page of the provider</p>')],
    ['is a text', (response) => send(response, '"issuer"')],
    ['is empty', (response) => send(response, 'null')],
    [
      'leads to the page itself',
      (response) =>
        send(
          response,
          JSON.stringify({ ...document(), authorization_endpoint: 'javascript:alert(document.cookie)//' }),
        ),
    ],
    ['names no authorization address', (response) => send(response, JSON.stringify({ issuer: provider.url }))],
    ['is not found', (response) => send(response, '{}', 404)],
  ])('that %s redirects no browser, and is not quoted', async (_, says) => {
    answer = says;
    await expect(visit()).rejects.toThrow(refusal('provider-unreachable'));
    expect(reported).toHaveLength(1);
    expect(reported.join()).not.toContain('secret page');
  });

  test('is requested once for concurrent sign-ins', async () => {
    answer = (response) => send(response, JSON.stringify(document()));
    const addresses = await Promise.all([visit(), visit(), visit()]);
    expect(new Set(addresses).size).toBe(1);
    expect(asked).toHaveLength(1);
  });
});
