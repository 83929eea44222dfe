import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestUser } from '../support/gateway/test-gateway.js';
import { type GraphqlClient, type GraphqlServer, startGraphql } from './graphql-server.js';

let server: GraphqlServer;
let user: TestUser;
let client: GraphqlClient;

beforeAll(async () => {
  server = await startGraphql();
  await server.gateway.addChannel();
  user = await server.gateway.addUser(1_000_000, 'olga');
  client = await server.as(user);
});
afterAll(() => server?.stop());

const fields = `id ownerId name key status expiresAt unlimited remainingQuota usedQuota modelLimitsEnabled modelLimits
  allowIps group createdAt accessedAt`;
const issue = `mutation ($input: ApiKeyInput!) { issueApiKey(input: $input) { ${fields} } }`;
const edit = `mutation ($id: ID!, $input: ApiKeyInput!) { editApiKey(id: $id, input: $input) { ${fields} } }`;
const setEnabled =
  'mutation ($id: ID!, $enabled: Boolean!) { setApiKeyEnabled(id: $id, enabled: $enabled) { id status } }';

describe('an API key', () => {
  test('is issued with its owner’s settings, and calls with it are served', async () => {
    const input = {
      name: 'ci',
      quota: 5_000,
      expiresAt: 4_102_444_800,
      modelLimitsEnabled: true,
      modelLimits: ['gpt-4o'],
      allowIps: ['127.0.0.1'],
      group: 'default',
    };
    const { issueApiKey: issued } = await client.ask(issue, { input });
    expect(issued).toEqual({
      id: expect.any(String),
      ownerId: String(user.actor.id),
      name: 'ci',
      key: expect.stringMatching(/^sk-[0-9A-Za-z]{48}$/),
      status: 'ENABLED',
      expiresAt: 4_102_444_800,
      unlimited: false,
      remainingQuota: 5_000,
      usedQuota: 0,
      modelLimitsEnabled: true,
      modelLimits: ['gpt-4o'],
      allowIps: ['127.0.0.1'],
      group: 'default',
      createdAt: expect.any(Number),
      accessedAt: null,
    });
    await server.call(issued.key);
  });
  test('can be read again by its owner: one, as a list, and by parts of name and key', async () => {
    const { issueApiKey: issued } = await client.ask(issue, { input: { name: 'findable' } });
    expect((await client.ask('query ($id: ID!) { apiKey(id: $id) { key } }', { id: issued.id })).apiKey.key).toBe(
      issued.key,
    );
    const { apiKeys } = await client.ask('{ apiKeys(size: 1) { total items { id key } } }');
    expect(apiKeys.items).toEqual([{ id: issued.id, key: issued.key }]);
    const search = 'query ($name: String!, $key: String!) { searchApiKeys(name: $name, key: $key) { id } }';
    for (const key of [issued.key, issued.key.slice(10, 20)])
      expect(await client.ask(search, { name: 'find', key })).toEqual({ searchApiKeys: [{ id: issued.id }] });
    expect(await client.ask(search, { name: 'nothing', key: '' })).toEqual({ searchApiKeys: [] });
  });
  test('keeps its quota through an edit that does not mention it', async () => {
    const { issueApiKey: issued } = await client.ask(issue, { input: { name: 'kept', quota: 700 } });
    const { editApiKey: renamed } = await client.ask(edit, { id: issued.id, input: { name: 'renamed' } });
    expect(renamed).toMatchObject({ name: 'renamed', remainingQuota: 700, key: issued.key });
    const { editApiKey: topped } = await client.ask(edit, { id: issued.id, input: { name: 'renamed', quota: 900 } });
    expect(topped).toMatchObject({ remainingQuota: 900 });
  });
  test('has aliases of models when its owner sets them, which are kept until an edit changes them', async () => {
    const read = 'query ($id: ID!) { apiKey(id: $id) { modelAliases { name model } } }';
    const modelAliases = [{ name: 'claude-*', model: 'gpt-4o' }];
    const { issueApiKey: issued } = await client.ask(issue, { input: { name: 'aliased', modelAliases } });
    const now = async () => (await client.ask(read, { id: issued.id })).apiKey.modelAliases;
    expect(await now()).toEqual(modelAliases);
    for (const [given, expected] of [
      [{}, modelAliases],
      [{ modelAliases: null }, modelAliases],
      [{ modelAliases: [] }, []],
    ] as const) {
      await client.ask(edit, { id: issued.id, input: { name: 'aliased', ...given } });
      expect(await now()).toEqual(expected);
    }
  });
  test('has a budget when its owner sets one, which is kept until an edit changes it', async () => {
    const read = `query ($id: ID!) { apiKey(id: $id) { budget { quota period spent resetsAt } } }`;
    const budgetOf = async (id: string) => (await client.ask(read, { id })).apiKey.budget;
    const { issueApiKey: plain } = await client.ask(issue, { input: { name: 'plain', unlimited: true } });
    expect(await budgetOf(plain.id)).toBeNull();

    const budget = { quota: 500_000, period: 'MONTHLY' };
    const given = { name: 'budgeted', unlimited: true, budget };
    const { issueApiKey: issued } = await client.ask(issue, { input: given });
    const [year, month] = [new Date().getUTCFullYear(), new Date().getUTCMonth()];
    const ends = [0, 1].map((later) => Date.UTC(year, month + 1 + later, 1) / 1000);
    const fresh = await budgetOf(issued.id);
    expect(fresh).toMatchObject({ ...budget, spent: 0 });
    expect(ends).toContain(fresh.resetsAt);

    await server.call(issued.key);
    const { usedQuota } = (await client.ask('query ($id: ID!) { apiKey(id: $id) { usedQuota } }', { id: issued.id }))
      .apiKey;
    expect(usedQuota).toBeGreaterThan(0);
    // In a month that has just begun, nothing is spent.
    expect([usedQuota, 0]).toContain((await budgetOf(issued.id)).spent);

    await client.ask(edit, { id: issued.id, input: { name: 'kept budget', unlimited: true } });
    expect(await budgetOf(issued.id)).toMatchObject(budget);
    const { apiKeys } = await client.ask('{ apiKeys(size: 1) { items { id budget { quota spent } } } }');
    expect(apiKeys.items).toEqual([{ id: issued.id, budget: { quota: 500_000, spent: usedQuota } }]);
    const overseen = '{ allApiKeys(name: "kept budget") { items { id budget { quota period } } } }';
    expect(await server.root.ask(overseen)).toMatchObject({ allApiKeys: { items: [{ id: issued.id, budget }] } });

    await client.ask(edit, { id: issued.id, input: { name: 'renamed', unlimited: true, budget: null } });
    expect(await budgetOf(issued.id)).toBeNull();
  });
  test('is refused with a budget of zero, or beyond the integer range', async () => {
    for (const quota of [0, -1, 1_000_000_000_000_001])
      expect(await client.refusal(issue, { input: { name: 'none', budget: { quota, period: 'DAILY' } } })).toEqual({
        code: 'invalid-field',
        kind: 'invalid',
        details: { field: 'budget.quota', allowed: 'an integer from 1 to 1000000000000000' },
      });
  });
  test('is disabled and enabled', async () => {
    const { issueApiKey: issued } = await client.ask(issue, { input: { name: 'switched', unlimited: true } });
    expect((await client.ask(setEnabled, { id: issued.id, enabled: false })).setApiKeyEnabled.status).toBe('DISABLED');
    await expect(server.call(issued.key)).rejects.toThrow('the call failed');
    expect((await client.ask(setEnabled, { id: issued.id, enabled: true })).setApiKeyEnabled.status).toBe('ENABLED');
    await server.call(issued.key);
  });
  test('is absent once deleted', async () => {
    const { issueApiKey: issued } = await client.ask(issue, { input: { name: 'gone' } });
    expect(await client.ask('mutation ($id: ID!) { deleteApiKey(id: $id) }', { id: issued.id })).toEqual({
      deleteApiKey: issued.id,
    });
    expect(await client.refusal('query ($id: ID!) { apiKey(id: $id) { id } }', { id: issued.id })).toMatchObject({
      code: 'api-key-not-found',
    });
  });
  test('cannot be changed by another user', async () => {
    const { issueApiKey: issued } = await client.ask(issue, { input: { name: 'mine' } });
    for (const [query, variables] of [
      [edit, { id: issued.id, input: { name: 'yours' } }],
      [setEnabled, { id: issued.id, enabled: false }],
      ['mutation ($id: ID!) { deleteApiKey(id: $id) }', { id: issued.id }],
    ] as const)
      expect(await server.root.refusal(query, variables)).toMatchObject({ code: 'api-key-not-found' });
  });
  test('is refused with a name that is too long, with the limit in the error', async () => {
    expect(await client.refusal(issue, { input: { name: 'x'.repeat(31) } })).toEqual({
      code: 'api-key-name-too-long',
      kind: 'invalid',
      details: { field: 'name', max: 30 },
    });
  });
  test('is refused with more addresses than the limit of the allow list', async () => {
    const allowIps = (count: number) =>
      Array.from({ length: count }, (_, index) => `10.0.${index >> 8}.${index & 255}`);
    const { issueApiKey: issued } = await client.ask(issue, { input: { name: 'many', allowIps: allowIps(1000) } });
    expect(issued.allowIps).toHaveLength(1000);
    for (const [query, variables] of [
      [issue, { input: { name: 'more', allowIps: allowIps(1001) } }],
      [edit, { id: issued.id, input: { name: 'many', allowIps: allowIps(1001) } }],
    ] as const)
      expect(await client.refusal(query, variables)).toEqual({
        code: 'invalid-field',
        kind: 'invalid',
        details: { field: 'allowIps', allowed: 'at most 1000 entries' },
      });
  });
});

