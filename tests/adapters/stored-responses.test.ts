import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { postgresStoredResponses } from '../../src/adapters/stored-responses.js';
import { readMasterKey } from '../../src/adapters/vault/master-key.js';
import { postgresPersonalData, type UserKeys } from '../../src/adapters/vault/personal-data.js';
import type { StoredResponse, StoredResponseRows } from '../../src/application/ports/stored-response-ports.js';
import { Failure } from '../../src/domain/kernel/failure.js';
import { UserId } from '../../src/domain/kernel/ids.js';
import { Instant } from '../../src/domain/kernel/instant.js';
import { someInstant } from '../support/given/events.js';
import { settableClock } from '../support/given/fixed-clock.js';
import { createTestDatabase, type TestDatabase } from '../support/postgres/postgres.js';

const alice = UserId(1);
const bob = UserId(2);
const wide = { responses: 100, bytes: 1_000_000 };
const beginning = Instant(0);

let database: TestDatabase;
let rows: StoredResponseRows;
let personal: ReturnType<typeof postgresPersonalData>;
let warned: Record<string, unknown>[];

const rowsWith = (keys: UserKeys): StoredResponseRows =>
  postgresStoredResponses({ pool: database.pool, keys, warn: (facts) => void warned.push(facts) });

const keysOf = async (secretKey: string) => {
  const masterKey = await readMasterKey({ secretKey, dataDir: '/nowhere' });
  return postgresPersonalData({ pool: database.pool, masterKey, clock: settableClock(someInstant) });
};
const idOf = (nth: number): string => `resp_20261128120000${String(nth).padStart(3, '0')}abcdefgh`;
const response = (userId: UserId, nth: number, text = `content ${nth}`): StoredResponse => ({
  userId,
  id: idOf(nth),
  at: Instant(1_000 + nth),
  content: Buffer.from(text),
});
const found = async (user: UserId, nth: number, since = beginning) =>
  (await rows.get(user, idOf(nth), since))?.toString() ?? null;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.pool.query('TRUNCATE user_keys, stored_response');
  personal = await keysOf('a secret that is long enough: 32+');
  warned = [];
  rows = rowsWith(personal);
});

