import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import type { Pool } from 'pg';
import type { Clock, PersonalData } from '../../application/ports/storage-ports.js';
import { Failure } from '../../domain/kernel/failure.js';
import { IdentityClaim, Sealed, UserId } from '../../domain/kernel/ids.js';
import { RecentValues } from '../database/recent-values.js';
import { statements } from '../database/statements.js';
import type { MasterKey } from './master-key.js';
import { keyBytes, openBytes, sealBytes } from './sealing.js';

/** What the master key is asked for here. */
export const personalDataPurposes = ['personal data', 'personal data search'] as const;

/** Keys derived from a user's data key, one per purpose: they are gone with it. */
export interface UserKeys {
  /** null: the user's key is destroyed, or was never made. */
  key(user: UserId, purpose: string): Promise<Buffer | null>;
  /** The same, which makes the user's key where there was none yet. */
  makeKey(user: UserId, purpose: string): Promise<Buffer | null>;
}

const derivedKey = (key: Buffer | null, purpose: string): Buffer | null =>
  key && Buffer.from(hkdfSync('sha256', key, '', `tallygate ${purpose}`, keyBytes));

/**
 * One data key per user, itself encrypted with a key from the master key. Sealed text is base64, bound to its user.
 * Destroying a data key makes all that user's text unreadable wherever it has been copied; another node that has used
 * the key lately forgets it within a minute.
 */
export function postgresPersonalData(options: {
  readonly pool: Pool;
  readonly masterKey: MasterKey;
  readonly clock: Clock;
}): PersonalData & UserKeys {
  const { pool, masterKey, clock } = options;
  const query = statements(pool);
  const wrappingKey = masterKey.derive(personalDataPurposes[0]);
  const searchKey = masterKey.derive(personalDataPurposes[1]);
  const keys = new RecentValues<UserId, Buffer>({ capacity: 10_000, maxAgeMs: 60_000, clock });
  const keyOwner = (user: UserId): string => `key of user ${user}`;
  const textOwner = (user: UserId): string => `text of user ${user}`;

  /** Those that are there: destroyed keys, and such as were never made, are not. */
  const readKeys = async (users: readonly UserId[]): Promise<ReadonlyMap<UserId, Buffer>> => {
    const { rows } = await query<{ user_id: number; wrapped_key: Buffer }>(
      'SELECT user_id, wrapped_key FROM user_keys WHERE user_id = ANY ($1) AND wrapped_key IS NOT NULL',
      [users],
    );
    return new Map(
      rows.map(({ user_id, wrapped_key }) => {
        const user = UserId(user_id);
        return [user, openBytes(wrappingKey, keyOwner(user), wrapped_key)];
      }),
    );
  };

  /** null: destroyed, or never made. */
  const readKey = async (user: UserId): Promise<Buffer | null> => (await readKeys([user])).get(user) ?? null;

  const readOrMakeKey = async (user: UserId): Promise<Buffer | null> => {
    const found = await readKey(user);
    if (found !== null) return found;
    // A key made elsewhere in the meantime stays, and so does the mark of a destroyed one.
    await query('INSERT INTO user_keys (user_id, wrapped_key) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
      user,
      sealBytes(wrappingKey, keyOwner(user), randomBytes(keyBytes)),
    ]);
    return readKey(user);
  };

  // A load that `open` has begun finds null for a user without a key, and makes none.
  const madeKey = async (user: UserId): Promise<Buffer | null> =>
    (await keys.get(user, () => readOrMakeKey(user))) ?? (await readOrMakeKey(user));

  const opened = (user: UserId, sealed: Sealed, key: Buffer | null): string | null =>
    key === null ? null : openBytes(key, textOwner(user), Buffer.from(sealed, 'base64')).toString('utf8');

  return {
    async seal(user, text) {
      const key = await madeKey(user);
      if (key === null) throw new Failure('user-not-found');
      return Sealed(sealBytes(key, textOwner(user), Buffer.from(text, 'utf8')).toString('base64'));
    },

    async open(user, sealed) {
      return opened(user, sealed, await keys.get(user, () => readKey(user)));
    },

    async openAll(texts) {
      const missing: UserId[] = [];
      let reading: Promise<ReadonlyMap<UserId, Buffer>> | null = null;
      const load = async (user: UserId): Promise<Buffer | null> => {
        missing.push(user);
        // Runs after all that is missing has been named: one query for them together.
        reading ??= Promise.resolve().then(() => readKeys(missing));
        return (await reading).get(user) ?? null;
      };
      return Promise.all(
        texts.map(async ({ user, sealed }) => opened(user, sealed, await keys.get(user, () => load(user)))),
      );
    },

    key: async (user, purpose) => derivedKey(await keys.get(user, () => readKey(user)), purpose),
    makeKey: async (user, purpose) => derivedKey(await madeKey(user), purpose),

    searchToken: (term) => createHmac('sha256', searchKey).update(term, 'utf8').digest().toString('base64url', 0, 9),

    identityClaim: (kind, subject) =>
      IdentityClaim(
        createHmac('sha256', searchKey)
          .update(JSON.stringify(['identity', kind, subject]), 'utf8')
          .digest('base64url'),
      ),

    async forget(users) {
      await query(
        `INSERT INTO user_keys (user_id) SELECT DISTINCT unnest($1::bigint[])
         ON CONFLICT (user_id) DO UPDATE SET wrapped_key = NULL WHERE user_keys.wrapped_key IS NOT NULL`,
        [users],
      );
      await query('DELETE FROM user_languages WHERE user_id = ANY($1::bigint[])', [users]);
      for (const user of users) keys.delete(user);
    },
  };
}
