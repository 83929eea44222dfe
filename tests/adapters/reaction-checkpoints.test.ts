import { afterAll, beforeAll, expect, test } from 'vitest';
import { postgresReactionCheckpoints } from '../../src/adapters/reaction-checkpoints.js';
import { beginning, Position } from '../../src/domain/events/events.js';
import { createTestDatabase, type TestDatabase } from '../support/postgres/postgres.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('the checkpoint of each reaction is available to the next process, and never goes back', async () => {
  const former = postgresReactionCheckpoints(database.pool);
  expect(await former.of('one')).toBe(beginning);
  await former.keep('one', Position(5));
  await former.keep('two', Position(7));
  await former.keep('one', Position(6));
  await former.keep('two', Position(3));
  const next = postgresReactionCheckpoints(database.pool);
  expect([await next.of('one'), await next.of('two'), await next.of('three')]).toEqual([6, 7, beginning]);
});
