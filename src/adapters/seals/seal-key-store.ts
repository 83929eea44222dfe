import type { Pool } from 'pg';
import type { SealKey, SealKeyStore } from '../../application/ports/seal-ports.js';
import { statements } from '../database/statements.js';

/** Public keys in a table beside the log, with the names of their private ones in the vault. */
export function postgresSealKeyStore(pool: Pool): SealKeyStore {
  const query = statements(pool);
  return {
    async all() {
      const { rows } = await query<SealKey>(
        'SELECT number, id, public_key AS "publicKey", secret, since, endorsement FROM seal_keys ORDER BY number',
      );
      return rows;
    },
    async add({ number, id, publicKey, secret, since, endorsement }) {
      const { rowCount } = await query(
        `WITH added AS (
           INSERT INTO seal_keys (number, id, public_key, secret, since, endorsement) VALUES ($1, $2, $3, $4, $5, $6)
           ON CONFLICT DO NOTHING RETURNING number
         ), retired AS (
           UPDATE seal_keys SET secret = NULL WHERE number < $1 AND EXISTS (SELECT FROM added)
         )
         SELECT FROM added`,
        [number, id, publicKey, secret, since, endorsement],
      );
      return rowCount === 1;
    },
  };
}
