import type { OptionKey } from '../../domain/options/option-table.js';
import type { NodeDirectory } from '../memory/directory.js';
import type { Vault } from '../ports/storage-ports.js';

/** What a secret option holds; null: it is not set. */
export type OptionSecrets = (key: OptionKey) => Promise<string | null>;

export const optionSecrets =
  (directory: Pick<NodeDirectory, 'optionSecret'>, vault: Pick<Vault, 'get'>): OptionSecrets =>
  async (key) => {
    const value = directory.optionSecret(key);
    return value !== null && 'secret' in value ? vault.get(value.secret) : null;
  };
