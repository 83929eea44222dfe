import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Gateway, startGateway } from '../../../src/bootstrap/gateway.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { quietLog } from '../../support/quiet-log.js';
import { until } from '../../support/until.js';

/* Models with a record in the price table, from the order to the line of the log, and after a restart. */

const quota = 1_000_000_000;
const searching = 'gpt-4o-search-preview';
const assistant = 'gpt-4o-gizmo-of-alice';

let gateway: TestGateway;
let successor: Gateway | undefined;
let user: TestUser;
let openai: OpenAI;

const record = async (model: string, ...periods: readonly object[]): Promise<void> => {
  const { application, root } = gateway;
  const order = { model, periods, seenAt: null };
  await application.visible(await application.prices.changePrices(root, [order], { kind: 'editor' }));
};

const client = async (group = 'default'): Promise<OpenAI> =>
  new OpenAI({ apiKey: await gateway.addApiKey(user, { group }), baseURL: `${gateway.url}/v1`, maxRetries: 0 });

const ask = (model: string, by = openai) =>
  by.chat.completions.create({ model, messages: [{ role: 'user', content: 'Hello?' }], max_tokens: 20 });

/** The newest line of a call of this model, once there are so many. */
const lineOf = (model: string, count = 1) =>
  until(async () => {
    const lines = await gateway.application.queries.logBefore(user.actor, {}, { limit: 50 }, true);
    const calls = lines.filter((line) => line.type === 2 && line.model === model);
    return calls.length >= count ? (calls[0] ?? null) : null;
  });

beforeAll(async () => {
  gateway = await startTestGateway();
  await gateway.setOption('GroupRatio', '{"default":1,"free":0}');
  await gateway.setOption('UserUsableGroups', '{"default":"","free":""}');
  await gateway.addChannel({ models: ['recorded', searching, assistant], groups: ['default', 'free'] });
  user = await gateway.addUser(quota);
  openai = await client();
});
afterAll(async () => {
  await successor?.stop();
  await gateway?.stop();
});

describe('a call of a model with a record', () => {
  test('is charged by the record of all of its kind, which the price list shows', async () => {
    await record('gpt-4o-gizmo-*', { tokens: { input: { usd: '100' }, output: { usd: '300' } } });
    await ask(assistant);
    // The log has them all under one name.
    const line = await lineOf('gpt-4o-gizmo-*');
    expect(line.quota).toBe(line.prompt_tokens * 50 + line.completion_tokens * 150);
    const prices = gateway.application.queries.prices();
    expect(prices.find(({ model }) => model === assistant)?.price).toMatchObject({ model: '50' });
  });

  test('is charged the price of the call and of a tool beside it', async () => {
    await record(searching, { call: '0.01', pieces: { 'calls:web_search': '0.002' } });
    await ask(searching);
    expect((await lineOf(searching)).quota).toBe(6_000);
  });

  test('is free for a group whose ratio is 0, tools included, and reserves nothing', async () => {
    const before = await gateway.available(user);
    await ask(searching, await client('free'));
    expect(await lineOf(searching, 2)).toMatchObject({ quota: 0, group: 'free' });
    expect(await gateway.available(user)).toBe(before);
  });

  test('is refused once the record states no price any more, though an option still has one', async () => {
    await gateway.setOption('ModelRatio', '{"recorded":1}');
    await record('recorded', { tokens: { input: { usd: '4' } } });
    await ask('recorded');
    const line = await lineOf('recorded');
    expect(line.quota).toBe((line.prompt_tokens + line.completion_tokens) * 2);
    await record('recorded', { purchase: { tokens: { input: { usd: '1' } } } });
    await expect(ask('recorded')).rejects.toMatchObject({ status: 400, code: 'model_price_error' });
  });
});

test('a gateway that is started again charges by the same records, and shows them in the maps of older clients', async () => {
  await record('recorded', { tokens: { input: { usd: '8' } } }, { from: '2999-01-01', call: '1' });
  const { actor } = user;
  const apiKey = await gateway.addApiKey(user);
  await gateway.stopKeepingData();
  successor = await startGateway(gateway.config, quietLog);
  const { application } = successor;
  const price = application.queries.prices().find(({ model }) => model === 'recorded');
  expect(price).toMatchObject({ price: { model: '4' }, coming: { price: { per: 'call', price: '1' } } });
  const ratios = application.options.list(gateway.root).find(({ key }) => key === 'ModelRatio');
  expect(JSON.parse(ratios?.value ?? '')).toMatchObject({ recorded: 4 });
  await ask('recorded', new OpenAI({ apiKey, baseURL: `${successor.url}/v1`, maxRetries: 0 }));
  await until(async () => {
    const lines = await application.queries.logBefore(actor, {}, { limit: 5 }, true);
    const isCharged = (line: (typeof lines)[number]) =>
      line.model === 'recorded' && line.quota === (line.prompt_tokens + line.completion_tokens) * 4;
    return lines.some(isCharged) ? true : null;
  });
});
