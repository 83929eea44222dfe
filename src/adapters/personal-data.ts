import { randomBytes } from 'node:crypto';
import type { Pool } from 'pg';
import type { Clock, PersonalData } from '../application/ports.js';
import { Failure } from '../domain/failure.js';
import { Sealed, type UserId } from '../domain/ids.js';
import type { MasterKey } from './master-key.js';
import { RecentValues } from './recent-values.js';
import { keyBytes, openBytes, sealBytes } from './sealing.js';

/**
 * One data key per user, itself encrypted with a key from the master key. Sealed text is base64, bound to its user.
 * Destroying a data key makes all that user's text unreadable wherever it has been copied; another node that has used
 * the key lately forgets it within a minute.
 */
export function postgresPersonalData(options: {
  readonly pool: Pool;
  readonly masterKey: MasterKey;
  readonly clock: Clock;
}): PersonalData {
  const { pool, masterKey, clock } = options;
  const wrappingKey = masterKey.derive('personal data');
  const keys = new RecentValues<UserId, Buffer>({ capacity: 10_000, maxAgeMs: 60_000, clock });
  const keyOwner = (user: UserId): string => `key of user ${user}`;
  const textOwner = (user: UserId): string => `text of user ${user}`;

  /** null: destroyed, or never made. */
  const readKey = async (user: UserId): Promise<Buffer | null> => {
    const { rows } = await pool.query<{ wrapped_key: Buffer | null }>(
      'SELECT wrapped_key FROM user_keys WHERE user_id = $1',
      [user],
    );
    const wrapped = rows[0]?.wrapped_key ?? null;
    return wrapped === null ? null : openBytes(wrappingKey, keyOwner(user), wrapped);
  };

  const readOrMakeKey = async (user: UserId): Promise<Buffer | null> => {
    const found = await readKey(user);
    if (found !== null) return found;
    // A key made elsewhere in the meantime stays, and so does the mark of a destroyed one.
    await pool.query('INSERT INTO user_keys (user_id, wrapped_key) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
      user,
      sealBytes(wrappingKey, keyOwner(user), randomBytes(keyBytes)),
    ]);
    return readKey(user);
  };

  return {
    async seal(user, text) {
      // A load that `open` has begun finds null for a user without a key, and makes none.
      const key = (await keys.get(user, () => readOrMakeKey(user))) ?? (await readOrMakeKey(user));
      if (key === null) throw new Failure('user-not-found');
      return Sealed(sealBytes(key, textOwner(user), Buffer.from(text, 'utf8')).toString('base64'));
    },

    async open(user, sealed) {
      const key = await keys.get(user, () => readKey(user));
      return key === null ? null : openBytes(key, textOwner(user), Buffer.from(sealed, 'base64')).toString('utf8');
    },

    async forget(user) {
      await pool.query(
        'INSERT INTO user_keys (user_id) VALUES ($1) ON CONFLICT (user_id) DO UPDATE SET wrapped_key = NULL',
        [user],
      );
      keys.delete(user);
    },
  };
}