describe('stored responses in Postgres', () => {
  test('are found by their user alone, until they are too old or removed', async () => {
    await rows.add([response(alice, 1), response(alice, 2), response(bob, 3)], wide);
    expect([await found(alice, 1), await found(bob, 3)]).toEqual(['content 1', 'content 3']);
    expect([await found(bob, 1), await found(alice, 1, Instant(1_002))]).toEqual([null, null]);
    expect([await rows.remove(bob, idOf(1)), await rows.remove(alice, idOf(1))]).toEqual([false, true]);
    expect([await found(alice, 1), await found(alice, 2)]).toEqual([null, 'content 2']);
    expect([
      await rows.removeAll(alice, someInstant),
      await rows.count(alice, beginning),
      await rows.count(bob, beginning),
    ]).toEqual([1, 0, 1]);
  });

  test('hold no readable word', async () => {
    await rows.add([response(alice, 1, 'a secret plan')], wide);
    const { rows: dumped } = await database.pool.query<{ text: string }>(
      `SELECT encode(sealed, 'escape') AS text FROM stored_response`,
    );
    expect(dumped).toHaveLength(1);
    expect(dumped[0]?.text).not.toMatch(/secret|plan/);
  });

  test('of other users are stored where one user’s key cannot be opened, and what was left out is said', async () => {
    await database.pool.query('INSERT INTO user_keys (user_id, wrapped_key) VALUES ($1, $2)', [
      alice,
      Buffer.alloc(60, 'sealed with another key'),
    ]);
    await rows.add([response(alice, 1), response(bob, 2), response(alice, 3), response(bob, 4)], wide);
    expect([await found(bob, 2), await found(bob, 4), await rows.count(alice, beginning)]).toEqual([
      'content 2',
      'content 4',
      0,
    ]);
    expect(warned).toMatchObject([
      { userId: alice, responseId: idOf(1) },
      { userId: alice, responseId: idOf(3) },
    ]);
  });

  test('are not added once they are deleted by another process, alone or with all of their user', async () => {
    expect([
      await rows.keepOut(alice, idOf(1), Instant(1_001)),
      await rows.keepOut(bob, idOf(2), Instant(1_001)),
    ]).toEqual([false, false]);
    await rows.add([response(alice, 1), response(alice, 2)], wide);
    expect([await found(alice, 1), await found(alice, 2), await rows.count(alice, beginning)]).toEqual([
      null,
      'content 2',
      1,
    ]);
    expect([await rows.remove(alice, idOf(1)), await rows.keepOut(alice, idOf(2), Instant(1_002))]).toEqual([
      false,
      true,
    ]);
    expect(await found(alice, 2)).toBeNull();
    expect(await rows.removeAll(alice, Instant(1_004))).toBe(0);
    await rows.add([response(alice, 3), response(alice, 4), response(alice, 5), response(bob, 4)], wide);
    expect([await found(alice, 4), await found(alice, 5), await found(bob, 4)]).toEqual([
      null,
      'content 5',
      'content 4',
    ]);
  });

  test('are added again where what kept them out is old, and kept out one by one up to a bound', async () => {
    for (let nth = 0; nth < 102; nth++) await rows.keepOut(alice, idOf(nth), Instant(1_000 + nth));
    await rows.add([response(alice, 99), response(alice, 100), response(alice, 101)], { responses: 2, bytes: 1_000 });
    expect([await found(alice, 99), await found(alice, 101)]).toEqual([null, 'content 101']);
    expect(await rows.purge(beginning, 1_000_000, Instant(1_099))).toMatchObject({ removed: 0 });
    await rows.add([response(alice, 98), response(alice, 99)], wide);
    expect([await found(alice, 98), await found(alice, 99)]).toEqual(['content 98', null]);
  });

  test('are not stored while the database cannot give a key', async () => {
    const makeKey = async (user: UserId, purpose: string) => {
      if (user === alice) throw new Failure('store-unavailable');
      return personal.makeKey(user, purpose);
    };
    const unavailable = rowsWith({ ...personal, makeKey });
    await expect(unavailable.add([response(bob, 1), response(alice, 2)], wide)).rejects.toThrow('store-unavailable');
    expect([await rows.count(bob, beginning), warned]).toEqual([0, []]);
  });

  test('of one user are bounded in number and bytes, the oldest going first', async () => {
    await rows.add([response(bob, 0)], wide);
    for (let nth = 1; nth <= 5; nth++) await rows.add([response(alice, nth)], { responses: 3, bytes: 1_000_000 });
    expect(await Promise.all([1, 2, 3, 4, 5].map(async (nth) => (await found(alice, nth)) !== null))).toEqual([
      false,
      false,
      true,
      true,
      true,
    ]);
    await rows.add([response(alice, 6, 'x'.repeat(500))], { responses: 100, bytes: 600 });
    expect([await found(alice, 4), await found(alice, 5), await found(bob, 0)]).toEqual([
      null,
      'content 5',
      'content 0',
    ]);
  });

  test('are purged by age, and beyond so many bytes of all users', async () => {
    await rows.add(
      [1, 2, 3, 4].map((nth) => response(nth % 2 ? alice : bob, nth, 'x'.repeat(100))),
      wide,
    );
    expect(await rows.purge(Instant(1_002), 1_000_000, beginning)).toMatchObject({ removed: 1 });
    expect(await rows.purge(beginning, 300, beginning)).toMatchObject({ removed: 1 });
    expect([await found(bob, 2), await rows.count(alice, beginning), await rows.count(bob, beginning)]).toEqual([
      null,
      1,
      1,
    ]);
  });

  test('cannot be opened with another key, for another id, or when the user’s key is destroyed', async () => {
    await rows.add([response(alice, 1), response(alice, 2)], wide);
    const other = rowsWith(await keysOf('another secret that is long enough'));
    expect(await other.get(alice, idOf(1), beginning)).toBe('unreadable');
    await database.pool.query(
      'UPDATE stored_response SET sealed = (SELECT sealed FROM stored_response WHERE response_id = $1) WHERE response_id = $2',
      [idOf(2), idOf(1)],
    );
    expect([await found(alice, 1), await found(alice, 2)]).toEqual(['unreadable', 'content 2']);
    await personal.forget([alice]);
    expect(await found(alice, 2)).toBe('unreadable');
    await rows.add([response(alice, 3), response(bob, 4)], wide);
    expect([await found(alice, 3), await found(bob, 4)]).toEqual([null, 'content 4']);
  });
});