describe('the API keys of all users', () => {
  test('are listed for administrators with their owners, never with their texts', async () => {
    const { issueApiKey: issued } = await client.ask(issue, { input: { name: 'overseen' } });
    const { data, text } = await server.root.send(
      '{ allApiKeys(name: "overseen") { total items { id name key owner { id username } } } }',
    );
    expect(data?.allApiKeys).toEqual({
      total: 1,
      items: [{ id: issued.id, name: 'overseen', key: null, owner: { id: String(user.actor.id), username: 'olga' } }],
    });
    expect(text).not.toContain(issued.key.slice(3));
  });
  test('are found by owner, status, group and by the whole key', async () => {
    const other = await server.gateway.addUser(0, 'vera');
    const vera = await server.as(other);
    const { issueApiKey: issued } = await vera.ask(issue, { input: { name: 'found', group: 'vip' } });
    await vera.ask(setEnabled, { id: issued.id, enabled: false });
    const found = { allApiKeys: { items: [{ id: issued.id }] } };
    for (const filter of [`ownerId: ${other.actor.id}`, 'status: DISABLED, group: "vip"', `key: "${issued.key}"`])
      expect(await server.root.ask(`{ allApiKeys(${filter}) { items { id } } }`)).toEqual(found);
    expect(await server.root.ask(`{ allApiKeys(key: "${issued.key.slice(0, 20)}") { items { id } } }`)).toEqual({
      allApiKeys: { items: [] },
    });
  });
});

