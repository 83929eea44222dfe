import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Data, type GraphqlClient, type GraphqlServer, startGraphql } from './graphql-server.js';

let server: GraphqlServer;
let admin: GraphqlClient;

beforeAll(async () => {
  server = await startGraphql();
  admin = await server.as(await server.addAdmin('adam'));
});
afterAll(() => server?.stop());

const fields = `id name type status statusReason statusTime baseUrl models groups priority weight tag modelMapping
  statusCodeMapping paramOverride setting other organization testModel autoBan maxInputTokens responseTimeMs testedAt
  usedQuota proxy`;
const add = `mutation ($input: NewChannelInput!) { addChannels(input: $input) { ${fields} } }`;
const edit = `mutation ($id: ID!, $patch: ChannelPatchInput!) { editChannel(id: $id, patch: $patch) { ${fields} } }`;

const minimal = { type: 1, key: 'sk-upstream', models: ['gpt-4o'] };
const added = async (input: Data): Promise<Data> => {
  const { addChannels } = await admin.ask(add, { input: { ...minimal, ...input } });
  return addChannels[0];
};

describe('adding channels', () => {
  test('accepts all settings, and returns them without the secrets', async () => {
    const input = {
      name: 'east',
      type: 1,
      key: 'sk-planted-upstream',
      models: ['gpt-4o', 'gpt-4o-mini'],
      groups: ['default', 'vip'],
      baseUrl: 'https://east.example',
      priority: -5,
      weight: 3,
      tag: 'blue',
      modelMapping: '{"gpt-4o":"gpt-4o-2024-08-06"}',
      statusCodeMapping: '{"400":"500"}',
      paramOverride: '{"temperature":0}',
      setting: '{"force_format":true}',
      proxy: 'http://someone:planted-proxy@proxy.example:3128',
      other: 'x',
      organization: 'org-1',
      testModel: 'gpt-4o-mini',
      autoBan: false,
      maxInputTokens: 128_000,
      enabled: false,
    };
    const { text, data } = await admin.send(add, { input });
    const { key: _key, proxy: _proxy, enabled: _enabled, ...settings } = input;
    expect(data?.addChannels).toEqual([
      {
        ...settings,
        id: expect.any(String),
        status: 'DISABLED',
        statusReason: '',
        statusTime: null,
        responseTimeMs: 0,
        testedAt: null,
        usedQuota: 0,
        proxy: 'http://proxy.example:3128',
      },
    ]);
    expect(text).not.toContain('planted');
  });
  test('makes one per line of the key', async () => {
    const input = { ...minimal, name: 'lines', key: 'sk-one\n\nsk-two' };
    const { addChannels } = await admin.ask(add, { input });
    expect(addChannels.map(({ name }: Data) => name)).toEqual(['lines', 'lines']);
  });
  test('refuses an unknown provider, and invalid settings', async () => {
    const refused = async (input: Data) => admin.refusal(add, { input: { ...minimal, name: 'wrong', ...input } });
    expect(await refused({ type: 4711 })).toEqual({
      code: 'channel-type-unknown',
      kind: 'invalid',
      details: { field: 'type', type: 4711 },
    });
    expect(await refused({ key: ' ' })).toMatchObject({ code: 'channel-key-missing' });
    expect(await refused({ modelMapping: 'no JSON' })).toMatchObject({ details: { field: 'modelMapping' } });
    expect(await refused({ setting: '{"proxy":"http://a:b@c"}' })).toMatchObject({ details: { field: 'setting' } });
  });
});

describe('editing a channel', () => {
  test('changes given fields, clears null fields, keeps the rest', async () => {
    const { id } = await added({ name: 'edited', tag: 'blue', weight: 2, organization: 'org-1' });
    expect((await admin.ask(edit, { id, patch: { weight: 0, tag: null, name: null } })).editChannel).toMatchObject({
      name: 'edited',
      weight: 0,
      tag: null,
      organization: 'org-1',
    });
  });
  test('sets and clears a proxy', async () => {
    const { id } = await added({ name: 'proxied' });
    const patched = async (patch: Data) => (await admin.ask(edit, { id, patch })).editChannel.proxy;
    expect(await patched({ proxy: 'socks5://u:p@proxy.example:1080', key: 'sk-again' })).toBe(
      'socks5://proxy.example:1080',
    );
    expect(await patched({ weight: 1 })).toBe('socks5://proxy.example:1080');
    expect(await patched({ proxy: null })).toBe('');
  });
  test('applies to many at once, by id and by tag', async () => {
    const ids = [await added({ name: 'many', tag: 'red' }), await added({ name: 'many', tag: 'red' })].map(
      ({ id }) => id,
    );
    const many =
      'mutation ($ids: [ID!]!, $patch: ChannelPatchInput!) { editChannels(ids: $ids, patch: $patch) { id tag } }';
    expect(await admin.ask(many, { ids, patch: { tag: 'green' } })).toEqual({
      editChannels: ids.map((id) => ({ id, tag: 'green' })),
    });
    const tagged = 'mutation { editTag(tag: "green", patch: { tag: "teal", priority: 7 }) { id tag priority } }';
    expect((await admin.ask(tagged)).editTag).toEqual(ids.map((id) => ({ id, tag: 'teal', priority: 7 })));
    const switched = 'mutation { setTagEnabled(tag: "teal", enabled: false) { id status } }';
    expect((await admin.ask(switched)).setTagEnabled).toEqual(ids.map((id) => ({ id, status: 'DISABLED' })));
  });
  test('of more than 100 at once is refused', async () => {
    const ids = Array.from({ length: 101 }, (_, index) => String(index + 1));
    const many = 'mutation ($ids: [ID!]!) { editChannels(ids: $ids, patch: {}) { id } }';
    expect(await admin.refusal(many, { ids })).toMatchObject({ code: 'invalid-field', details: { field: 'ids' } });
  });
});

