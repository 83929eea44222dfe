import type { Pool } from 'pg';
import type { PendingIdempotencyKey, PendingIdempotencyKeys } from '../application/ports/storage-ports.js';
import { statements } from './database/statements.js';

/** In a table beside the log: one row for each order under way, and for each whose outcome was not answered. */
export function postgresPendingIdempotencyKeys(pool: Pool): PendingIdempotencyKeys {
  const query = statements(pool);

  return {
    async left(after) {
      const { rows } = await query<PendingIdempotencyKey & Record<string, unknown>>(
        `WITH forgotten AS (DELETE FROM unsettled_orders WHERE since <= $1)
         SELECT form, order_key AS key, since FROM unsettled_orders WHERE since > $1 ORDER BY since`,
        [after],
      );
      return rows;
    },

    async begin({ form, key, since }) {
      await query(
        `INSERT INTO unsettled_orders (order_key, form, since) VALUES ($1, $2, $3)
         ON CONFLICT (order_key) DO UPDATE SET since = excluded.since`,
        [key, form, since],
      );
    },

    async end(key) {
      await query('DELETE FROM unsettled_orders WHERE order_key = $1', [key]);
    },

    async bind(name, form) {
      const { rows } = await query<{ form: string; is_new: boolean }>(
        `INSERT INTO order_forms AS known (order_name, form) VALUES ($1, $2)
         ON CONFLICT (order_name) DO UPDATE SET form = known.form RETURNING form, xmax = 0 AS is_new`,
        [name, form],
      );
      const [row] = rows;
      if (row === undefined) throw new Error('the name of an order was not kept');
      return { form: row.form, isNew: row.is_new };
    },

    async unbind(name) {
      await query('DELETE FROM order_forms WHERE order_name = $1', [name]);
    },
  };
}
