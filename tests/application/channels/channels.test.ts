import { beforeEach, describe, expect, test } from 'vitest';
import type { ChannelPatch } from '../../../src/application/channels/edit-channels.js';
import type { ChannelSettings } from '../../../src/domain/channel/channel-settings.js';
import { beginning, streams } from '../../../src/domain/events/events.js';
import type { FailureCode } from '../../../src/domain/kernel/failure.js';
import { ChannelId } from '../../../src/domain/kernel/ids.js';
import { channelSettings } from '../../support/given/channel-settings.js';
import { eventId } from '../../support/given/events.js';
import { notServed, regional } from '../../support/given/providers.js';
import { admin, type MemoryNode, openMemoryNode, ordinary, passingProbe } from '../../support/memory/memory-node.js';
import { refusal } from '../../support/refusal.js';

let node: MemoryNode;

beforeEach(async () => {
  node = await openMemoryNode();
});

interface Adding {
  readonly key?: string;
  readonly proxy?: string;
  readonly enabled?: boolean;
}

const add = (changed: Partial<ChannelSettings> = {}, { key = 'sk-up', proxy = '', enabled = true }: Adding = {}) =>
  node.channels.add(admin, { settings: channelSettings(changed), key, proxy, enabled });

async function added(changed: Partial<ChannelSettings> = {}, adding: Adding = {}): Promise<ChannelId> {
  const { ids } = await add(changed, adding);
  await node.caughtUp();
  const [id] = ids;
  if (id === undefined) throw new Error('no channel was added');
  return id;
}

const channel = async (id: ChannelId) => {
  await node.caughtUp();
  return node.directory.channel(id);
};

const keyOf = async (id: ChannelId): Promise<string | null> => {
  const found = await channel(id);
  return found === null ? null : node.vault.get(found.secrets.key);
};