describe('the list of channels', () => {
  test('is filtered, sorted and counted', async () => {
    const low = await added({ name: 'listed', priority: 1, models: ['listed-model'], groups: ['svip'] });
    const high = await added({ name: 'listed', priority: 9, models: ['listed-model'], groups: ['svip'] });
    await admin.ask(edit, { id: low.id, patch: { enabled: false } });
    const list = async (args: string) => (await admin.ask(`{ channels(${args}) { total items { id } } }`)).channels;
    expect(await list('filter: { keyword: "listed" }')).toEqual({ total: 2, items: [{ id: high.id }, { id: low.id }] });
    expect(await list('size: 1, page: 2, filter: { model: "listed-model" }')).toEqual({
      total: 2,
      items: [{ id: low.id }],
    });
    expect((await list('sort: ID, filter: { group: "svip" }')).items).toEqual([{ id: high.id }, { id: low.id }]);
    expect((await list('filter: { keyword: "listed", status: DISABLED }')).items).toEqual([{ id: low.id }]);
    expect((await list('filter: { keyword: "sk-upstream", model: "listed" }')).total, 'by the whole key').toBe(2);
  });
  test('is grouped by tag, with the average response time of tested channels', async () => {
    await added({ name: 'tagged', tag: 'violet', baseUrl: server.gateway.provider.url });
    const { id } = await added({ name: 'tagged', tag: 'violet', baseUrl: server.gateway.provider.url });
    await admin.ask('mutation ($id: ID!) { testChannel(id: $id) { ok } }', { id });
    const { channelsByTag } = await admin.ask(
      '{ channelsByTag(filter: { tag: "violet" }) { total items { tag averageResponseTimeMs channels { id responseTimeMs } } } }',
    );
    const [group] = channelsByTag.items;
    const tested = group.channels.find((channel: Data) => channel.id === id);
    expect(channelsByTag.total).toBe(1);
    expect(group).toMatchObject({ tag: 'violet', averageResponseTimeMs: tested.responseTimeMs });
    expect(group.channels).toHaveLength(2);
  });
  test('names the provider of each', async () => {
    const { id } = await added({ name: 'named' });
    const { channel } = await admin.ask('query ($id: ID!) { channel(id: $id) { provider { type name } } }', { id });
    expect(channel.provider).toEqual({ type: 1, name: 'OpenAI' });
  });
});

describe('the channel types', () => {
  test('list the options for the console', async () => {
    const { channelTypes } = await admin.ask(
      `{ channelTypes {
        type name defaultBaseUrl defaultModels colour keyHint documentKey otherHint otherIsRegion otherUsual
        billsOrganization testable balance listsModels deprecated modes served
      } }`,
    );
    const types = channelTypes.map(({ type }: Data) => type);
    expect(new Set(types).size).toBe(types.length);
    expect(channelTypes.find(({ type }: Data) => type === 1)).toMatchObject({
      name: 'OpenAI',
      defaultModels: expect.arrayContaining(['gpt-4o']),
      documentKey: false,
      otherHint: null,
      otherIsRegion: false,
      otherUsual: '',
      billsOrganization: true,
      balance: true,
      deprecated: false,
      modes: [
        ...['CHAT', 'COMPLETIONS', 'RESPONSES', 'EMBEDDINGS', 'SPEECH', 'TRANSCRIPTION', 'TRANSLATION'],
        ...['IMAGE_GENERATION', 'IMAGE_EDIT', 'MODERATION', 'REALTIME', 'TASK'],
      ],
      served: true,
    });
  });
  test('list every type as served', async () => {
    const { channelTypes } = await admin.ask('{ channelTypes { type served otherUsual otherIsRegion documentKey } }');
    const byType = new Map(channelTypes.map((type: Data) => [type.type, type]));
    expect(byType.get(18)).toMatchObject({ served: true, otherUsual: 'v2.1' });
    expect(channelTypes.filter(({ served }: Data) => served !== true)).toEqual([]);
    expect(byType.get(41)).toMatchObject({ served: true, otherIsRegion: true, documentKey: true });
  });
});

