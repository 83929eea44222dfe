import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiKeyView } from '../../src/application/ports/storage-ports.js';
import { ApiKeyId } from '../../src/domain/kernel/ids.js';
import { Instant } from '../../src/domain/kernel/instant.js';
import type { ApiKeyRequest } from '../../src/rest-compat/billing.js';
import { apiKeyTerms } from '../support/given/api-key-terms.js';
import { type Cast, dataOf, openStage, send } from './rest-server.js';

let stage: Cast;
let seen: ApiKeyRequest[] = [];
let terms: Partial<ApiKeyView['terms']> = {};
let apiKeyId: ApiKeyId;

/** Stands for the relay, which knows API keys; what it finds and refuses is its own tests' matter. */
async function identifyApiKey(request: ApiKeyRequest) {
  seen.push(request);
  if (request.headers.authorization !== 'Bearer sk-good')
    throw Object.assign(new Error('invalid token'), { status: 401 });
  const { application } = stage.gateway;
  const user = await application.directory.user(stage.users.alice.actor.id);
  if (user === null) throw new Error('alice is gone');
  const apiKey: ApiKeyView = {
    id: apiKeyId,
    owner: user.id,
    status: 'enabled',
    terms: apiKeyTerms(terms),
  };
  return { user, apiKey };
}

beforeAll(async () => {
  stage = await openStage({ identifyApiKey });
  await stage.alice.post('/api/token/', { name: 'ci', remain_quota: 750_000 });
  const [token] = dataOf<{ id: number }[]>(await stage.alice.get('/api/token/'));
  apiKeyId = ApiKeyId(token?.id);
});
afterAll(() => stage.stop());

const ask = (path: string, key = 'sk-good') =>
  send(stage.url, 'GET', path, { headers: { authorization: `Bearer ${key}`, origin: 'https://other.example' } });
const subscription = (amount: number, until = 0) => ({
  object: 'billing_subscription',
  has_payment_method: true,
  soft_limit_usd: amount,
  hard_limit_usd: amount,
  system_hard_limit_usd: amount,
  access_until: until,
});

describe.each(['/dashboard/billing', '/v1/dashboard/billing'])('the billing endpoint %s', (prefix) => {
  test('returns the available and the spent quota of the key, in dollars', async () => {
    const answer = await ask(`${prefix}/subscription`);
    expect(answer.json).toEqual(subscription(1.5));
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.headers.get('x-request-id')).not.toBeNull();
    expect((await ask(`${prefix}/usage?start_date=2026-01-01&end_date=2026-02-01`)).json).toEqual({
      object: 'list',
      total_usage: 0,
    });
  });
  test('passes on the caller and the form', async () => {
    seen = [];
    await ask(`${prefix}/usage?key=x`);
    expect(seen[0]).toMatchObject({ path: `${prefix}/usage`, headers: { authorization: 'Bearer sk-good' } });
    expect(seen[0]?.query.get('key')).toBe('x');
  });
  test('refuses in the dialect of the clients', async () => {
    const answer = await ask(`${prefix}/subscription`, 'sk-bad');
    expect(answer.status).toBe(401);
    expect(answer.json).toEqual({
      error: {
        message: `invalid token (request id: ${answer.headers.get('x-request-id')})`,
        type: 'gateway_error',
      },
    });
  });
});

describe('the billed amounts', () => {
  test('are units where no currency is displayed', async () => {
    await stage.gateway.setOption('DisplayInCurrencyEnabled', 'false');
    expect((await ask('/dashboard/billing/subscription')).json).toEqual(subscription(750_000));
    await stage.gateway.setOption('DisplayInCurrencyEnabled', 'true');
  });
  test('are those of the owner where keys are not displayed separately', async () => {
    await stage.gateway.setOption('DisplayTokenStatEnabled', 'false');
    expect((await ask('/dashboard/billing/subscription')).json).toEqual(subscription(1));
    await stage.gateway.setOption('DisplayTokenStatEnabled', 'true');
  });
  test('of an unlimited key are a large number, and its expiry is returned', async () => {
    terms = { unlimited: true, expiresAt: Instant(1_900_000_000_000) };
    expect((await ask('/dashboard/billing/subscription')).json).toEqual(subscription(100_000_000, 1_900_000_000));
    terms = {};
  });
});

describe('billing with the keys of the relay', () => {
  const through = (key: string) =>
    send(stage.gateway.url, 'GET', '/v1/dashboard/billing/subscription', {
      headers: { authorization: `Bearer ${key}` },
    });

  test('returns the allowance of a real key', async () => {
    const key = await stage.gateway.addApiKey(stage.users.bob, { quota: 250_000 });
    expect((await through(key)).json).toEqual(subscription(0.5));
  });
  test('refuses an unknown key', async () => {
    const answer = await through(`sk-${'x'.repeat(48)}`);
    expect(answer.status).toBe(401);
    expect(answer.json).toEqual({
      error: { message: expect.stringMatching(/\(request id: \w+\)$/), type: 'gateway_error' },
    });
  });
});
