import { checkKeyStays, editedSettings, patched } from '../../domain/channel/channel.js';
import {
  blankChannel,
  channelKeysIn,
  checkedChannelSettings,
  checkProxy,
} from '../../domain/channel/channel-settings.js';
import { type ProviderTable, usual } from '../../domain/channel/provider.js';
import { Failure, invalidField } from '../../domain/kernel/failure.js';
import type { ChannelId } from '../../domain/kernel/ids.js';
import type { Actor } from '../../domain/user/user.js';
import { authorise } from '../authorise.js';
import type { ChannelView, Directory, Vault } from '../ports/storage-ports.js';
import type { UpstreamConnection, UpstreamModel, UpstreamModels } from '../ports/upstream-ports.js';
import { isSameProxy, storedProxy } from './stored-proxy.js';

/* Which models an upstream has, before a channel is made of it or after. Nothing is changed. */

interface UpstreamModelPorts {
  readonly directory: Directory;
  readonly vault: Vault;
  readonly upstreamModels: UpstreamModels;
  readonly providers: ProviderTable;
}

/** As a form has it that is not saved; a missing or undefined member is the stored channel's. */
export interface UpstreamDraft {
  readonly type?: number;
  readonly baseUrl?: string;
  readonly other?: string;
  readonly organization?: string | null;
  /** Of several lines the first is asked with; '' is as good as missing. */
  readonly key?: string;
  readonly proxy?: string;
}

export function upstreamModelCommands({ directory, vault, upstreamModels, providers }: UpstreamModelPorts) {
  const storedKey = async ({ secrets }: ChannelView): Promise<string> => {
    const key = await vault.get(secrets.key);
    if (key === null) throw new Failure('models-not-told', { reason: 'the key of the channel is missing' });
    if (key === '') throw new Failure('channel-key-missing', { field: 'key' });
    return key;
  };

  const connectionOf = async (
    actor: Actor,
    stored: ChannelView | null,
    draft: UpstreamDraft,
  ): Promise<UpstreamConnection> => {
    const { key: typedKey = '', proxy: typedProxy, ...patch } = draft;
    const settings =
      stored === null
        ? checkedChannelSettings(patched(blankChannel, patch), null, providers)
        : editedSettings(stored.settings, patch, providers);
    const { type, baseUrl, other, organization } = settings;
    const kept = stored === null ? '' : await storedProxy({ directory, vault }, stored.id);
    const proxy = typedProxy === undefined || isSameProxy(typedProxy, kept) ? kept : typedProxy;
    if (proxy !== kept) checkProxy(proxy ?? '');
    const connection = { type, baseUrl, other, organization, proxy: proxy || null };
    if (stored === null || typedKey.trim() !== '') {
      const [key = ''] = channelKeysIn(typedKey, providers.get(type) ?? usual);
      return { ...connection, key };
    }
    const mayFollow = actor.role === 'root' && directory.settings().flag('RootKeepsChannelKeys');
    if (!mayFollow) checkKeyStays(stored.settings, settings, proxy !== kept && connection.proxy !== null, providers);
    return { ...connection, key: await storedKey(stored) };
  };

  return {
    /**
     * Models as the upstream lists them: of a channel as it is stored, as it is being edited, or as it is to become. The
     * stored key goes nowhere but where it goes already. Throws what saving the channel would throw, what
     * UpstreamModels throws, and `invalid-field` where neither is given.
     */
    async upstreamModels(
      actor: Actor,
      id: ChannelId | null,
      draft: UpstreamDraft | null,
    ): Promise<readonly UpstreamModel[]> {
      authorise(actor, 'admin');
      if (id === null && draft === null)
        throw invalidField('id', 'the id of a channel; without it, the settings of a new one');
      const stored = id === null ? null : directory.channel(id);
      if (id !== null && stored === null) throw new Failure('channel-not-found');
      return upstreamModels.of(await connectionOf(actor, stored, draft ?? {}));
    },
  };
}
