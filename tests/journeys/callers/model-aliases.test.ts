import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ApiKeyId } from '../../../src/domain/kernel/ids.js';
import { isObject, type JsonObject, parseJson } from '../../../src/relay/json/json.js';
import { type Answer, type Callers, errorIn, openCallers } from '../../support/callers/callers.js';
import { lineOf } from '../../support/gateway/log-lines.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { type DialectUpstream, protocols, startDialectUpstream } from '../../support/upstreams/dialect-upstreams.js';

/* A key whose programs ask for `claude-…` and get another model, in every dialect and over every wire. */

let gateway: TestGateway;
let callers: Callers;
let upstreams: readonly DialectUpstream[] = [];
let user: TestUser;
let key = '';

beforeAll(async () => {
  gateway = await startTestGateway();
  callers = openCallers(gateway.url);
  await gateway.setOption('SelfUseModeEnabled', 'true');
  upstreams = await Promise.all(protocols.map(startDialectUpstream));
  for (const { type, url, model } of upstreams) await gateway.addChannel({ type, baseUrl: url, models: [model] });
  user = await gateway.addUser(100_000_000);
  key = await gateway.addApiKey(user);
  await setAliases([
    ...upstreams.map(({ protocol, model }) => ({ name: `claude-${protocol}`, model })),
    { name: 'claude-gone', model: 'no-such-model' },
    // Not to be caught by the wildcard.
    { name: 'claude-sonnet-4-5', model: 'claude-sonnet-4-5' },
    { name: 'claude-*', model: 'gpt-4o' },
  ]);
});
afterAll(async () => {
  await callers?.close();
  for (const upstream of upstreams) await upstream.stop();
  await gateway?.stop();
});

async function setAliases(modelAliases: readonly { name: string; model: string }[]): Promise<void> {
  const { application } = gateway;
  const { items } = await application.queries.apiKeys(user.actor, { page: 1, size: 1 });
  const terms = {
    name: 'ci',
    unlimited: true,
    expiresAt: null,
    modelLimitsEnabled: false,
    modelLimits: [],
    allowIps: [],
    group: '',
  };
  const change = { terms: { ...terms, modelAliases }, quota: null, shownQuota: null };
  await application.visible(await application.apiKeys.edit(user.actor, ApiKeyId(items[0]?.id), change, null));
}

const words = 'What is a ledger?';
const dialects: Readonly<
  Record<string, (model: string) => { path: string; headers: Record<string, string>; body: JsonObject }>
> = {
  openai: (model) => ({
    path: '/v1/chat/completions',
    headers: {},
    body: { model, messages: [{ role: 'user', content: words }] },
  }),
  anthropic: (model) => ({
    path: '/v1/messages',
    headers: { 'anthropic-version': '2023-06-01' },
    body: { model, max_tokens: 50, messages: [{ role: 'user', content: words }] },
  }),
  gemini: (model) => ({
    path: `/v1beta/models/${model}:generateContent`,
    headers: {},
    body: { contents: [{ role: 'user', parts: [{ text: words }] }] },
  }),
};

function ask(dialect: string, model: string): Promise<Answer> {
  const asked = dialects[dialect]?.(model);
  if (asked === undefined) throw new Error(`no dialect ${dialect}`);
  const { path, headers, body } = asked;
  return callers
    .with(key)
    .send(path, { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body });
}

