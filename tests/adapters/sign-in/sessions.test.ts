import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { postgresSessions } from '../../../src/adapters/sign-in/sessions.js';
import { type MasterKey, readMasterKey } from '../../../src/adapters/vault/master-key.js';
import type { Sessions } from '../../../src/application/ports/storage-ports.js';
import { beginning, Position } from '../../../src/domain/events/events.js';
import { UserId } from '../../../src/domain/kernel/ids.js';
import { someClient } from '../../support/gateway/sign-in.js';
import { someInstant } from '../../support/given/events.js';
import { type SettableClock, settableClock } from '../../support/given/fixed-clock.js';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/postgres.js';

const alice = UserId(1);
const bob = UserId(2);
const ofAlice = { user: alice, since: beginning };
const ofBob = { user: bob, since: beginning };
const day = 24 * 60 * 60 * 1000;

describe('the session store', () => {
  let database: TestDatabase;
  let masterKey: MasterKey;
  let clock: SettableClock;
  let sessions: Sessions;

  beforeAll(async () => {
    database = await createTestDatabase();
    masterKey = await readMasterKey({ secretKey: 'a secret that is long enough: 32+', dataDir: '/nowhere' });
  });
  afterAll(() => database.drop());
  beforeEach(async () => {
    await database.pool.query('TRUNCATE sessions');
    clock = settableClock(someInstant);
    sessions = postgresSessions({ pool: database.pool, masterKey, clock });
  });

  test('finds a session by its token of 32 random bytes', async () => {
    const token = await sessions.open(ofAlice, someClient);
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(await sessions.find(token)).toEqual({ ...ofAlice, ended: false });
    expect(await sessions.open(ofAlice, someClient)).not.toBe(token);
  });

  test('finds no session for an unknown token', async () => {
    expect(await sessions.find('unknown')).toBeNull();
    expect(await sessions.find('')).toBeNull();
  });

  test('does not store the token', async () => {
    const token = await sessions.open(ofAlice, someClient);
    const { rows } = await database.pool.query<{ row: string }>('SELECT sessions::text AS row FROM sessions');
    expect(rows).toHaveLength(1);
    expect(rows[0]?.row).not.toContain(token);
    expect(rows[0]?.row).not.toContain(Buffer.from(token, 'base64url').toString('hex'));
    expect(rows[0]?.row).not.toContain(Buffer.from(token).toString('hex'));
  });

  test('ends a session after 30 days', async () => {
    const token = await sessions.open(ofAlice, someClient);
    clock.advance(30 * day - 1);
    expect(await sessions.find(token)).toEqual({ ...ofAlice, ended: false });
    clock.advance(1);
    expect(await sessions.find(token)).toBeNull();
  });

  test('removes expired sessions at the next sign-in', async () => {
    await sessions.open(ofAlice, someClient);
    clock.advance(15 * day);
    await sessions.open(ofAlice, someClient);
    clock.advance(15 * day);
    await sessions.open(ofBob, someClient);
    const { rows } = await database.pool.query('SELECT user_id FROM sessions ORDER BY expires_at');
    expect(rows).toEqual([{ user_id: 1 }, { user_id: 2 }]);
  });

  test('closes one session and leaves the others', async () => {
    const first = await sessions.open(ofAlice, someClient);
    const second = await sessions.open(ofAlice, someClient);
    await sessions.close(first);
    expect(await sessions.find(first)).toBeNull();
    expect(await sessions.find(second)).toEqual({ ...ofAlice, ended: false });
  });

  test("closes a user's older sessions and leaves newer ones, and those of others", async () => {
    const older = [
      await sessions.open(ofAlice, someClient),
      await sessions.open({ user: alice, since: Position(6) }, someClient),
    ];
    const since = { user: alice, since: Position(7) };
    const newer = await sessions.open(since, someClient);
    const others = await sessions.open(ofBob, someClient);
    await sessions.closeOlder(alice, Position(7));
    expect(await Promise.all(older.map((token) => sessions.find(token)))).toEqual([null, null]);
    expect(await sessions.find(newer)).toEqual({ ...since, ended: false });
    expect(await sessions.find(others)).toEqual({ ...ofBob, ended: false });
  });

  test("ends a user's older sessions without removing them, and ends no newer ones, nor those of others", async () => {
    const older = await sessions.open(ofAlice, someClient);
    const newer = await sessions.open({ user: alice, since: Position(7) }, someClient);
    const others = await sessions.open(ofBob, someClient);
    await sessions.endOlder(alice, Position(7));
    expect(await sessions.find(older)).toEqual({ ...ofAlice, ended: true });
    expect(await sessions.find(newer)).toMatchObject({ ended: false });
    expect(await sessions.find(others)).toMatchObject({ ended: false });
  });

  const onPhone = { network: '198.51.100.7', userAgent: 'Phone/2.0' };

  test('lists sessions, newest first, with their address and the time of their last use', async () => {
    await sessions.open(ofAlice, someClient);
    await sessions.open(ofBob, someClient);
    clock.advance(day);
    const second = await sessions.open({ user: alice, since: Position(7) }, onPhone);
    const openedAt = clock.now();
    clock.advance(day);
    await sessions.find(second);
    const newest = { id: sessions.idOf(second), openedAt, seenAt: clock.now(), client: onPhone };
    const oldest = { openedAt: someInstant, seenAt: someInstant, client: someClient };
    expect(await sessions.openOf(alice, beginning)).toEqual([newest, { ...oldest, id: expect.any(String) }]);
    expect(await sessions.openOf(alice, Position(7))).toEqual([newest]);
    await sessions.endOlder(alice, Position(8));
    expect(await sessions.openOf(alice, beginning)).toEqual([]);
  });

  test('writes to a session in constant use every few minutes only', async () => {
    const token = await sessions.open(ofAlice, someClient);
    const seenAt = async () => (await sessions.openOf(alice, beginning))[0]?.seenAt;
    clock.advance(5 * 60_000 - 1);
    await sessions.find(token);
    expect(await seenAt()).toBe(someInstant);
    clock.advance(1);
    await sessions.find(token);
    expect(await seenAt()).toBe(clock.now());
  });

  test('discloses neither tokens nor, in the database, client addresses', async () => {
    const token = await sessions.open(ofAlice, onPhone);
    expect(token).not.toContain(sessions.idOf(token));
    const { rows } = await database.pool.query<{ client: Buffer }>('SELECT client FROM sessions');
    expect(rows[0]?.client.toString('latin1')).not.toMatch(/Phone|198/);
  });

  test('keeps the name of a browser up to a limit', async () => {
    await sessions.open(ofAlice, { network: '', userAgent: 'x'.repeat(10_000) });
    expect((await sessions.openOf(alice, beginning))[0]?.client.userAgent).toHaveLength(256);
  });

  test('closes a session by its id, for its own user only', async () => {
    const token = await sessions.open(ofAlice, someClient);
    const id = sessions.idOf(token);
    expect(await sessions.closeOne(bob, id)).toBe(false);
    expect(await sessions.find(token)).not.toBeNull();
    expect(await sessions.closeOne(alice, id)).toBe(true);
    expect(await sessions.find(token)).toBeNull();
  });

  test('closes all sessions except one, and leaves those of others', async () => {
    const tokens = [await sessions.open(ofAlice, someClient), await sessions.open(ofAlice, someClient)];
    const kept = await sessions.open(ofAlice, someClient);
    const others = await sessions.open(ofBob, someClient);
    expect((await sessions.closeOthers(alice, sessions.idOf(kept))).toSorted()).toEqual(
      tokens.map((token) => sessions.idOf(token)).toSorted(),
    );
    expect(await sessions.find(kept)).not.toBeNull();
    expect(await sessions.find(others)).not.toBeNull();
  });

  test('counts a session of a release without a creation position as older than everything', async () => {
    await database.pool.query(
      "INSERT INTO sessions (token_hash, user_id, expires_at) VALUES (sha256('older release'), 1, $1)",
      [someInstant + day],
    );
    expect(await sessions.openOf(alice, beginning)).toEqual([
      {
        id: sessions.idOf('older release'),
        openedAt: someInstant - 29 * day,
        seenAt: someInstant - 29 * day,
        client: { network: '', userAgent: '' },
      },
    ]);
    expect(await sessions.find('older release')).toEqual({ ...ofAlice, ended: false });
  });
});