describe('testing a channel', () => {
  const run =
    'mutation ($id: ID!, $model: String! = "") { testChannel(id: $id, model: $model) { ok message seconds channel { testedAt responseTimeMs } } }';

  test('returns the result, and the channel has it', async () => {
    const { id } = await added({ name: 'fine', baseUrl: server.gateway.provider.url });
    expect((await admin.ask(run, { id })).testChannel).toEqual({
      ok: true,
      message: '',
      seconds: expect.any(Number),
      channel: { testedAt: expect.any(Number), responseTimeMs: expect.any(Number) },
    });
  });
  test('that fails is an answer, not an error', async () => {
    const { id } = await added({ name: 'dead', baseUrl: 'http://127.0.0.1:9' });
    const { testChannel } = await admin.ask(run, { id });
    expect(testChannel).toMatchObject({ ok: false, message: expect.stringMatching(/./) });
    expect(testChannel.message).not.toContain('sk-upstream');
  });
});

describe('enabling, disabling and deleting channels', () => {
  test('switches one channel by hand', async () => {
    const { id } = await added({ name: 'switched' });
    const switched = async (enabled: boolean) =>
      (
        await admin.ask('mutation ($id: ID!, $on: Boolean!) { setChannelEnabled(id: $id, enabled: $on) { status } }', {
          id,
          on: enabled,
        })
      ).setChannelEnabled.status;
    expect(await switched(false)).toBe('DISABLED');
    expect(await switched(true)).toBe('ENABLED');
  });
  test('deletes several; missing ones are not an error', async () => {
    const { id } = await added({ name: 'deleted' });
    const remove = 'mutation ($ids: [ID!]!) { deleteChannels(ids: $ids) }';
    expect(await admin.ask(remove, { ids: [id, '999999'] })).toEqual({ deleteChannels: [id, '999999'] });
    expect(await admin.refusal('query ($id: ID!) { channel(id: $id) { id } }', { id })).toMatchObject({
      code: 'channel-not-found',
    });
  });
  test('deletes every disabled channel with one command', async () => {
    const { id } = await added({ name: 'off', enabled: false });
    const { deleteDisabledChannels } = await admin.ask('mutation { deleteDisabledChannels }');
    expect(deleteDisabledChannels).toContain(id);
    expect((await admin.ask('{ channels(filter: { status: DISABLED }) { total } }')).channels.total).toBe(0);
  });
});

describe('the history of a channel', () => {
  const history = `query ($id: ID, $part: ChannelHistoryPart, $before: SafeInt, $first: Int) {
    channelHistory(channelId: $id, part: $part, before: $before, first: $first) {
      items { name fields { field from to } change { position kind automatic ok by { username } channel { name } } }
      hasMore
    }
  }`;
  const shown = async (variables: Data): Promise<Data> => (await admin.ask(history, variables)).channelHistory;

  test('lists users and changes, in pages', async () => {
    const { id } = await added({ name: 'storied' });
    await admin.ask(edit, { id, patch: { name: 'renamed', key: 'sk-planted-other' } });
    await server.root.ask(`mutation { setChannelEnabled(id: ${id}, enabled: false) { id } }`);
    await admin.ask(`mutation { deleteChannels(ids: [${id}]) }`);
    const { items, hasMore } = await shown({ id, first: 3 });
    const adam = { username: 'adam' };
    const gone = { position: expect.any(Number), automatic: null, ok: null, channel: null };
    expect(hasMore).toBe(true);
    expect(items).toEqual([
      { name: 'renamed', fields: [], change: { ...gone, kind: 'REMOVED', by: adam } },
      {
        name: 'renamed',
        fields: [],
        change: { ...gone, kind: 'DISABLED', automatic: false, by: { username: expect.not.stringMatching('adam') } },
      },
      {
        name: 'renamed',
        fields: [
          { field: 'name', from: 'storied', to: 'renamed' },
          { field: 'key', from: null, to: null },
        ],
        change: { ...gone, kind: 'EDITED', by: adam },
      },
    ]);
    const rest = await shown({ id, before: items[2].change.position });
    expect(rest).toMatchObject({ items: [{ name: 'storied', change: { kind: 'ADDED', by: adam } }], hasMore: false });
    expect((await shown({ id, part: 'SWITCHED' })).items).toHaveLength(1);
  });

  test('lists the newest of all channels first', async () => {
    const { id } = await added({ name: 'newest' });
    expect((await shown({ first: 1 })).items).toMatchObject([{ name: 'newest', change: { kind: 'ADDED' } }]);
    expect((await shown({ id: String(Number(id) + 1_000) })).items).toEqual([]);
  });

  test('has pages of bounded size', async () => {
    expect(await admin.refusal(history, { first: 101 })).toMatchObject({ details: { field: 'first' } });
    expect(await admin.refusal(history, { first: 0 })).toMatchObject({ details: { field: 'first' } });
  });
});
