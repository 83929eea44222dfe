import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { until } from '../../support/until.js';

/* A model that is newer than the price table, called with the option that prices it like an earlier version. */

let gateway: TestGateway;
let user: TestUser;
let openai: OpenAI;

const ask = (model: string) =>
  openai.chat.completions.create({ model, messages: [{ role: 'user', content: 'Hello' }], max_tokens: 20 });

beforeAll(async () => {
  gateway = await startTestGateway();
  await gateway.addChannel({ models: ['gpt-6.1-sol', 'gpt-6.9-sol', 'taken-away-2'] });
  user = await gateway.addUser(10_000_000);
  openai = new OpenAI({ apiKey: await gateway.addApiKey(user), baseURL: `${gateway.url}/v1`, maxRetries: 0 });
});
afterAll(() => gateway?.stop());

test('a model without a price is refused as long as the option is off', async () => {
  await expect(ask('gpt-6.9-sol')).rejects.toMatchObject({ status: 400, code: 'model_price_error' });
});

test('a model without a price is charged like its earlier version, as log, receipt and price list show', async () => {
  await gateway.setOption('NearestFamilyPriceEnabled', 'true');
  await ask('gpt-6.1-sol');
  await ask('gpt-6.9-sol');
  const lines = await until(async () => {
    const found = await gateway.application.queries.logBefore(user.actor, {}, { limit: 10 }, true);
    const calls = found.filter(({ type }) => type === 2);
    return calls.length === 2 ? calls : null;
  });
  const [newer, known] = lines;
  expect(newer).toMatchObject({ model: 'gpt-6.9-sol', quota: known?.quota, price: { like: 'gpt-6.1-sol' } });
  expect(known?.price).not.toHaveProperty('like');
  const listed = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      query: '{ priceList(search: "gpt-6.9-sol") { items { price { ... on TokenPrice { model like } } } } }',
    }),
  });
  expect(await listed.json()).toMatchObject({
    data: { priceList: { items: [{ price: { model: '1', like: 'gpt-6.1-sol' } }] } },
  });
});

test('a model whose record was removed is refused with the option on', async () => {
  const periods = [{ tokens: { input: { usd: '2' } } }];
  const change = async (stated: unknown) =>
    gateway.application.visible(
      await gateway.application.prices.changePrices(
        gateway.root,
        [{ model: 'gpt-6.9-sol', periods: stated, seenAt: null }],
        { kind: 'editor' },
      ),
    );
  await change(periods);
  await change(null);
  await expect(ask('gpt-6.9-sol')).rejects.toMatchObject({ status: 400, code: 'model_price_error' });
});
