import { createHmac, randomBytes } from 'node:crypto';
import type { Pool } from 'pg';
import type { Clock, Vault } from '../../application/ports/storage-ports.js';
import { SecretId } from '../../domain/kernel/ids.js';
import { RecentValues } from '../database/recent-values.js';
import { statements } from '../database/statements.js';
import type { MasterKey } from './master-key.js';
import { openBytes, sealBytes } from './sealing.js';

/** What `hash` is keyed with. */
export const hashingKey = (masterKey: MasterKey): Buffer => masterKey.derive('vault hash');

/** Every call shows an API key: its hash would take more time than all else that is asked about its caller. */
const maxHashes = 5_000;
/** Characters. Whoever has more to show is not a caller. */
const maxRemembered = 128;

/** See Vault. */
export function secretHash(key: Buffer): Vault['hash'] {
  const hashes = new Map<string, string>();
  return (secret) => {
    const known = hashes.get(secret);
    if (known !== undefined) return known;
    const hash = createHmac('sha256', key).update(secret, 'utf8').digest('hex');
    if (secret.length > maxRemembered) return hash;
    // Emptied rather than looked after: whoever is still there is soon remembered again.
    if (hashes.size >= maxHashes) hashes.clear();
    hashes.set(secret, hash);
    return hash;
  };
}

/**
 * Secrets in Postgres, encrypted, each bound to its id. Those used lately are kept in memory, so a relayed call does
 * not query for its channel's key; a secret dropped by another node may be answered for a minute more.
 */
export function postgresVault(options: {
  readonly pool: Pool;
  readonly masterKey: MasterKey;
  readonly clock: Clock;
}): Vault {
  const { pool, masterKey, clock } = options;
  const query = statements(pool);
  const sealingKey = masterKey.derive('vault');
  const recent = new RecentValues<SecretId, string>({ capacity: 5_000, maxAgeMs: 60_000, clock });

  const read = async (ids: readonly SecretId[]): Promise<ReadonlyMap<SecretId, string>> => {
    const { rows } = await query<{ id: SecretId; sealed: Buffer }>(
      'SELECT id, sealed FROM vault_secrets WHERE id = ANY ($1)',
      [ids],
    );
    return new Map(rows.map(({ id, sealed }) => [id, openBytes(sealingKey, id, sealed).toString('utf8')]));
  };

  const getMany = async (ids: readonly SecretId[]): Promise<ReadonlyMap<SecretId, string>> => {
    const missing: SecretId[] = [];
    let reading: Promise<ReadonlyMap<SecretId, string>> | null = null;
    const load = async (id: SecretId): Promise<string | null> => {
      missing.push(id);
      // Runs after the loop below has named all that is missing: one query for them together.
      reading ??= Promise.resolve().then(() => read(missing));
      return (await reading).get(id) ?? null;
    };
    const found = new Map<SecretId, string>();
    await Promise.all(
      [...new Set(ids)].map(async (id) => {
        const secret = await recent.get(id, () => load(id));
        if (secret !== null) found.set(id, secret);
      }),
    );
    return found;
  };

  return {
    async put(secret) {
      const id = SecretId(randomBytes(16).toString('base64url'));
      const sealed = sealBytes(sealingKey, id, Buffer.from(secret, 'utf8'));
      await query('INSERT INTO vault_secrets (id, sealed) VALUES ($1, $2)', [id, sealed]);
      return id;
    },
    get: (id) => recent.get(id, async () => (await read([id])).get(id) ?? null),
    getMany,
    async drop(ids) {
      await query('DELETE FROM vault_secrets WHERE id = ANY ($1)', [ids]);
      for (const id of ids) recent.delete(id);
    },
    hash: secretHash(hashingKey(masterKey)),
  };
}