describe('a leaked API key', () => {
  const revoke = (id: string) => `mutation { revokeApiKey(id: "${id}") { id status key } }`;

  test('is disabled by an administrator; its owner sees the reason without the author, and may enable it', async () => {
    const { issueApiKey: issued } = await client.ask(issue, { input: { name: 'leaked' } });
    const revoked = { revokeApiKey: { id: issued.id, status: 'DISABLED', key: null } };
    expect(await server.root.ask(revoke(issued.id))).toEqual(revoked);
    // A repeat changes nothing, and notifies nobody a second time.
    expect(await server.root.ask(revoke(issued.id))).toEqual(revoked);
    const lines = (by: string) =>
      `{ usageLog(filter: { type: MANAGE }) { edges { node { detail { ... on ApiKeyRevokedDetail { apiKeyId name ${by} } } } } } }`;
    const shown = { apiKeyId: issued.id, name: 'leaked' };
    const { usageLog } = await client.ask(lines(''));
    const edges = usageLog.edges as { node: { detail: object } }[];
    expect(edges.filter(({ node }) => 'apiKeyId' in node.detail)).toEqual([{ node: { detail: shown } }]);
    expect(await client.refusal(lines('by'))).toMatchObject({ kind: 'forbidden' });
    expect((await client.ask(setEnabled, { id: issued.id, enabled: true })).setApiKeyEnabled.status).toBe('ENABLED');
  });
  test('is not disabled by other users, who do not learn whether it exists', async () => {
    const { issueApiKey: issued } = await client.ask(issue, { input: { name: 'safe' } });
    const mallory = await server.as(await server.gateway.addUser(0, 'mallory'));
    expect(await mallory.refusal(revoke(issued.id))).toEqual(await mallory.refusal(revoke('999999')));
    const { apiKey } = await client.ask(`{ apiKey(id: "${issued.id}") { status } }`);
    expect(apiKey.status).toBe('ENABLED');
  });
  test('that does not exist is not found', async () => {
    expect(await server.root.refusal(revoke('999999'))).toMatchObject({ code: 'api-key-not-found' });
  });
});

describe('the available groups and models', () => {
  test('are listed with their price ratios', async () => {
    const { ownGroups, ownModels } = await client.ask('{ ownGroups { name ratio description } ownModels }');
    expect(ownGroups).toEqual([
      { name: 'default', ratio: '1', description: expect.any(String) },
      { name: 'vip', ratio: '1', description: expect.any(String) },
    ]);
    expect(ownModels).toEqual(['gpt-4o', 'gpt-4o-mini', 'text-embedding-3-small']);
  });
  test('are listed for one group only, if it is available', async () => {
    expect(await client.ask('{ ownModels(group: "vip") }')).toEqual({ ownModels: [] });
    expect(await client.refusal('{ ownModels(group: "svip") }')).toMatchObject({
      code: 'invalid-field',
      details: { field: 'group', allowed: 'default, vip' },
    });
  });
  test('are listed completely for administrators', async () => {
    const { groups, enabledModels } = await server.root.ask('{ groups enabledModels }');
    expect(groups).toEqual(['default', 'vip', 'svip']);
    expect(enabledModels).toEqual(['gpt-4o', 'gpt-4o-mini', 'text-embedding-3-small']);
  });
});
