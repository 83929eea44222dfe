import type { PostgresPool, PostgresPoolClient } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import { shownError } from '../../domain/errors/transient-error.js';
import { Failure } from '../../domain/kernel/failure.js';

/*
 * Connections for reading. A read that the database could not serve in time, or at all, is an expected "no" and not a
 * bug of ours: `query-too-slow` asks for less, `store-unavailable` for patience.
 */

/** SQLSTATE of a statement ended by its time limit. */
const outOfTime = '57014';

function queryError(error: unknown): unknown {
  if (error instanceof Error && 'code' in error && error.code === outOfTime) return new Failure('query-too-slow');
  return shownError(error);
}

/** What the server says has a SQLSTATE; without one, or where it says that it hangs up, the connection is in doubt. */
const isAnswered = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && /^(?!08|57P|25P0[34])[0-9A-Z]{5}$/.test(String(error.code));

/** The pool as the query builder wants it; unqualified names are looked up along `searchPath`. */
export function readConnections(pool: Pool, searchPath: string): PostgresPool {
  const known = new WeakMap<PoolClient, PostgresPoolClient>();
  /** Not to be used again: handed back to be closed. */
  const broken = new WeakSet<PoolClient>();

  const prepared = async (client: PoolClient): Promise<PostgresPoolClient> => {
    await client.query(`set search_path to ${searchPath}`);
    const query = (text: string, values: readonly unknown[]) =>
      client.query(text, [...values]).catch((error: unknown) => {
        if (!isAnswered(error)) broken.add(client);
        throw queryError(error);
      });
    const connection = {
      // The driver's overloads for cursors are never used here.
      query: query as never,
      release: () => client.release(broken.has(client)),
    };
    known.set(client, connection);
    return connection;
  };

  return {
    async connect() {
      const client = await pool.connect().catch((error: unknown) => {
        throw queryError(error);
      });
      try {
        return known.get(client) ?? (await prepared(client));
      } catch (error) {
        client.release(true);
        throw queryError(error);
      }
    },
    end: () => pool.end(),
  };
}
