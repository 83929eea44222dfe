import type { ChannelSecrets } from '../../domain/channel/channel.js';
import { type ProviderFacts, type ProviderTable, usual } from '../../domain/channel/provider.js';
import type { Vault } from '../ports/storage-ports.js';

/** What a key of a channel of this type looks like. Without a type: as usual. */
export const keyFactsOf = (providers: ProviderTable, type = 0): Pick<ProviderFacts, 'documentKey' | 'keyForm'> =>
  providers.get(type) ?? usual;

/** `proxy` '': none. */
export const storedSecrets = async (
  vault: Pick<Vault, 'put' | 'hash'>,
  key: string,
  proxy: string,
): Promise<ChannelSecrets> => ({
  key: await vault.put(key),
  keyHash: vault.hash(key),
  proxy: proxy === '' ? null : await vault.put(proxy),
});
