import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { postgresSessions } from '../../src/adapters/sessions.js';
import type { Sessions } from '../../src/application/ports.js';
import { UserId } from '../../src/domain/ids.js';
import { someInstant } from '../support/events.js';
import { type SettableClock, settableClock } from '../support/fixed-clock.js';
import { createTestDatabase, type TestDatabase } from '../support/postgres.js';

const alice = UserId(1);
const bob = UserId(2);
const day = 24 * 60 * 60 * 1000;

describe('sessions', () => {
  let database: TestDatabase;
  let clock: SettableClock;
  let sessions: Sessions;

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());
  beforeEach(async () => {
    await database.pool.query('TRUNCATE sessions');
    clock = settableClock(someInstant);
    sessions = postgresSessions(database.pool, clock);
  });

  test('a session is found by its token of 32 random bytes', async () => {
    const token = await sessions.open(alice);
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(await sessions.find(token)).toBe(alice);
    expect(await sessions.open(alice)).not.toBe(token);
  });

  test('an unknown token finds nobody', async () => {
    expect(await sessions.find('unknown')).toBeNull();
    expect(await sessions.find('')).toBeNull();
  });

  test('the database holds no token', async () => {
    const token = await sessions.open(alice);
    const { rows } = await database.pool.query<{ row: string }>('SELECT sessions::text AS row FROM sessions');
    expect(rows).toHaveLength(1);
    expect(rows[0]?.row).not.toContain(token);
    expect(rows[0]?.row).not.toContain(Buffer.from(token, 'base64url').toString('hex'));
    expect(rows[0]?.row).not.toContain(Buffer.from(token).toString('hex'));
  });

  test('a session ends after 30 days', async () => {
    const token = await sessions.open(alice);
    clock.advance(30 * day - 1);
    expect(await sessions.find(token)).toBe(alice);
    clock.advance(1);
    expect(await sessions.find(token)).toBeNull();
  });

  test('the next sign-in clears away what has expired', async () => {
    await sessions.open(alice);
    clock.advance(15 * day);
    await sessions.open(alice);
    clock.advance(15 * day);
    await sessions.open(bob);
    const { rows } = await database.pool.query('SELECT user_id FROM sessions ORDER BY expires_at');
    expect(rows).toEqual([{ user_id: 1 }, { user_id: 2 }]);
  });

  test('closing one leaves the others', async () => {
    const first = await sessions.open(alice);
    const second = await sessions.open(alice);
    await sessions.close(first);
    expect(await sessions.find(first)).toBeNull();
    expect(await sessions.find(second)).toBe(alice);
  });

  test("closing all of a user's leaves those of others", async () => {
    const tokens = [await sessions.open(alice), await sessions.open(alice)];
    const others = await sessions.open(bob);
    await sessions.closeAll(alice);
    expect(await Promise.all(tokens.map((token) => sessions.find(token)))).toEqual([null, null]);
    expect(await sessions.find(others)).toBe(bob);
  });
});
