import { expect, test } from 'vitest';
import type { OutboundAnswer, OutboundRequest } from '../../../src/application/ports/outbound-ports.js';
import { oidcEndpoints } from '../../../src/application/sign-in/oidc-endpoints.js';
import { admin, root } from '../../support/memory/memory-node.js';
import { refusal } from '../../support/refusal.js';

const wellKnown = 'https://id.example/.well-known/openid-configuration';
const document = {
  issuer: 'https://id.example',
  authorization_endpoint: 'https://id.example/authorize',
  token_endpoint: 'https://id.example/token',
  userinfo_endpoint: 'https://id.example/me',
};

const clientFor = (answer: OutboundAnswer, asked: OutboundRequest[] = []) =>
  oidcEndpoints({
    outbound: {
      fetch: async (request) => {
        asked.push(request);
        return answer;
      },
    },
  });
const answering = (body: unknown, status = 200): OutboundAnswer => ({
  ok: true,
  status,
  headers: new Map(),
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
});

test('the endpoints of an identity provider are read from its discovery document, within bounds', async () => {
  const asked: OutboundRequest[] = [];
  expect(await clientFor(answering(document), asked)(root, ` ${wellKnown} `)).toEqual({
    authorizationEndpoint: 'https://id.example/authorize',
    tokenEndpoint: 'https://id.example/token',
    userInfoEndpoint: 'https://id.example/me',
  });
  expect(asked).toMatchObject([{ url: wellKnown, timeoutMs: 5_000, maxBytes: 262_144 }]);
});

test('an identity provider may lack a userinfo endpoint beside its id_token', async () => {
  const { userinfo_endpoint: _, ...without } = document;
  expect(await clientFor(answering(without))(root, wellKnown)).toMatchObject({ userInfoEndpoint: '' });
});

test.each([
  ['no JSON', answering('<html>planted</html>'), 'no-discovery-document'],
  ['a document of another shape', answering({ planted: true }), 'no-discovery-document'],
  [
    'an address of another scheme',
    answering({ ...document, token_endpoint: 'javascript:planted' }),
    'no-discovery-document',
  ],
  ['an error response', answering(document, 404), 'status 404'],
  ['no response', { ok: false, reason: 'blocked' } as const, 'blocked'],
])('%s is reported by its kind, without quoting it', async (_, answer, reason) => {
  await expect(clientFor(answer)(root, wellKnown)).rejects.toThrow(refusal('oidc-discovery-failed', { reason }));
});

test.each(['', 'id.example', 'ftp://id.example/x', 'http://', `https://id.example/${'x'.repeat(3_000)}`])(
  'an invalid issuer address is not requested: %.30s',
  async (text) => {
    const asked: OutboundRequest[] = [];
    await expect(clientFor(answering(document), asked)(root, text)).rejects.toThrow(
      refusal('invalid-field', { field: 'wellKnown' }),
    );
    expect(asked).toEqual([]);
  },
);

test('a discovery document is fetched for root only', async () => {
  await expect(clientFor(answering(document))(admin, wellKnown)).rejects.toThrow(refusal('role-too-low'));
});
