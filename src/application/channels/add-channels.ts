import { channelDecider } from '../../domain/channel/channel.js';
import {
  type ChannelSettings,
  channelKeysIn,
  checkedChannelSettings,
  checkProxy,
} from '../../domain/channel/channel-settings.js';
import type { ProviderTable } from '../../domain/channel/provider.js';
import { latestOf, type Position, streams } from '../../domain/events/events.js';
import { ChannelId } from '../../domain/kernel/ids.js';
import type { Actor } from '../../domain/user/user.js';
import { authorise } from '../authorise.js';
import type { Handle } from '../handle.js';
import { inParallel } from '../in-parallel.js';
import type { Ids, Vault } from '../ports/storage-ports.js';
import { keyFactsOf, storedSecrets } from './channel-secrets.js';

export interface AddChannelPorts {
  readonly handle: Handle;
  readonly ids: Ids;
  readonly vault: Vault;
  readonly providers: ProviderTable;
}

export interface NewChannels {
  readonly settings: ChannelSettings;
  readonly key: string;
  readonly proxy: string;
  readonly enabled: boolean;
}

/** One channel per line of the key, all else equal. */
export async function addChannels(
  { handle, ids, vault, providers }: AddChannelPorts,
  actor: Actor,
  input: NewChannels,
): Promise<{ ids: ChannelId[]; position: Position }> {
  authorise(actor, 'admin');
  // Before a secret is stored: a refusal leaves nothing behind.
  const settings = checkedChannelSettings(input.settings, null, providers);
  checkProxy(input.proxy);
  const keys = channelKeysIn(input.key, keyFactsOf(providers, settings.type));
  const numbers = await inParallel(keys, () => ids.next('channel'));
  // As the keys are written, so are the channels numbered.
  const added = numbers.sort((a, b) => a - b).map(ChannelId);
  const channels = added.map((id, index) => ({ id, key: keys[index] ?? '' }));
  const positions = await inParallel(channels, async ({ id, key }) => {
    const { position } = await handle.by(actor)(channelDecider, streams.channel(id), {
      type: 'AddChannel',
      settings,
      secrets: await storedSecrets(vault, key, input.proxy),
      enabled: input.enabled,
      providers,
      by: actor.id,
    });
    return position;
  });
  return { ids: added, position: latestOf(positions) };
}
