import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newClient, openPool, type PostgresConnection } from '../../../src/adapters/database/postgres.js';
import { CutOff } from '../../support/postgres/cut-off.js';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/postgres.js';
import { quietLog } from '../../support/quiet-log.js';
import { until } from '../../support/until.js';

/** What the driver warns of once per process, so heard from the first connection on. */
const warnings: string[] = [];
process.on('warning', ({ message }) => warnings.push(message));

describe('a Postgres connection', () => {
  let database: TestDatabase;
  let between: CutOff;
  beforeAll(async () => {
    database = await createTestDatabase();
    between = await CutOff.before(database.connection);
  });
  afterAll(async () => {
    await between.cut();
    await database.drop();
  });

  describe('for a bigint', () => {
    test.each(['0', '-1', '9007199254740991', '-9007199254740991'])('returns %s as a number', async (text) => {
      const { rows } = await database.pool.query<{ value: number }>(`SELECT ${text}::bigint AS value`);
      expect(rows).toEqual([{ value: Number(text) }]);
    });

    test.each(['9007199254740992', '-9223372036854775808'])(
      'returns an error for %s, not a wrong number',
      async (text) => {
        await expect(database.pool.query(`SELECT (${text})::bigint AS value`)).rejects.toThrow(/not a safe integer/);
      },
    );
  });

  test.each([
    ['12', 12],
    ['0.10', 0.1],
    ['9007199254740993', Number.MAX_SAFE_INTEGER],
    ['-1e40', -Number.MAX_SAFE_INTEGER],
  ])('returns numeric %s as the nearest representable number', async (text, value) => {
    const { rows } = await database.pool.query(`SELECT '${text}'::numeric AS value`);
    expect(rows).toEqual([{ value }]);
  });

  test('returns a sum of bigints of any size', async () => {
    const { rows } = await database.pool.query(
      'SELECT sum(n) AS value, sum(n)::text AS exactly FROM (VALUES (9007199254740991), (9007199254740991)) v (n)',
    );
    expect(rows).toEqual([{ value: Number.MAX_SAFE_INTEGER, exactly: '18014398509481982' }]);
  });

  test('accepts a URL like its parts', async () => {
    if ('url' in between.connection) throw new Error('The parts are needed');
    const { host, port, user, database: name } = between.connection;
    const pool = await openPool({ url: `postgres://${user}:ignored@${host}:${port}/${name}` }, quietLog);
    const { rows } = await pool.query('SELECT current_database() AS name');
    expect(rows).toEqual([{ name }]);
    await pool.end();
  });

  test('that is idle and lost is replaced, and does not end the process', async () => {
    const pool = await openPool(between.connection, quietLog);
    const lost = new Promise((resolve) => pool.once('error', resolve));
    await between.cut();
    await lost;
    await between.restore();
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    await pool.end();
  });

  test('that is lost in the middle of a transaction refuses its next statement, and does not end the process', async () => {
    const pool = await openPool(between.connection, quietLog);
    const client = await pool.connect();
    await client.query('BEGIN');
    const lost = new Promise((resolve) => client.once('end', resolve));
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    await database.pool.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
    await lost;
    expect(client.listenerCount('error')).toBeGreaterThan(0);
    await expect(client.query('SELECT 1')).rejects.toThrow();
    client.release();
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    await pool.end();
  });

  test('has been closed by Postgres when the end of its pool resolves', async () => {
    const size = 24;
    const pool = await openPool(between.connection, quietLog, { size });
    const clients = await Promise.all(Array.from({ length: size }, () => pool.connect()));
    const pids = await Promise.all(
      clients.map(
        async (client) => (await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid,
      ),
    );
    for (const client of clients) client.release();
    await pool.end();
    const open = await database.pool.query('SELECT pid FROM pg_stat_activity WHERE pid = ANY($1)', [pids]);
    expect(open.rows).toEqual([]);
  });

  describe('with limits', () => {
    const limits = { statementMs: 4_000, lockMs: 2_000 };
    const shown = async (client: Pick<pg.ClientBase, 'query'>): Promise<unknown[]> => {
      const { rows } = await client.query<Record<string, unknown>>(
        `SELECT current_setting('statement_timeout') AS statement, current_setting('lock_timeout') AS lock,
           current_setting('client_connection_check_interval') AS hang_ups`,
      );
      return Object.values(rows[0] ?? {});
    };

    test('has them from its first statement on, in a pool or not, whatever role and database set', async () => {
      const { rows } = await database.pool.query<{ name: string }>('SELECT current_database() AS name');
      await database.pool.query(`ALTER DATABASE ${rows[0]?.name} SET statement_timeout TO 1`);
      const client = newClient(database.connection, limits);
      await client.connect();
      expect(await shown(client)).toEqual(['4s', '2s', '1s']);
      await client.end();
      const pool = await openPool(database.connection, quietLog, { limits });
      expect(await shown(pool)).toEqual(['4s', '2s', '1s']);
      await pool.end();
      await database.pool.query(`ALTER DATABASE ${rows[0]?.name} RESET statement_timeout`);
    });

    test('sets them one after the other, as the driver will require', () => {
      expect(warnings.filter((warning) => warning.includes('client.query()'))).toEqual([]);
    });

    test('ends a statement on the server when its client has disconnected', async () => {
      const gone = newClient(between.connection, { statementMs: null, lockMs: null });
      gone.on('error', () => {});
      await gone.connect();
      const waiting = gone.query(`SELECT 'gone', pg_sleep(600)`).catch(() => null);
      const sleeping = async (): Promise<number> => {
        const { rowCount } = await database.pool.query(
          `SELECT FROM pg_stat_activity WHERE query LIKE '%''gone''%' AND pid <> pg_backend_pid() AND state = 'active'`,
        );
        return rowCount ?? 0;
      };
      await until(async () => ((await sleeping()) === 1 ? true : null));
      await between.cut();
      await waiting;
      await until(async () => ((await sleeping()) === 0 ? true : null));
      await between.restore();
    });
  });

  describe('to an unusable Postgres fails as unavailable, with a message that says', () => {
    const reasonOf = async (connection: PostgresConnection): Promise<string> => {
      const failure = await openPool(connection, quietLog).catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: 'store-unavailable' });
      return (failure as { details: { reason: string } }).details.reason;
    };

    test('what to start, where no server answers', async () => {
      await between.cut();
      const reason = await reasonOf({ url: `postgres://someone:hidden@127.0.0.1:1/tallygate` });
      expect(reason).toContain('127.0.0.1:1, database tallygate');
      expect(reason).toMatch(/Start Postgres there, correct DATABASE_URL, or unset it/);
      expect(reason).not.toContain('hidden');
    });

    test('which database is missing', async () => {
      const reason = await reasonOf({ ...database.connection, database: 'missing' } as PostgresConnection);
      expect(reason).toMatch(/"missing" does not exist.*Create the database/);
    });
  });
});
