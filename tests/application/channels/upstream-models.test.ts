import { beforeEach, describe, expect, test } from 'vitest';
import type { ChannelSettings } from '../../../src/domain/channel/channel-settings.js';
import { ChannelId } from '../../../src/domain/kernel/ids.js';
import { channelSettings } from '../../support/given/channel-settings.js';
import { admin, type MemoryNode, openMemoryNode, ordinary, root } from '../../support/memory/memory-node.js';
import { refusal } from '../../support/refusal.js';

let node: MemoryNode;
beforeEach(async () => {
  node = await openMemoryNode();
});

async function added(changed: Partial<ChannelSettings> = {}, proxy = ''): Promise<ChannelId> {
  const settings = channelSettings({ baseUrl: 'https://up.example', ...changed });
  const { ids } = await node.channels.add(admin, { settings, key: 'sk-stored', proxy, enabled: true });
  await node.caughtUp();
  const [id] = ids;
  if (id === undefined) throw new Error('no channel was added');
  return id;
}

const connection = {
  type: 1,
  baseUrl: 'https://up.example',
  other: '',
  organization: null,
  key: 'sk-stored',
  proxy: null,
};

describe('the upstream models of a channel', () => {
  test('are requested with the stored settings, and nothing is recorded', async () => {
    const id = await added({ organization: 'org-1' }, 'http://user:pass@proxy.example:80');
    const head = await node.store.head();
    expect(await node.channels.upstreamModels(admin, id, null)).toEqual([{ name: 'gpt-5', modes: ['chat'] }]);
    expect(node.upstreamModels.requests).toEqual([
      { ...connection, organization: 'org-1', proxy: 'http://user:pass@proxy.example:80' },
    ]);
    expect(await node.store.head()).toBe(head);
  });

  test('in an editor are requested with the edited settings; a masked proxy means the stored one', async () => {
    const id = await added({}, 'http://user:pass@proxy.example:81');
    const draft = { type: 3, baseUrl: 'https://new.example', key: 'sk-new\nsk-other', other: 'v1' };
    await node.channels.upstreamModels(admin, id, { ...draft, proxy: 'http://proxy.example:81' });
    await node.channels.upstreamModels(admin, id, { ...draft, proxy: '' });
    await node.channels.upstreamModels(admin, id, { baseUrl: 'https://up.example/below', key: '  ' });
    const typed = { ...connection, ...draft, key: 'sk-new' };
    expect(node.upstreamModels.requests).toEqual([
      { ...typed, proxy: 'http://user:pass@proxy.example:81' },
      { ...typed, proxy: null },
      { ...connection, baseUrl: 'https://up.example/below', proxy: 'http://user:pass@proxy.example:81' },
    ]);
  });

  test.each([
    ['baseUrl', { baseUrl: 'https://mine.example' }],
    ['type', { type: 14, baseUrl: '' }],
    ['proxy', { proxy: 'http://mine.example:80' }],
  ])('are not requested with the stored key at an address it is not for: another %s', async (changed, draft) => {
    const id = await added(changed === 'type' ? { baseUrl: '' } : {});
    await expect(node.channels.upstreamModels(admin, id, draft)).rejects.toThrow(
      refusal('channel-key-needed', { field: 'key', changed }),
    );
    expect(node.upstreamModels.requests).toEqual([]);
  });

  test('are requested at another address with the stored key by root, where keys follow', async () => {
    const id = await added();
    await node.options.change(root, 'RootKeepsChannelKeys', 'true');
    await node.caughtUp();
    await node.channels.upstreamModels(root, id, { baseUrl: 'https://new.example' });
    expect(node.upstreamModels.requests).toEqual([{ ...connection, baseUrl: 'https://new.example' }]);
    await expect(node.channels.upstreamModels(admin, id, { baseUrl: 'https://new.example' })).rejects.toThrow(
      refusal('channel-key-needed', { field: 'key', changed: 'baseUrl' }),
    );
  });

  test('that does not exist, or has no settings, are not requested', async () => {
    await expect(node.channels.upstreamModels(admin, ChannelId(99), null)).rejects.toThrow(
      refusal('channel-not-found'),
    );
    await expect(node.channels.upstreamModels(admin, null, null)).rejects.toMatchObject({ code: 'invalid-field' });
    await expect(node.channels.upstreamModels(ordinary, await added(), null)).rejects.toMatchObject({
      code: 'role-too-low',
    });
    expect(node.upstreamModels.requests).toEqual([]);
  });
});

describe('the upstream models of a new channel', () => {
  test('are requested at its type’s default address, with the first of its keys', async () => {
    await node.channels.upstreamModels(admin, null, { type: 1, key: '\n sk-a \nsk-b', proxy: 'socks5://p.example:1' });
    expect(node.upstreamModels.requests).toEqual([
      { ...connection, baseUrl: '', key: 'sk-a', proxy: 'socks5://p.example:1' },
    ]);
  });

  test.each([
    ['type', { key: 'k' }, 'channel-type-unknown'],
    ['baseUrl', { type: 1, key: 'k', baseUrl: 'ftp://x' }, 'invalid-field'],
    ['baseUrl', { type: 1, key: 'k', baseUrl: '{host}/x' }, 'invalid-field'],
    ['proxy', { type: 1, key: 'k', proxy: 'proxy' }, 'invalid-field'],
    ['key', { type: 1, key: ' ' }, 'channel-key-missing'],
  ])('are refused by the name of an invalid %s before any request', async (field, draft, code) => {
    await expect(node.channels.upstreamModels(admin, null, draft)).rejects.toMatchObject({ code, details: { field } });
    expect(node.upstreamModels.requests).toEqual([]);
  });
});
