import { shownProxy } from '../../domain/channel/channel-settings.js';
import type { ChannelId } from '../../domain/kernel/ids.js';
import type { Directory, Vault } from '../ports/storage-ports.js';

/** The proxy a channel has, with its password; '' where it has none, null where its secret is lost. */
export async function storedProxy(
  { directory, vault }: { readonly directory: Pick<Directory, 'channel'>; readonly vault: Pick<Vault, 'get'> },
  id: ChannelId,
): Promise<string | null> {
  const secret = directory.channel(id)?.secrets.proxy ?? null;
  return secret === null ? '' : vault.get(secret);
}

/** Forms send back what they were shown: the proxy a channel has, or how it was shown, is no change. */
export const isSameProxy = (proxy: string, stored: string | null): boolean =>
  stored === '' ? proxy === '' : stored !== null && (proxy === stored || proxy === shownProxy(stored));
