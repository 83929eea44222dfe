import { afterAll, beforeAll, expect, test } from 'vitest';
import { schemaOf } from '../../src/projections/engine/projection.js';
import { readModels } from '../../src/projections/read-models.js';
import { createEmptyDatabase, type TestDatabase } from '../support/postgres/postgres.js';
import { EmptiedTables } from './emptied-tables.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await createEmptyDatabase();
});
afterAll(() => database.drop());

test('tables are filled on any connection, also when they were created on one that had read models queried', async () => {
  const reader = await database.pool.connect();
  const reading = readModels.map(schemaOf).join(', ');
  const other = { query: (text: string) => reader.query(text), connect: () => database.pool.connect() };
  const tables = new EmptiedTables(other as unknown as typeof database.pool);
  try {
    await reader.query(`set search_path to ${reading}`);
    await tables.renew();
    await reader.query('reset search_path');
    await tables.renew();
    await reader.query(`set search_path to ${reading}`);
    const { rows } = await reader.query('select position from wallet_position');
    expect(rows).toHaveLength(1);
  } finally {
    reader.release(true);
  }
});