describe('adding a channel', () => {
  test('keeps key and proxy in the vault and the rest in the log', async () => {
    const id = await added({}, { key: ' sk-up ', proxy: 'http://user:pw@proxy.example:8080' });
    const found = await channel(id);
    expect(found).toMatchObject({ id, status: 'enabled', settings: channelSettings() });
    expect(await keyOf(id)).toBe('sk-up');
    expect(found?.secrets.keyHash).toBe(node.vault.hash('sk-up'));
    expect(found?.secrets.proxy && (await node.vault.get(found.secrets.proxy))).toBe(
      'http://user:pw@proxy.example:8080',
    );
  });

  test('makes one channel per line of the key, otherwise equal', async () => {
    const { ids, position } = await add({}, { key: 'sk-1\n\n  sk-2  \nsk-3\n' });
    expect(ids).toHaveLength(3);
    expect(position).toBe(await node.store.head());
    expect(await Promise.all(ids.map(keyOf))).toStrictEqual(['sk-1', 'sk-2', 'sk-3']);
    for (const id of ids) expect((await channel(id))?.settings).toStrictEqual(channelSettings());
  });

  test('accepts a key that is a document as one key, however many lines it has', async () => {
    const id = await added({ type: regional.type, other: 'us-central1' }, { key: '{\n "private_key": "x"\n}\n' });
    expect(await keyOf(id)).toBe('{\n "private_key": "x"\n}');
  });

  test.each(['a|b', 'a||c', 'a|b|c|d', 'a|b|c\nd|e'])(
    'is refused for the malformed key %j of a provider, and the error describes the right form',
    async (key) => {
      const refused = refusal('invalid-field', { field: 'key', allowed: expect.stringContaining('APPID|APISecret') });
      await expect(add({ type: 18 }, { key })).rejects.toThrow(refused);
      expect(await node.store.everything()).toStrictEqual([]);
    },
  );

  test.each(['app|secret|key', 'password', 'key:secret'])('accepts %j as a key of that provider', async (key) =>
    expect(await keyOf(await added({ type: 18 }, { key }))).toBe(key),
  );

  test('may leave it disabled', async () =>
    expect(await channel(await added({}, { enabled: false }))).toMatchObject({ status: 'disabled' }));

  test.each<[string, Partial<ChannelSettings>, FailureCode, Record<string, string>]>([
    ['a type with regions, without one', { type: regional.type }, 'region-missing', {}],
    [
      'a type with regions, without a default',
      { type: regional.type, other: '{"m":"us"}' },
      'region-default-missing',
      {},
    ],
    [
      'a type with regions, with invalid JSON',
      { type: regional.type, other: '{"m"' },
      'invalid-field',
      { field: 'other' },
    ],
    ['an unknown type', { type: 4711 }, 'channel-type-unknown', { field: 'type' }],
    ['a type that is not served', { type: notServed.type }, 'channel-type-not-served', { name: 'Someday' }],
    ['an invalid base address', { baseUrl: 'api.example' }, 'invalid-field', { field: 'baseUrl' }],
    ['a base address of another scheme', { baseUrl: 'ftp://api.example' }, 'invalid-field', { field: 'baseUrl' }],
    ['a base address with a password', { baseUrl: 'https://u:p@api.example' }, 'invalid-field', { field: 'baseUrl' }],
    ['a negative weight', { weight: -1 }, 'invalid-field', { field: 'weight' }],
    ['a weight that is not an integer', { weight: 1.5 }, 'invalid-field', { field: 'weight' }],
    ['a priority that is not an integer', { priority: Number.NaN }, 'invalid-field', { field: 'priority' }],
    ['a mapping that is not JSON', { modelMapping: '{' }, 'invalid-field', { field: 'modelMapping' }],
    ['a mapping that is a list', { statusCodeMapping: '[]' }, 'invalid-field', { field: 'statusCodeMapping' }],
    ['an override that is null', { paramOverride: 'null' }, 'invalid-field', { field: 'paramOverride' }],
    ['a setting that is a text', { setting: '"x"' }, 'invalid-field', { field: 'setting' }],
    ['a proxy among the settings', { setting: '{"proxy":"http://u:p@x"}' }, 'invalid-field', { field: 'setting' }],
    ['a model name that is too long', { models: ['m'.repeat(256)] }, 'model-name-too-long', {}],
  ])('is refused for %s', async (_, changed, code, details) => {
    await expect(add(changed)).rejects.toThrow(refusal(code, details));
    expect(await node.store.everything()).toStrictEqual([]);
  });

  test.each<[string, Partial<ChannelSettings>]>([
    ['a type with regions, and one', { type: regional.type, other: 'us-central1' }],
    ['a type with regions, and a default', { type: regional.type, other: '{"default":"us","m":"eu"}' }],
    ['a base address', { baseUrl: 'https://api.example/v1' }],
    ['a negative priority', { priority: -999 }],
    [
      'JSON where it is expected',
      {
        modelMapping: '{"a":"b"}',
        statusCodeMapping: '{"400":"500"}',
        paramOverride: '{"temperature":0}',
        setting: '{"force_format":true}',
      },
    ],
    ['empty texts', { modelMapping: '', statusCodeMapping: '', paramOverride: '', setting: '' }],
  ])('accepts %s', async (_, changed) =>
    expect((await channel(await added(changed)))?.settings).toStrictEqual(channelSettings(changed)),
  );

  test('is refused without a key', async () => {
    for (const key of ['', ' \n ']) await expect(add({}, { key })).rejects.toThrow(refusal('channel-key-missing'));
  });

  test.each(['proxy.example', 'ftp://proxy.example', 'x'])('is refused for the proxy "%s"', async (proxy) => {
    await expect(add({}, { proxy })).rejects.toThrow(refusal('invalid-field', { field: 'proxy' }));
  });
  test.each(['http://p.example', 'https://p.example', 'socks5://p.example:1080', 'socks5h://p.example'])(
    'accepts the proxy %s',
    async (proxy) => expect((await channel(await added({}, { proxy })))?.secrets.proxy).not.toBeNull(),
  );
});

