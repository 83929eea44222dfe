import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { postgresIds } from '../../src/adapters/ids.js';
import { createTestDatabase, type TestDatabase } from '../support/postgres/postgres.js';

describe('numeric ids', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  test('begin at 1 and count separately for each kind', async () => {
    const ids = postgresIds(database.pool);
    expect(await ids.next('user')).toBe(1);
    expect(await ids.next('user')).toBe(2);
    expect(await ids.next('api-key')).toBe(1);
    expect(await ids.next('channel')).toBe(1);
    expect(await ids.next('user')).toBe(3);
  });

  test('are the same each time a command requests one for the same object', async () => {
    const ids = postgresIds(database.pool);
    const given = await Promise.all(Array.from({ length: 20 }, () => ids.allotted('api-key', 'one order')));
    expect(new Set(given).size).toBe(1);
    expect(await ids.allotted('user', 'one order')).not.toBe(await ids.allotted('user', 'another'));
    expect(await ids.next('api-key')).toBeGreaterThan(given[0] ?? Number.NaN);
  });

  test('are never assigned twice, with any concurrency', async () => {
    const ids = postgresIds(database.pool);
    const given = await Promise.all(Array.from({ length: 100 }, () => ids.next('channel')));
    expect(new Set(given).size).toBe(100);
  });
});
