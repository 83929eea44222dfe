import { createHash, generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { AuthorisationPorts } from '../../../../src/relay/contracts/authorisation.js';
import type { UpstreamRequest } from '../../../../src/relay/contracts/protocol.js';
import { grantedToken } from '../../../../src/relay/protocols/oauth-grant.js';
import {
  assertionOf,
  byServiceAccount,
  serviceAccountKey,
} from '../../../../src/relay/protocols/vertex/service-account.js';
import { AccessTokens } from '../../../../src/relay/upstream/access-tokens.js';
import type { ControlAnswer, ControlRequest } from '../../../../src/relay/upstream/control-client.js';
import { someInstant } from '../../../support/given/events.js';
import { settableClock } from '../../../support/given/fixed-clock.js';
import { claimsIn, serviceAccountDocument, testPrivateKey } from '../../../support/upstreams/vertex-upstream.js';
import { plainChannel, providerOfType } from '../../providers/golden.js';

const uri = 'https://tokens.example/token';
const document = (rest = {}): string => serviceAccountDocument(uri, rest);
const provider = providerOfType(41);
const request = { headers: { accept: '*/*' } } as unknown as UpstreamRequest;

const granting = (body: unknown, status = 200): ControlAnswer => ({
  ok: true,
  status,
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
});

function world(answer: ControlAnswer = granting({ access_token: 'ya29.t', expires_in: 3599 })) {
  const clock = settableClock(someInstant);
  const asked: { readonly question: ControlRequest; readonly proxy: string | null }[] = [];
  const ports: AuthorisationPorts = {
    clock,
    sideRequests: {
      async post(question, proxy) {
        asked.push({ question, proxy });
        return answer;
      },
      async get() {
        throw new Error('a token is asked for with POST');
      },
    },
    accessTokens: new AccessTokens(clock),
  };
  const authorise = async (key = document(), proxy: string | null = null) =>
    byServiceAccount.authorise(request, { provider, channel: { ...plainChannel, key, proxy } }, ports);
  return { clock, asked, ports, authorise };
}

describe('the key of a Vertex channel', () => {
  const refused = (key: string): string | null =>
    serviceAccountKey.pattern.test(key) ? (serviceAccountKey.instead?.(key) ?? null) : serviceAccountKey.allowed;
  const elliptic = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

  test('is the document of a service account', () => {
    expect(refused(document())).toBeNull();
    expect(refused(document({ type: undefined, token_uri: undefined, private_key_id: undefined }))).toBeNull();
  });

  test.each([
    ['not JSON', 'AIzaSyA1234567890', 'the JSON document of a service account'],
    ['a truncated document', document().slice(0, 50), 'the JSON document of a service account'],
    ['the document of a user', document({ type: 'authorized_user' }), 'of type service_account'],
    ['no project', document({ project_id: '' }), 'project_id'],
    ['a project with a path in it', document({ project_id: '../evil' }), 'project_id'],
    ['a project of dots', document({ project_id: '..' }), 'project_id'],
    ['no address', document({ client_email: undefined }), 'client_email'],
    ['no key', document({ private_key: undefined }), 'private_key'],
    [
      'a key that is not one',
      document({ private_key: testPrivateKey.slice(0, 200) }),
      'private_key, an RSA key in PEM',
    ],
    [
      'a key of another type',
      document({ private_key: elliptic.export({ type: 'pkcs8', format: 'pem' }) }),
      'private_key, an RSA key in PEM',
    ],
    ['a token address without encryption', document({ token_uri: 'http://tokens.example/token' }), 'token_uri'],
    ['a token address that resembles this machine', document({ token_uri: 'http://127.0.0.1.example/' }), 'token_uri'],
    ['a token address with a password', document({ token_uri: 'https://u:p@tokens.example/' }), 'token_uri'],
    ['a token address that is not an address', document({ token_uri: 7 }), 'token_uri'],
  ])('is refused as %s, and the error names what is missing', (_what, key, named) => {
    expect(refused(key)).toContain(named);
  });
});

describe('the signed assertion', () => {
  test('equals the published test vector', async () => {
    const account = {
      projectId: 'proj-test',
      clientEmail: 'svc@proj-test.iam.gserviceaccount.com',
      keyId: 'kid-test-1',
      privateKey: testPrivateKey,
      tokenUri: 'https://oauth2.googleapis.com/token',
    };
    const assertion = await assertionOf(account, 1_767_323_045_000);
    const input = assertion.slice(0, assertion.lastIndexOf('.'));
    expect(createHash('sha256').update(input).digest('hex')).toBe(
      'f565fc9c675c161e1f41c60aa38d68759214234564fbe4e7b5eb5b54dc9a8ec4',
    );
  });

  test('is signed, and requests an hour at the token address', async () => {
    const { asked, authorise } = world();
    expect(await authorise()).toEqual({
      ok: true,
      request: { headers: { accept: '*/*', authorization: 'Bearer ya29.t' } },
    });
    const [{ question, proxy } = { question: null, proxy: '' }] = asked;
    if (question?.content.kind !== 'bytes') throw new Error('nothing was asked');
    expect([question.url, proxy]).toEqual([uri, null]);
    const form = new URLSearchParams(question.content.bytes.toString());
    const issued = Math.floor(someInstant / 1000);
    expect(claimsIn(form.get('assertion') ?? '')).toMatchObject({ aud: uri, iat: issued, exp: issued + 3600 });
  });
});

describe('an access token of Vertex', () => {
  test('serves many calls, until five minutes before it expires', async () => {
    const { asked, authorise, clock } = world();
    await authorise();
    await authorise();
    expect(asked).toHaveLength(1);
    clock.advance(3_299_000);
    await authorise();
    expect(asked).toHaveLength(2);
  });

  test('belongs to one key and one proxy', async () => {
    const { asked, authorise } = world();
    for (const [key, proxy] of [
      [document(), null],
      [document(), 'http://proxy.example:8080'],
      [document({ project_id: 'proj-test-2' }), null],
    ] as const)
      await authorise(key, proxy);
    expect(asked.map(({ proxy }) => proxy)).toEqual([null, 'http://proxy.example:8080', null]);
  });

  test('that is rejected is fetched again, once for all calls that used it', async () => {
    const { asked, authorise, ports } = world();
    const first = await authorise();
    if (!first.ok) throw new Error('no token');
    const channel = { ...plainChannel, key: document() };
    expect(byServiceAccount.renew?.(first.request, channel, ports)).toBe(true);
    await authorise();
    expect(asked).toHaveLength(2);
  });

  test.each([
    ['refused', granting({ error: 'invalid_grant', error_description: 'Invalid JWT Signature.' }, 400), 401],
    ['refused without a reason', granting({ error: 'invalid_client' }, 401), 401],
    ['temporarily unavailable', granting({ error: 'backend' }, 503), 503],
    ['rate-limited', granting('slow down', 429), 429],
    ['granted at another address', granting('', 307), 502],
    ['no JSON', granting('<html>'), 502],
    ['nothing', granting({ access_token: '' }), 502],
    ['invalid in a header', granting({ access_token: 'a\r\nx-evil: 1' }), 502],
    ['a page that is not found', granting('<html>', 404), 502],
  ])('that is %s is a failure with a status', async (_what, answer, status) => {
    expect(await world(answer).authorise()).toMatchObject({ ok: false, refusal: { status } });
  });

  test('that is refused is reported with the reason, and without the key', async () => {
    const words = 'No account calls@proj-test-1.iam.gserviceaccount.com in proj-test-1, see https://help.example/1';
    const { authorise } = world(granting({ error: 'invalid_grant', error_description: words }, 400));
    expect(await authorise()).toMatchObject({
      refusal: {
        type: 'authentication_error',
        code: 'invalid_grant',
        message: 'the service account was refused: No account *** in ***, see ***',
      },
    });
  });

  test('that is refused because the clocks differ is not reported as refused', () => {
    const error_description =
      'Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim.';
    const body = Buffer.from(JSON.stringify({ error: 'invalid_grant', error_description }));
    const confidential = { key: 'k', baseUrl: '', organization: null, other: '', proxy: null };
    const granted = grantedToken(
      { ok: true, status: 400, body },
      { of: 'the service account', maxLifeSeconds: 60, confidential },
    );
    expect(granted.ok ? null : granted.refusal?.status).toBe(502);
  });

  test('that cannot be requested is not reported as refused', async () => {
    const unreached = { ok: false, saturated: false, blocked: false, timedOut: true } as const;
    expect(await world(unreached).authorise()).toEqual({ ...unreached, refusal: null });
  });

  test('is not requested with an invalid key', async () => {
    const { asked, authorise } = world();
    await expect(authorise('AIza')).rejects.toMatchObject({ fault: 'channel' });
    await expect(authorise(document({ private_key: 'none' }))).rejects.toMatchObject({ fault: 'channel' });
    expect(asked).toEqual([]);
  });
});
