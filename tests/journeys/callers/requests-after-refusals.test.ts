import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Quota } from '../../../src/domain/kernel/quota.js';
import { startTestGateway, type TestGateway } from '../../support/gateway/test-gateway.js';

/* How often the official clients, as they come, ask after each refusal: what agents are made of. */

const model = 'gpt-4o';
const limit = 50;

let gateway: TestGateway;
let requests: number;
const keys: Record<string, string> = {};

beforeAll(async () => {
  gateway = await startTestGateway();
  await gateway.setOption('SelfUseModeEnabled', 'true');
  await gateway.addChannel({ models: [model] });
  await gateway.addChannel({ models: ['dead'] });
  await gateway.addChannel({ models: ['busy'] });
  const error = { message: 'Incorrect API key provided', code: 'invalid_api_key' };
  gateway.provider.script('dead', { kind: 'refuse', status: 401, body: { error } });
  gateway.provider.script('busy', { kind: 'refuse', status: 429, retryAfter: '1' });
  const rich = await gateway.addUser(100_000_000);
  const poor = await gateway.addUser(1);
  keys.wrong = `sk-${'x'.repeat(48)}`;
  keys.good = await gateway.addApiKey(rich);
  keys.poor = await gateway.addApiKey(poor);
  keys.spent = await gateway.addApiKey(rich, { budget: { quota: Quota(450), period: 'weekly' } });
  // What is left of the budget then is less than a call may cost.
  gateway.provider.script(model, { tokens: { prompt: 10, completion: limit } });
  await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${keys.spent}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }], max_tokens: limit }),
  });
});
afterAll(() => gateway?.stop());

const counting: typeof fetch = (...asked) => {
  requests++;
  return fetch(...asked);
};

interface Thrown {
  readonly status?: number;
  readonly message?: string;
  readonly headers?: Headers;
}

const content = 'Hi';
const clients: Readonly<Record<string, (key: string, name: string, max: number) => Promise<unknown>>> = {
  openai: (apiKey, name, max) =>
    new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, fetch: counting }).chat.completions.create({
      ...{ model: name, max_tokens: max, messages: [{ role: 'user', content }] },
    }),
  anthropic: (apiKey, name, max) =>
    new Anthropic({ apiKey, baseURL: gateway.url, fetch: counting }).messages.create({
      ...{ model: name, max_tokens: max, messages: [{ role: 'user', content }] },
    }),
  genai: (apiKey, name, max) => {
    const kept = globalThis.fetch;
    // It takes no fetch of its own.
    globalThis.fetch = (...asked) => {
      requests++;
      return kept(...asked);
    };
    return new GoogleGenAI({ apiKey, httpOptions: { baseUrl: gateway.url, retryOptions: { attempts: 3 } } }).models
      .generateContent({ model: name, contents: content, config: { maxOutputTokens: max } })
      .finally(() => {
        globalThis.fetch = kept;
      });
  },
};

const refused = async (client: string, key: string | undefined, name = model, max = limit): Promise<Thrown> => {
  requests = 0;
  const call = clients[client];
  if (call === undefined || key === undefined) throw new Error('no such client or key');
  return call(key, name, max).then(
    () => ({}),
    (thrown: Thrown) => thrown,
  );
};

describe.each(['openai', 'anthropic', 'genai'])('the client %s, which retries by itself,', (client) => {
  const noQuota = client === 'anthropic' ? 402 : 403;
  test('sends one request with a wrong key', async () => {
    expect([(await refused(client, keys.wrong)).status, requests]).toEqual([401, 1]);
  });
  test('sends one request without quota', async () => {
    expect([(await refused(client, keys.poor)).status, requests]).toEqual([noQuota, 1]);
  });
  test('sends one request with a budget that is renewed in days, and learns when', async () => {
    const { status, message } = await refused(client, keys.spent);
    expect([status, requests]).toEqual([402, 1]);
    expect(message).toContain('it begins anew at');
  });
  test('gets the channel’s invalid key as a failure of the gateway', async () => {
    expect((await refused(client, keys.good, 'dead')).status).toBe(502);
    // Google's reads no header that tells it not to.
    if (client !== 'genai') expect(requests).toBe(1);
  });
  test('retries where waiting helps', async () => {
    expect((await refused(client, keys.good, 'busy')).status).toBe(429);
    expect(requests).toBe(3);
  });
});

test('an insufficient quota has its error type in Anthropic’s dialect', async () => {
  expect(await refused('anthropic', keys.poor)).toMatchObject({ error: { error: { type: 'billing_error' } } });
});

test('a retry time is in Google’s form, as its clients read it', async () => {
  const { message = '' } = await refused('genai', keys.good, 'busy');
  expect(JSON.parse(message)).toMatchObject({
    error: {
      ...{ code: 429, status: 'RESOURCE_EXHAUSTED' },
      details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '1s' }],
    },
  });
});
