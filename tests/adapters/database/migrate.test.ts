import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { adapterMigrations, checkMigrated, migrate } from '../../../src/adapters/database/migrate.js';
import { openPool } from '../../../src/adapters/database/postgres.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/postgres/postgres.js';
import { quietLog } from '../../support/quiet-log.js';

describe('a migration', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createEmptyDatabase();
  });
  afterEach(() => database.drop());

  const numbers = { name: '0001-numbers', sql: 'CREATE TABLE numbers (value integer)' };
  const one = { name: '0002-one', sql: 'INSERT INTO numbers VALUES (1)' };

  test('runs the missing steps, in order, once', async () => {
    expect(await migrate(database.pool, [numbers])).toEqual(['0001-numbers']);
    expect(await migrate(database.pool, [numbers, one])).toEqual(['0002-one']);
    expect(await migrate(database.pool, [numbers, one])).toEqual([]);
    expect((await database.pool.query('SELECT value FROM numbers')).rows).toEqual([{ value: 1 }]);
  });

  test('runs each step once when several processes start together', async () => {
    const pools = await Promise.all(Array.from({ length: 4 }, () => openPool(database.connection, quietLog)));
    const ran = await Promise.all(pools.map((pool) => migrate(pool, [numbers, one, ...adapterMigrations])));
    expect(ran.flat().toSorted()).toEqual([numbers, one, ...adapterMigrations].map(({ name }) => name).toSorted());
    expect((await database.pool.query('SELECT value FROM numbers')).rows).toEqual([{ value: 1 }]);
    await Promise.all(pools.map((pool) => pool.end()));
  });

  test('leaves nothing of a step that fails, keeps those before it, and can be repeated', async () => {
    const broken = { name: '0002-one', sql: 'INSERT INTO numbers VALUES (1); SELECT nonsense' };
    await expect(migrate(database.pool, [numbers, broken])).rejects.toThrow(/nonsense/);
    expect((await database.pool.query('SELECT value FROM numbers')).rows).toEqual([]);
    expect(await migrate(database.pool, [numbers, one])).toEqual(['0002-one']);
  });

  const tables = async (): Promise<string[]> => {
    const { rows } = await database.pool.query<{ name: string }>(
      `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`,
    );
    return rows.map(({ name }) => name);
  };

  test('is refused where a newer release has run, with its name and a remedy; nothing is changed', async () => {
    await migrate(database.pool, [numbers, one]);
    const two = { name: '0001-another', sql: 'CREATE TABLE others ()' };
    await expect(migrate(database.pool, [numbers, two])).rejects.toMatchObject({
      code: 'store-unavailable',
      details: { reason: expect.stringMatching(/newer release.*0002-one.*restore the backup/) },
    });
    expect(await tables()).toEqual(['migrations', 'numbers']);
    // Whoever comes next finds the lock free.
    expect(await migrate(database.pool, [numbers, one, two])).toEqual(['0001-another']);
  });

  test('is never run by CLI commands: they report the version of the tables they found', async () => {
    const refused = (reason: RegExp) => ({
      code: 'store-unavailable',
      details: { reason: expect.stringMatching(reason) },
    });
    await expect(checkMigrated(database.pool, [numbers])).rejects.toMatchObject(refused(/Start one with "npm start"/));
    expect(await tables()).toEqual([]);
    await migrate(database.pool, [numbers]);
    await expect(checkMigrated(database.pool, [numbers, one])).rejects.toMatchObject(
      refused(/older release.*0002-one/),
    );
    await expect(checkMigrated(database.pool, [])).rejects.toMatchObject(refused(/newer release.*0001-numbers/));
    await checkMigrated(database.pool, [numbers]);
    expect((await database.pool.query('SELECT value FROM numbers')).rows).toEqual([]);
  });
});
