import type { Pool } from 'pg';
import type { IdKind, Ids } from '../application/ports/storage-ports.js';
import { statements } from './database/statements.js';

const sequences: Readonly<Record<IdKind, string>> = {
  user: 'user_ids',
  'api-key': 'api_key_ids',
  channel: 'channel_ids',
  redemption: 'redemption_ids',
};

/** Numeric ids from database sequences, each counting from 1. */
export const postgresIds = (pool: Pool): Ids => {
  const query = statements(pool);
  const one = async (text: string, values: readonly string[]): Promise<number> => {
    const { rows } = await query<{ id: number }>(text, [...values]);
    const [row] = rows;
    if (row === undefined) throw new Error('Postgres answered without an id');
    return row.id;
  };

  return {
    next: (kind) => one('SELECT nextval($1::regclass) AS id', [sequences[kind]]),
    // The update that changes nothing makes the row visible to whoever lost the race for it.
    allotted: (kind, order) =>
      one(
        `INSERT INTO allotted_ids AS known (order_name, kind, id) VALUES ($1, $2, nextval($3::regclass))
         ON CONFLICT (order_name, kind) DO UPDATE SET id = known.id RETURNING id`,
        [order, kind, sequences[kind]],
      ),
  };
};
