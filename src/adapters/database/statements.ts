import type pg from 'pg';
import { shownError } from '../../domain/errors/transient-error.js';

/**
 * Asks one statement of a pool. A database that cannot answer it now is an expected "no" (Failure `store-unavailable`),
 * which every face knows how to answer; what is wrong with the statement itself is thrown as it is.
 */
export const statements =
  (pool: pg.Pool) =>
  async <Row extends pg.QueryResultRow>(
    statement: string | pg.QueryConfig,
    values: unknown[] = [],
  ): Promise<pg.QueryResult<Row>> => {
    try {
      return await (typeof statement === 'string' ? pool.query<Row>(statement, values) : pool.query<Row>(statement));
    } catch (error) {
      throw shownError(error);
    }
  };
