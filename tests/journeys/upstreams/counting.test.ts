import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { type AnthropicUpstream, startAnthropicUpstream } from '../../support/upstreams/anthropic-upstream.js';
import { type GeminiUpstream, startGeminiUpstream } from '../../support/upstreams/gemini-upstream.js';

/* Counting tokens costs nothing: so it is for who could pay, of a bounded size, and answers with a number alone. */

const google = 'gemini-3-pro-preview';
const claude = 'claude-sonnet-4-5-20250929';
let gateway: TestGateway;
let gemini: GeminiUpstream;
let anthropic: AnthropicUpstream;
let user: TestUser;

beforeAll(async () => {
  gateway = await startTestGateway();
  gemini = await startGeminiUpstream();
  anthropic = await startAnthropicUpstream();
  await gateway.addChannel({ models: ['gpt-4o-mini'] });
  await gateway.addChannel({ type: 24, models: [google], baseUrl: gemini.url });
  await gateway.addChannel({ type: 14, models: [claude], baseUrl: anthropic.url });
  user = await gateway.addUser(1);
});
afterAll(async () => {
  await gateway?.stop();
  await gemini?.stop();
  await anthropic?.stop();
});

const text = (content: string) => ({ messages: [{ role: 'user', content }] });
const parts = (content: string) => ({ contents: [{ parts: [{ text: content }] }] });

async function count(who: TestUser, path: string, body: object) {
  const headers = { authorization: `Bearer ${await gateway.addApiKey(who)}`, 'content-type': 'application/json' };
  const answer = await fetch(gateway.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: answer.status, source: answer.headers.get('x-token-count'), json: await answer.json() };
}

const googles = `/v1beta/models/${google}:countTokens`;
const anthropics = '/v1/messages/count_tokens';

describe('a count of tokens', () => {
  test('contains only the number, whatever else the upstream returns', async () => {
    gemini.respondWith('countTokens', {
      totalTokens: 31,
      promptTokensDetails: [{ modality: 'TEXT' }],
      account: 'operators',
    });
    expect(await count(user, googles, parts('x'))).toEqual({
      status: 200,
      source: 'upstream',
      json: { totalTokens: 31 },
    });
    anthropic.respondWith((_call, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"input_tokens":47,"note":"operators"}');
    });
    const asked = { model: claude, ...text('x') };
    expect(await count(user, anthropics, asked)).toEqual({
      status: 200,
      source: 'upstream',
      json: { input_tokens: 47 },
    });
  });

  test.each(['{"input_tokens":"47"}', '{"input_tokens":-1}', '{"note":1}', 'null', '[]'])(
    'is an estimate where the upstream returns none: %s',
    async (requested) => {
      anthropic.respondWith((_call, response) => {
        response.writeHead(200, { 'content-type': 'application/json' }).end(requested);
      });
      const counted = await count(user, anthropics, { model: claude, ...text('x') });
      expect(counted).toMatchObject({ status: 200, source: 'estimated', json: { input_tokens: expect.any(Number) } });
    },
  );

  test('is for users with a positive balance', async () => {
    const poor = await gateway.addUser(0);
    const asked = [gemini.calls.length, anthropic.calls.length];
    for (const [path, body] of [
      [googles, parts('x')],
      ['/v1beta/models/gpt-4o-mini:countTokens', parts('x')],
      [anthropics, { model: claude, ...text('x') }],
      [anthropics, { model: 'gpt-4o-mini', ...text('x') }],
    ] as const) {
      const { status, json } = await count(poor, path, body);
      expect(status).toBeGreaterThanOrEqual(400);
      expect(JSON.stringify(json)).toContain('quota');
    }
    expect([gemini.calls.length, anthropic.calls.length]).toEqual(asked);
  });

  test('is limited to eight mebibytes', async () => {
    const large = 'x'.repeat(8 * 1024 * 1024);
    for (const [path, body] of [
      [googles, parts(large)],
      [anthropics, { model: 'gpt-4o-mini', ...text(large) }],
    ] as const) {
      const { status, json } = await count(user, path, body);
      expect([status, JSON.stringify(json)]).toEqual([413, expect.stringContaining(String(8 * 1024 * 1024))]);
    }
  });
});
