import { type ChannelSecrets, channelDecider } from '../../domain/channel/channel.js';
import { channelFileOf, channelsInFile, type FileFault } from '../../domain/channel/channel-file.js';
import type { ProviderTable } from '../../domain/channel/provider.js';
import { latestOf, type Position, streams } from '../../domain/events/events.js';
import { ChannelId } from '../../domain/kernel/ids.js';
import type { Actor } from '../../domain/user/user.js';
import { authorise } from '../authorise.js';
import type { Handle } from '../handle.js';
import { inParallel } from '../in-parallel.js';
import type { Directory, Ids, Vault } from '../ports/storage-ports.js';

/* Channels to a file and back. No key is in it, and none can be got out of the vault by way of one. */

interface ChannelFilePorts {
  readonly handle: Handle;
  readonly ids: Ids;
  readonly vault: Vault;
  readonly directory: Directory;
  readonly providers: ProviderTable;
}

interface ChannelsImported {
  readonly ids: readonly ChannelId[];
  /** What is wrong with channels of it; then there are no ids. */
  readonly faults: readonly FileFault[];
  readonly position: Position;
}

export function channelFileCommands({ handle, ids, vault, directory, providers }: ChannelFilePorts) {
  /** A hash of nothing says that the key is to come. */
  const withoutKey = async (): Promise<ChannelSecrets> => ({ key: await vault.put(''), keyHash: '', proxy: null });

  return {
    /** As JSON, without keys and proxies: those that are there of the ids, or all. Throws `invalid-field`. */
    exportChannels(actor: Actor, wanted: readonly ChannelId[] | null): string {
      authorise(actor, 'admin');
      const chosen = wanted === null ? null : new Set(wanted);
      const channels = directory.channels().filter(({ id }) => chosen?.has(id) ?? true);
      return channelFileOf([...channels].sort((a, b) => a.id - b.id).map(({ settings }) => settings));
    },

    /**
     * All channels of the file or, where anything is wrong with one, none. They are switched off and have no key yet.
     * Throws `invalid-field` for what is no such file.
     */
    async importChannels(actor: Actor, file: string): Promise<ChannelsImported> {
      authorise(actor, 'admin');
      const { channels, faults } = channelsInFile(file, providers);
      const numbers = await inParallel(channels, () => ids.next('channel'));
      const added = numbers.sort((a, b) => a - b).map(ChannelId);
      const positions = await inParallel([...channels.entries()], async ([index, settings]) => {
        const id = added[index] ?? ChannelId(0);
        const { position } = await handle.by(actor)(channelDecider, streams.channel(id), {
          type: 'AddChannel',
          settings,
          secrets: await withoutKey(),
          enabled: false,
          providers,
          by: actor.id,
        });
        return position;
      });
      return { ids: added, faults, position: latestOf(positions) };
    },
  };
}
