import type pg from 'pg';
import { Failure } from '../../domain/kernel/failure.js';
import { schemaOf } from '../../projections/engine/projection.js';
import { quotaHistory } from '../../projections/models/quota-history/quota-history.js';

/** Throws Failure `store-unavailable` where the history of this release is not there. */
export async function demandHistory(pool: pg.Pool): Promise<void> {
  const { rowCount } = await pool.query('SELECT FROM pg_namespace WHERE nspname = $1', [schemaOf(quotaHistory)]);
  if (rowCount === 0)
    throw new Failure('store-unavailable', {
      reason: 'The history of quota has not been built in this database. Start the gateway of this release first.',
    });
}