describe('editing a channel', () => {
  const edit = async (id: ChannelId, patch: Partial<ChannelPatch>) => {
    await node.channels.edit(admin, id, { settings: {}, ...patch });
    return channel(id);
  };

  test('changes the given members and keeps the rest', async () => {
    const id = await added({ weight: 5 });
    expect((await edit(id, { settings: { name: 'west', tag: 'a' } }))?.settings).toStrictEqual(
      channelSettings({ weight: 5, name: 'west', tag: 'a' }),
    );
  });

  test('treats undefined as absent', async () => {
    const id = await added({ weight: 5 });
    const found = await edit(id, { settings: { name: undefined, weight: 6 } as Partial<ChannelSettings> });
    expect(found?.settings).toStrictEqual(channelSettings({ weight: 6 }));
  });

  test('replaces the key', async () => {
    const id = await added();
    expect((await edit(id, { key: ' sk-new ' }))?.secrets.keyHash).toBe(node.vault.hash('sk-new'));
    expect(await keyOf(id)).toBe('sk-new');
  });

  test('refuses a blank key: a channel without one can serve no call', async () => {
    const id = await added();
    await expect(edit(id, { key: ' ' })).rejects.toThrow(refusal('channel-key-missing'));
    expect(await keyOf(id)).toBe('sk-up');
  });

  test('sets the proxy, keeps it, removes it', async () => {
    const id = await added();
    expect((await edit(id, { proxy: 'http://p.example', key: 'sk-up' }))?.secrets.proxy).not.toBeNull();
    expect((await edit(id, { settings: { name: 'west' } }))?.secrets.proxy).not.toBeNull();
    expect((await edit(id, { proxy: '' }))?.secrets.proxy).toBeNull();
  });

  test('can also enable or disable it, and resolves when all changes are visible', async () => {
    const id = await added();
    const position = await node.channels.edit(admin, id, { settings: { name: 'west' }, enabled: false });
    expect(position).toBe(await node.store.head());
    expect(await channel(id)).toMatchObject({ status: 'disabled', settings: { name: 'west' } });
    expect(await edit(id, { enabled: true })).toMatchObject({ status: 'enabled' });
  });

  test('that changes nothing records nothing', async () => {
    const id = await added();
    const before = await node.store.head();
    expect(await node.channels.edit(admin, id, { settings: { name: 'east' }, enabled: true })).toBe(before);
    expect(await node.store.head()).toBe(before);
  });

  test('is checked as a whole', async () => {
    const id = await added();
    await expect(edit(id, { settings: { type: regional.type } })).rejects.toThrow(refusal('region-missing'));
    await expect(edit(id, { settings: { weight: -1 } })).rejects.toThrow(refusal('invalid-field', { field: 'weight' }));
    await expect(edit(id, { proxy: 'x' })).rejects.toThrow(refusal('invalid-field', { field: 'proxy' }));
    const other = await added({ type: 18 }, { key: 'app|secret|key' });
    await expect(edit(other, { key: 'app|secret' })).rejects.toThrow(refusal('invalid-field', { field: 'key' }));
    await expect(edit(id, { settings: { type: 18 }, key: 'app|secret' })).rejects.toThrow(
      refusal('invalid-field', { field: 'key' }),
    );
  });

  test('of many, or of all with a tag, has the same effect on each', async () => {
    const [a, b, c] = [await added({ tag: 'eu' }), await added({ tag: 'eu' }), await added()];
    await node.channels.editMany(admin, [a, c], { settings: { weight: 7 } });
    const position = await node.channels.editTag(admin, 'eu', { settings: { priority: 3 } });
    expect(position).toBe(await node.store.head());
    const found = await Promise.all([a, b, c].map(channel));
    expect(found.map((one) => [one?.settings.weight, one?.settings.priority])).toStrictEqual([
      [7, 3],
      [0, 3],
      [7, 0],
    ]);
    expect(await node.channels.editTag(admin, 'nowhere', { settings: { priority: 3 } })).toBe(beginning);
  });

  test('that does not exist is refused', async () => {
    await expect(edit(ChannelId(99), { settings: { name: 'x' } })).rejects.toThrow(refusal('channel-not-found'));
  });
});

