import type { Pool } from 'pg';
import type { Ids } from '../application/ports.js';

const sequences: Readonly<Record<Parameters<Ids['next']>[0], string>> = {
  user: 'user_ids',
  'api-key': 'api_key_ids',
  channel: 'channel_ids',
};

/** Numeric ids from database sequences, each counting from 1. */
export const postgresIds = (pool: Pool): Ids => ({
  async next(kind) {
    const { rows } = await pool.query<{ id: number }>('SELECT nextval($1::regclass) AS id', [sequences[kind]]);
    const [row] = rows;
    if (row === undefined) throw new Error('Postgres answered nextval without a row');
    return row.id;
  },
});
