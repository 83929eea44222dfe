import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { until } from '../../support/until.js';
import { authorizationFor } from '../../support/upstreams/amazon-signature.js';
import { apiKey, signer } from '../../support/upstreams/bedrock-upstream.js';
import { type KeepingUpstream, startKeepingUpstream } from '../../support/upstreams/keeping-upstream.js';

/* What Amazon keeps is asked for as calls are: every request shows the key or is signed, and others are refused with 401. */

const funds = 10_000_000;

describe.each([
  ['an API key', `${apiKey}|us-east-1`],
  ['a signature', `${signer.accessKeyId}|${signer.secretAccessKey}|${signer.region}`],
])('a response that Amazon keeps, with %s', (_, key) => {
  let gateway: TestGateway;
  let upstream: KeepingUpstream;
  let user: TestUser;
  let client: OpenAI;

  beforeAll(async () => {
    upstream = await startKeepingUpstream(({ method, url, headers, text }) => {
      const shown = headers.authorization;
      return shown === `Bearer ${apiKey}` || shown === authorizationFor({ method, url, headers, body: text }, signer);
    });
    gateway = await startTestGateway();
    await gateway.setOption('ModelRatio', '{"openai.gpt-5.4":1}');
    await gateway.setOption('CompletionRatio', '{"openai.gpt-5.4":1}');
    await gateway.addChannel({ type: 33, models: ['openai.gpt-5.4'], baseUrl: `${upstream.url}/v1`, key });
    user = await gateway.addUser(funds);
    client = new OpenAI({ apiKey: await gateway.addApiKey(user), baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  });
  afterAll(async () => {
    await gateway?.stop();
    await upstream?.stop();
  });

  const becomes = (expected: number) => until(async () => ((await gateway.available(user)) === expected ? true : null));

  test('is retrieved and deleted, and the members that its query names several times are signed', async () => {
    const { id } = await client.responses.create({ model: 'openai.gpt-5.4', input: 'What is a ledger?' });
    const include = ['message.input_image.image_url', 'reasoning.encrypted_content'] as const;
    expect(await client.responses.retrieve(id, { include: [...include] })).toMatchObject({ id });
    expect(upstream.received.at(-1)?.url.match(/include/g)).toHaveLength(2);
    await client.responses.delete(id);
    expect(upstream.received.at(-1)).toMatchObject({ method: 'DELETE' });
  });

  test('is charged when it ends in the background, and when it is cancelled', async () => {
    const before = await gateway.available(user);
    const ask = { model: 'openai.gpt-5.4', input: 'What is a ledger?', background: true } as const;
    const first = await client.responses.create(ask);
    upstream.finish(first.id);
    await becomes(before - 30);
    const second = await client.responses.create(ask);
    expect((await client.responses.cancel(second.id)).status).toBe('cancelled');
    await becomes(before - 60);
  });

  test('has its conversation made and read', async () => {
    const { id } = await client.conversations.create({});
    expect(await client.conversations.retrieve(id)).toMatchObject({ id });
  });
});
