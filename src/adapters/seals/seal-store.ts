import type { Pool } from 'pg';
import type { Seal, SealStore, SealWitness } from '../../application/ports/seal-ports.js';
import { statements } from '../database/statements.js';

const columns = `number, first_position AS first, last_position AS last, events, events_hash AS "eventsHash", previous,
  at, key_id AS "keyId", signature`;

const insertWitness = 'INSERT INTO seal_witness (number, digest, mac) VALUES ($1, $2, $3)';
const inItsPlace = `ON CONFLICT (one) DO UPDATE SET number = excluded.number, digest = excluded.digest, mac = excluded.mac`;

/** Seals in a table beside the log. */
export function postgresSealStore(pool: Pool): SealStore {
  const query = statements(pool);
  const select = async (rest: string, values: unknown[] = []): Promise<readonly Seal[]> =>
    (await query<Seal>(`SELECT ${columns} FROM seals ${rest}`, values)).rows;
  const one = async (rest: string, values: unknown[] = []): Promise<Seal | null> =>
    (await select(rest, values))[0] ?? null;
  return {
    newest: () => one('ORDER BY number DESC LIMIT 1'),
    after: (number, limit) => select('WHERE number > $1 ORDER BY number LIMIT $2', [number, limit]),
    before: (number, limit) => select('WHERE number < $1 ORDER BY number DESC LIMIT $2', [number, limit]),
    numbered: (number) => one('WHERE number = $1', [number]),
    async covering(position) {
      const seal = await one('WHERE last_position >= $1 ORDER BY last_position LIMIT 1', [position]);
      return seal !== null && seal.first <= position ? seal : null;
    },
    async add({ number, first, last, events, eventsHash, previous, at, keyId, signature }, { digest, mac }) {
      const { rowCount } = await query(
        `WITH added AS (
           INSERT INTO seals (number, first_position, last_position, events, events_hash, previous, at, key_id, signature)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING RETURNING number
         ), witnessed AS (
           INSERT INTO seal_witness (number, digest, mac) SELECT number, $10, $11 FROM added ${inItsPlace}
         )
         SELECT FROM added`,
        [number, first, last, events, eventsHash, previous, at, keyId, signature, digest, mac],
      );
      return rowCount === 1;
    },
    async witness() {
      return (await query<SealWitness>('SELECT number, digest, mac FROM seal_witness')).rows[0] ?? null;
    },
    async beginWitness({ number, digest, mac }) {
      await query(`${insertWitness} ON CONFLICT DO NOTHING`, [number, digest, mac]);
    },
    async keepWitness({ number, digest, mac }) {
      await query(`${insertWitness} ${inItsPlace}`, [number, digest, mac]);
    },
  };
}