describe('enabling or disabling channels', () => {
  test('applies to one, or to all with a tag', async () => {
    const [a, b, c] = [await added({ tag: 'eu' }), await added({ tag: 'eu' }), await added()];
    await node.channels.setTagEnabled(admin, 'eu', false);
    await node.channels.setEnabled(admin, c, false);
    await node.channels.setEnabled(admin, b, true);
    expect((await Promise.all([a, b, c].map(channel))).map((one) => one?.status)).toStrictEqual([
      'disabled',
      'enabled',
      'disabled',
    ]);
  });
});

describe('removing channels', () => {
  test('that do not exist is not an error', async () => {
    const id = await added();
    await node.channels.remove(admin, [id, ChannelId(99), id]);
    expect(await channel(id)).toBeNull();
  });

  test('that are disabled, by hand or automatically, leaves enabled ones', async () => {
    const [on, off, broken] = [await added(), await added({}, { enabled: false }), await added()];
    await node.store.append(
      streams.channel(broken),
      [{ id: eventId(1), at: node.clock.now(), event: { type: 'ChannelDisabled', automatic: true, reason: '401' } }],
      'any',
    );
    await node.caughtUp();
    expect((await node.channels.removeDisabled(admin)).removed).toBe(2);
    expect(await channel(on)).not.toBeNull();
    expect(await channel(off)).toBeNull();
    expect(await channel(broken)).toBeNull();
  });
});

describe('testing a channel', () => {
  test('sends a request with the given model and records the result', async () => {
    const id = await added();
    expect(await node.channels.test(admin, id, 'o1')).toStrictEqual({
      ok: true,
      message: '',
      seconds: 0.84,
      position: await node.store.head(),
    });
    expect(node.probe.requests).toStrictEqual([[id, 'o1']]);
    expect((await node.eventsOf(streams.channel(id))).at(-1)).toStrictEqual({
      type: 'ChannelTested',
      ok: true,
      responseTimeMs: 840,
      error: null,
      usage: null,
    });
  });

  test('reports and records a failure; it is an answer, not an error', async () => {
    const id = await added();
    node.probe.result = { ...passingProbe, ok: false, message: 'status code 401' };
    expect(await node.channels.test(admin, id, '')).toMatchObject({ ok: false, message: 'status code 401' });
    expect((await node.eventsOf(streams.channel(id))).at(-1)).toMatchObject({ ok: false, error: 'status code 401' });
  });

  test('that does not exist is refused, and sends nothing', async () => {
    await expect(node.channels.test(admin, ChannelId(99), '')).rejects.toThrow(refusal('channel-not-found'));
    expect(node.probe.requests).toStrictEqual([]);
  });
});

test('all commands on channels are for admins', async () => {
  const id = await added({ tag: 'eu' });
  const before = await node.store.head();
  const { channels } = node;
  const patch = { settings: { name: 'x' } };
  const orders = [
    () => channels.add(ordinary, { settings: channelSettings(), key: 'k', proxy: '', enabled: true }),
    () => channels.edit(ordinary, id, patch),
    () => channels.editMany(ordinary, [id], patch),
    () => channels.editTag(ordinary, 'eu', patch),
    () => channels.setEnabled(ordinary, id, false),
    () => channels.setTagEnabled(ordinary, 'eu', false),
    () => channels.remove(ordinary, [id]),
    () => channels.removeDisabled(ordinary),
    () => channels.test(ordinary, id, ''),
    async () => channels.testAll(ordinary),
    async () => channels.testRun(ordinary),
    () => channels.updateBalance(ordinary, id),
    async () => channels.updateBalances(ordinary),
  ];
  for (const order of orders) await expect(order()).rejects.toThrow(refusal('role-too-low', { needed: 'admin' }));
  expect(await node.store.head()).toBe(before);
  expect(node.probe.requests).toStrictEqual([]);
});
