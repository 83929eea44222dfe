import { type ChannelSecrets, channelDecider } from '../../domain/channel/channel.js';
import {
  type ChannelSettings,
  channelKeyIn,
  channelKeysIn,
  checkedChannelSettings,
  checkProxy,
} from '../../domain/channel/channel-settings.js';
import { type ProviderFacts, type ProviderTable, usual } from '../../domain/channel/provider.js';
import { beginning, type Position, streams } from '../../domain/events/events.js';
import { checkText, searchText } from '../../domain/kernel/bounds.js';
import { ChannelId, type SecretId } from '../../domain/kernel/ids.js';
import type { Actor } from '../../domain/user/user.js';
import { authorise } from '../authorise.js';
import type { Handle } from '../handle.js';
import { inParallel } from '../in-parallel.js';
import type { Directory, Ids, Vault } from '../ports/storage-ports.js';
import { isSameProxy, storedProxy } from './stored-proxy.js';

interface ChannelCommandPorts {
  readonly handle: Handle;
  readonly ids: Ids;
  readonly vault: Vault;
  readonly directory: Directory;
  readonly providers: ProviderTable;
}

/** What an edit may change; a missing or undefined member stays as it is. */
export interface ChannelPatch {
  readonly settings: Partial<ChannelSettings>;
  readonly key?: string;
  /** Proxy address; '' removes it. */
  readonly proxy?: string;
  readonly enabled?: boolean;
}

export const newestOf = (positions: readonly Position[]): Position =>
  positions.reduce((newest, position) => (position > newest ? position : newest), beginning);

