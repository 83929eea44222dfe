import { afterAll, beforeAll, expect, test } from 'vitest';
import { newClient } from '../../src/adapters/database/postgres.js';
import { prepareReadModels } from '../../src/projections/engine/checkpoints.js';
import { readModels } from '../../src/projections/read-models.js';
import { createTestDatabase, type TestDatabase } from '../support/postgres/postgres.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('a start does not wait for checkpoints locked by a node that hangs in the middle of a batch', async () => {
  await prepareReadModels(database.pool, readModels);
  const hung = newClient(database.connection);
  await hung.connect();
  try {
    await hung.query('begin; select position from projections.checkpoints for update');
    const { rows } = await database.pool.query('select count(*)::integer as held from projections.checkpoints');
    expect(rows).toEqual([{ held: readModels.length }]);
    // Where it had to wait, Postgres would soon refuse it.
    const impatient = {
      connect: async () => {
        const client = await database.pool.connect();
        await client.query(`set lock_timeout to '200ms'`);
        return client;
      },
    } as typeof database.pool;
    await prepareReadModels(impatient, readModels);
  } finally {
    await hung.end();
  }
});
