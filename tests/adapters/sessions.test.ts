import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { postgresSessions } from '../../src/adapters/sessions.js';
import type { Sessions } from '../../src/application/ports.js';
import { beginning, Position } from '../../src/domain/events.js';
import { UserId } from '../../src/domain/ids.js';
import { someInstant } from '../support/events.js';
import { type SettableClock, settableClock } from '../support/fixed-clock.js';
import { createTestDatabase, type TestDatabase } from '../support/postgres.js';

const alice = UserId(1);
const bob = UserId(2);
const ofAlice = { user: alice, since: beginning };
const ofBob = { user: bob, since: beginning };
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
    const token = await sessions.open(ofAlice);
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(await sessions.find(token)).toEqual({ ...ofAlice, ended: false });
    expect(await sessions.open(ofAlice)).not.toBe(token);
  });

  test('an unknown token finds nobody', async () => {
    expect(await sessions.find('unknown')).toBeNull();
    expect(await sessions.find('')).toBeNull();
  });

  test('the database holds no token', async () => {
    const token = await sessions.open(ofAlice);
    const { rows } = await database.pool.query<{ row: string }>('SELECT sessions::text AS row FROM sessions');
    expect(rows).toHaveLength(1);
    expect(rows[0]?.row).not.toContain(token);
    expect(rows[0]?.row).not.toContain(Buffer.from(token, 'base64url').toString('hex'));
    expect(rows[0]?.row).not.toContain(Buffer.from(token).toString('hex'));
  });

  test('a session ends after 30 days', async () => {
    const token = await sessions.open(ofAlice);
    clock.advance(30 * day - 1);
    expect(await sessions.find(token)).toEqual({ ...ofAlice, ended: false });
    clock.advance(1);
    expect(await sessions.find(token)).toBeNull();
  });

  test('the next sign-in clears away what has expired', async () => {
    await sessions.open(ofAlice);
    clock.advance(15 * day);
    await sessions.open(ofAlice);
    clock.advance(15 * day);
    await sessions.open(ofBob);
    const { rows } = await database.pool.query('SELECT user_id FROM sessions ORDER BY expires_at');
    expect(rows).toEqual([{ user_id: 1 }, { user_id: 2 }]);
  });

  test('closing one leaves the others', async () => {
    const first = await sessions.open(ofAlice);
    const second = await sessions.open(ofAlice);
    await sessions.close(first);
    expect(await sessions.find(first)).toBeNull();
    expect(await sessions.find(second)).toEqual({ ...ofAlice, ended: false });
  });

  test("closing a user's older ones leaves those opened since, and those of others", async () => {
    const older = [await sessions.open(ofAlice), await sessions.open({ user: alice, since: Position(6) })];
    const since = { user: alice, since: Position(7) };
    const newer = await sessions.open(since);
    const others = await sessions.open(ofBob);
    await sessions.closeOlder(alice, Position(7));
    expect(await Promise.all(older.map((token) => sessions.find(token)))).toEqual([null, null]);
    expect(await sessions.find(newer)).toEqual({ ...since, ended: false });
    expect(await sessions.find(others)).toEqual({ ...ofBob, ended: false });
  });

  test("ending a user's older ones leaves them to be found, and ends none opened since, nor those of others", async () => {
    const older = await sessions.open(ofAlice);
    const newer = await sessions.open({ user: alice, since: Position(7) });
    const others = await sessions.open(ofBob);
    await sessions.endOlder(alice, Position(7));
    expect(await sessions.find(older)).toEqual({ ...ofAlice, ended: true });
    expect(await sessions.find(newer)).toMatchObject({ ended: false });
    expect(await sessions.find(others)).toMatchObject({ ended: false });
  });

  test('one opened by a release that did not note it counts as opened before everything', async () => {
    await database.pool.query(
      "INSERT INTO sessions (token_hash, user_id, expires_at) VALUES (sha256('older release'), 1, $1)",
      [someInstant + day],
    );
    expect(await sessions.find('older release')).toEqual({ ...ofAlice, ended: false });
  });
});