export function channelCommands({ handle, ids, vault, directory, providers }: ChannelCommandPorts) {
  const secretsFor = async (key: string, proxy: string): Promise<ChannelSecrets> => ({
    key: await vault.put(key),
    keyHash: vault.hash(key),
    proxy: proxy === '' ? null : await vault.put(proxy),
  });

  const factsOf = (type = 0): Pick<ProviderFacts, 'documentKey' | 'keyForm'> => providers.get(type) ?? usual;

  const setEnabled = async ({ id: by }: Actor, id: ChannelId, enabled: boolean): Promise<Position> => {
    const { position } = await handle(
      channelDecider,
      streams.channel(id),
      enabled
        ? { type: 'EnableChannel', automatic: false, by }
        : { type: 'DisableChannel', automatic: false, reason: '', by },
    );
    return position;
  };

  /** The same order for many channels; the position after which all of it is visible. */
  const each = async (
    channelIds: readonly ChannelId[],
    order: (id: ChannelId) => Promise<Position>,
  ): Promise<Position> => newestOf(await inParallel([...new Set(channelIds)], order));

  const proxySecretOf = (id: ChannelId): SecretId | null => directory.channel(id)?.secrets.proxy ?? null;

  const isProxyOf = async (id: ChannelId, proxy: string): Promise<boolean> =>
    isSameProxy(proxy, await storedProxy({ directory, vault }, id));

  const edit = async (actor: Actor, id: ChannelId, patch: ChannelPatch): Promise<Position> => {
    const newProxy = patch.proxy !== undefined && !(await isProxyOf(id, patch.proxy)) ? patch.proxy : undefined;
    if (newProxy !== undefined) checkProxy(newProxy);
    const secrets: { -readonly [Member in keyof ChannelSecrets]?: ChannelSecrets[Member] } = {};
    if (patch.key !== undefined) {
      const type = patch.settings.type ?? directory.channel(id)?.settings.type;
      const key = channelKeyIn(patch.key, factsOf(type));
      secrets.key = await vault.put(key);
      secrets.keyHash = vault.hash(key);
    }
    if (newProxy !== undefined) secrets.proxy = newProxy === '' ? null : await vault.put(newProxy);
    const { position } = await handle(channelDecider, streams.channel(id), {
      type: 'EditChannel',
      patch: patch.settings,
      secrets,
      providers,
      keyMayFollow: actor.role === 'root' && directory.settings().flag('RootKeepsChannelKeys'),
      by: actor.id,
    });
    if (patch.enabled === undefined) return position;
    const flipped = await setEnabled(actor, id, patch.enabled);
    return flipped > position ? flipped : position;
  };

  const editEach = async (actor: Actor, channelIds: readonly ChannelId[], patch: ChannelPatch): Promise<Position> => {
    // Read together; one by one they are then found in memory.
    if (patch.proxy !== undefined) await vault.getMany(channelIds.flatMap((id) => proxySecretOf(id) ?? []));
    return each(channelIds, (id) => edit(actor, id, patch));
  };

  const remove = async ({ id: by }: Actor, id: ChannelId): Promise<Position> => {
    const { position } = await handle(channelDecider, streams.channel(id), { type: 'RemoveChannel', by });
    return position;
  };

  const tagged = (tag: string): ChannelId[] => {
    checkText('tag', tag, searchText);
    return directory
      .channels()
      .filter(({ settings }) => settings.tag === tag)
      .map(({ id }) => id);
  };

  return {
    /** One channel per line of the key, all else equal. */
    async add(
      actor: Actor,
      input: { settings: ChannelSettings; key: string; proxy: string; enabled: boolean },
    ): Promise<{ ids: ChannelId[]; position: Position }> {
      authorise(actor, 'admin');
      // Before a secret is stored: a refusal leaves nothing behind.
      const settings = checkedChannelSettings(input.settings, null, providers);
      checkProxy(input.proxy);
      const keys = channelKeysIn(input.key, factsOf(settings.type));
      const numbers = await inParallel(keys, () => ids.next('channel'));
      // As the keys are written, so are the channels numbered.
      const added = numbers.sort((a, b) => a - b).map(ChannelId);
      const channels = added.map((id, place) => ({ id, key: keys[place] ?? '' }));
      const positions = await inParallel(channels, async ({ id, key }) => {
        const { position } = await handle(channelDecider, streams.channel(id), {
          type: 'AddChannel',
          settings,
          secrets: await secretsFor(key, input.proxy),
          enabled: input.enabled,
          providers,
          by: actor.id,
        });
        return position;
      });
      return { ids: added, position: newestOf(positions) };
    },

    async edit(actor: Actor, id: ChannelId, patch: ChannelPatch): Promise<Position> {
      authorise(actor, 'admin');
      return edit(actor, id, patch);
    },

    async editMany(actor: Actor, channelIds: readonly ChannelId[], patch: ChannelPatch): Promise<Position> {
      authorise(actor, 'admin');
      return editEach(actor, channelIds, patch);
    },

    async editTag(actor: Actor, tag: string, patch: ChannelPatch): Promise<Position> {
      authorise(actor, 'admin');
      return editEach(actor, tagged(tag), patch);
    },

    async setEnabled(actor: Actor, id: ChannelId, enabled: boolean): Promise<Position> {
      authorise(actor, 'admin');
      return setEnabled(actor, id, enabled);
    },

    async setTagEnabled(actor: Actor, tag: string, enabled: boolean): Promise<Position> {
      authorise(actor, 'admin');
      return each(tagged(tag), (id) => setEnabled(actor, id, enabled));
    },

    /** Removing what is not there is no error. */
    async remove(actor: Actor, channelIds: readonly ChannelId[]): Promise<Position> {
      authorise(actor, 'admin');
      return each(channelIds, (id) => remove(actor, id));
    },

    /** Channels that carry the tag now. */
    tagged,

    /** Removes every channel that is switched off, by hand or automatically. */
    async removeDisabled(actor: Actor): Promise<{ ids: ChannelId[]; removed: number; position: Position }> {
      authorise(actor, 'admin');
      const disabled = directory.channels().filter(({ status }) => status !== 'enabled');
      const channelIds = disabled.map(({ id }) => id);
      const position = await each(channelIds, (id) => remove(actor, id));
      return { ids: channelIds, removed: channelIds.length, position };
    },
  };
}
