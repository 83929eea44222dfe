import { beforeEach, describe, expect, test } from 'vitest';
import { beginning } from '../../../src/domain/events/events.js';
import type { ChannelId } from '../../../src/domain/kernel/ids.js';
import { channelSettings } from '../../support/given/channel-settings.js';
import { admin, type MemoryNode, openMemoryNode, ordinary } from '../../support/memory/memory-node.js';
import { refusal } from '../../support/refusal.js';

let node: MemoryNode;
beforeEach(async () => {
  node = await openMemoryNode();
  for (const name of ['east', 'west'])
    await node.channels.add(admin, {
      settings: channelSettings({ name }),
      key: `sk-${name}`,
      proxy: 'http://user:secret@proxy.example:80',
      enabled: true,
    });
  await node.caughtUp();
});

const namesIn = (file: string) => JSON.parse(file).channels.map(({ name }: { name: string }) => name);

async function imported(file: string): Promise<readonly ChannelId[]> {
  const { ids, faults } = await node.channels.importChannels(admin, file);
  expect(faults).toEqual([]);
  await node.caughtUp();
  return ids;
}

describe('exporting channels to a file', () => {
  test('includes all of them, or the chosen ones that exist, without keys and proxies', () => {
    const file = node.channels.exportChannels(admin, null);
    expect(namesIn(file)).toEqual(['east', 'west']);
    expect(file).not.toMatch(/sk-|secret|proxy/);
    const [, west] = node.directory.channels();
    expect(namesIn(node.channels.exportChannels(admin, [west?.id as ChannelId, 99 as ChannelId]))).toEqual(['west']);
  });

  test('and importing them creates disabled channels that cannot be enabled before they have a key', async () => {
    const file = node.channels.exportChannels(admin, null);
    const ids = await imported(file);
    expect(ids).toHaveLength(2);
    const [id] = ids as readonly [ChannelId];
    expect(node.directory.channel(id)).toMatchObject({ status: 'disabled', settings: { name: 'east' } });
    const noKey = refusal('channel-key-missing', { field: 'key' });
    await expect(node.channels.setEnabled(admin, id, true)).rejects.toThrow(noKey);
    await expect(node.channels.edit(admin, id, { settings: {}, enabled: true })).rejects.toThrow(noKey);
    await expect(node.channels.upstreamModels(admin, id, null)).rejects.toThrow(noKey);
    // There is no key that could go to another address.
    await node.channels.edit(admin, id, { settings: { baseUrl: 'https://other.example' } });
    await node.channels.edit(admin, id, { settings: {}, key: 'sk-new', enabled: true });
    await node.caughtUp();
    expect(node.directory.channel(id)?.status).toBe('enabled');
    expect(node.channels.exportChannels(admin, null)).toContain('https://other.example');
  });

  test('and importing them adds all or none', async () => {
    const file = JSON.parse(node.channels.exportChannels(admin, null));
    file.channels[1].weight = -1;
    const before = await node.store.head();
    const result = await node.channels.importChannels(admin, JSON.stringify(file));
    expect(result).toMatchObject({ ids: [], faults: [{ row: 2, field: 'weight' }], position: beginning });
    expect(await node.store.head()).toBe(before);
  });

  test('is for administrators', async () => {
    expect(() => node.channels.exportChannels(ordinary, null)).toThrow('role-too-low');
    await expect(node.channels.importChannels(ordinary, '{}')).rejects.toMatchObject({ code: 'role-too-low' });
  });
});