describe('a call by an alias', () => {
  test.each(protocols.flatMap((wire) => Object.keys(dialects).map((dialect) => [dialect, wire] as const)))(
    'of the dialect %s goes to the model behind it over %s, is charged as that, and both names are logged',
    async (dialect, wire) => {
      const upstream = upstreams.find(({ protocol }) => protocol === wire);
      if (upstream === undefined) throw new Error(`no upstream ${wire}`);
      upstream.answerWith({ text: 'A book.' });
      const [aliased, plain] = [await ask(dialect, `claude-${wire}`), await ask(dialect, upstream.model)];
      expect([aliased.status, plain.status]).toEqual([200, 200]);
      expect(aliased.text).toContain('A book.');
      const [line, other] = [await lineOf(gateway, user, aliased), await lineOf(gateway, user, plain)];
      expect(line).toMatchObject({ model: upstream.model, detail: { kind: 'aliased', alias: `claude-${wire}` } });
      expect([line.quota, line.price, line.upstream_model]).toEqual([other.quota, other.price, null]);
      expect(line.quota).toBeGreaterThan(0);
      expect(other.detail).toBeNull();
    },
  );

  test('with a wildcard goes to its target model', async () => {
    const [upstream] = upstreams;
    upstream?.answerWith({ text: 'A book.' });
    const answer = await ask('anthropic', 'claude-whatever-5-20261101');
    expect(answer.status).toBe(200);
    expect(await lineOf(gateway, user, answer)).toMatchObject({
      model: 'gpt-4o',
      detail: { alias: 'claude-whatever-5-20261101' },
    });
  });

  test('for a model that no channel serves is refused as that model', async () => {
    const refused = await ask('openai', 'claude-gone');
    expect([refused.status, errorIn(refused).code]).toEqual([404, 'model_not_found']);
    expect(errorIn(refused).message).toContain('no-such-model');
  });

  test('that fails is logged with its alias', async () => {
    upstreams[0]?.refuses(400);
    const refused = await ask('openai', 'claude-openai');
    expect(refused.status).toBe(400);
    expect(await lineOf(gateway, user, refused)).toMatchObject({
      detail: { kind: 'released', alias: 'claude-openai' },
    });
  });
});

describe('a listing of models', () => {
  const list = async (path: string, headers: Record<string, string> = {}): Promise<JsonObject> => {
    const listed = parseJson((await callers.with(key).send(path, { headers })).text);
    return isObject(listed) ? listed : {};
  };
  const anthropic = { 'anthropic-version': '2023-06-01' };

  test("has aliases without wildcards among the models, with their target models in Anthropic's form", async () => {
    const { data, first_id, last_id, has_more } = await list('/v1/models?limit=1000', anthropic);
    const models = data as JsonObject[];
    const ids = models.map(({ id }) => String(id));
    expect(ids).toEqual([...ids].sort());
    expect(ids.filter((id) => id.startsWith('claude-'))).toEqual([
      ...['claude-anthropic', 'claude-gemini', 'claude-openai', 'claude-sonnet-4-5'],
    ]);
    expect([first_id, last_id, has_more]).toEqual([ids[0], ids.at(-1), false]);
    expect(models.find(({ id }) => id === 'claude-openai')).toMatchObject({
      ...{ type: 'model', display_name: 'gpt-4o', lifecycle: 'active', line: null, capabilities: null },
      ...{ max_tokens: 16_384, max_input_tokens: 128_000, deprecated_at: null, retires_at: null },
    });
    expect(models.find(({ id }) => id === 'claude-anthropic')).toMatchObject({
      ...{ display_name: 'claude-sonnet-4-5', line: 'sonnet', lifecycle: 'deprecated' },
      ...{ max_tokens: 64_000, retires_at: '2026-11-30T00:00:00Z' },
      capabilities: { thinking: { supported: true, types: { enabled: { supported: true } } } },
    });
  });

  test("names the target of an alias in OpenAI's form, and limits in Gemini's", async () => {
    const { data } = await list('/v1/models');
    expect(data).toContainEqual(expect.objectContaining({ id: 'claude-openai', root: 'gpt-4o', owned_by: 'openai' }));
    const { models } = await list('/v1beta/models');
    expect(models).toContainEqual({
      ...{ name: 'models/claude-gemini', displayName: 'gemini-3-pro-preview' },
      ...{ inputTokenLimit: 1_048_576, outputTokenLimit: 65_536 },
      supportedGenerationMethods: ['generateContent', 'streamGenerateContent', 'countTokens'],
    });
  });

  test('gives one model by an alias, with a wildcard too', async () => {
    expect(await list('/v1/models/claude-any', anthropic)).toMatchObject({ id: 'claude-any', display_name: 'gpt-4o' });
    expect(await list('/v1/models/claude-gone', anthropic)).toMatchObject({ type: 'error' });
  });

  test('has a model whose name a wildcard matches as the target of the wildcard, as a call by it goes there', async () => {
    const models = async () => (await list('/v1/models')).data as JsonObject[];
    await setAliases([{ name: 'gemini-*', model: 'gpt-4o' }]);
    const caught = (await models()).find(({ id }) => id === 'gemini-3-pro-preview');
    expect(caught).toMatchObject({ root: 'gpt-4o' });
    await setAliases([{ name: 'gemini-*', model: 'no-such-model' }]);
    expect((await models()).map(({ id }) => id)).not.toContain('gemini-3-pro-preview');
  });
});
