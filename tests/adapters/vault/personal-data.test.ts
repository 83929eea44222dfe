import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type MasterKey, readMasterKey } from '../../../src/adapters/vault/master-key.js';
import { postgresPersonalData } from '../../../src/adapters/vault/personal-data.js';
import type { PersonalData } from '../../../src/application/ports/storage-ports.js';
import { Sealed, UserId } from '../../../src/domain/kernel/ids.js';
import { someInstant } from '../../support/given/events.js';
import { type SettableClock, settableClock } from '../../support/given/fixed-clock.js';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/postgres.js';

const alice = UserId(1);
const bob = UserId(2);

describe('personal data', () => {
  let database: TestDatabase;
  let masterKey: MasterKey;
  let clock: SettableClock;
  let personal: PersonalData;

  beforeAll(async () => {
    database = await createTestDatabase();
    masterKey = await readMasterKey({ secretKey: 'a secret that is long enough: 32+', dataDir: '/nowhere' });
  });
  afterAll(() => database.drop());
  beforeEach(async () => {
    await database.pool.query('TRUNCATE user_keys');
    clock = settableClock(someInstant);
    personal = newNode();
  });

  const newNode = () => postgresPersonalData({ pool: database.pool, masterKey, clock });

  test('is decrypted for its user, on every node', async () => {
    const sealed = await personal.seal(alice, 'alice@例.com');
    expect(await personal.open(alice, sealed)).toBe('alice@例.com');
    expect(await newNode().open(alice, sealed)).toBe('alice@例.com');
  });

  test('is decrypted for many users in order, omitting those without a key', async () => {
    const texts = [
      { user: alice, sealed: await personal.seal(alice, 'Alice') },
      { user: bob, sealed: await personal.seal(bob, 'Bob') },
      { user: alice, sealed: await personal.seal(alice, 'alice@example.org') },
    ];
    for (const node of [personal, newNode()])
      expect(await node.openAll(texts)).toEqual(['Alice', 'Bob', 'alice@example.org']);
    await personal.forget([alice]);
    expect(await personal.openAll(texts)).toEqual([null, 'Bob', null]);
    expect(await personal.openAll([])).toEqual([]);
  });

  test('is found by a token derived from the master key, the same on every node', async () => {
    const token = personal.searchToken('alice');
    expect(token).toMatch(/^[\w-]{12}$/);
    expect(newNode().searchToken('alice')).toBe(token);
    expect(personal.searchToken('alicE')).not.toBe(token);
    const other = await readMasterKey({ secretKey: 'another secret that is long enough', dataDir: '/nowhere' });
    const elsewhere = postgresPersonalData({ pool: database.pool, masterKey: other, clock });
    expect(elsewhere.searchToken('alice')).not.toBe(token);
  });

  test('may be empty', async () => {
    expect(await personal.open(alice, await personal.seal(alice, ''))).toBe('');
  });

  test('is encrypted as base64 that discloses nothing and is never the same twice', async () => {
    const sealed = await personal.seal(alice, 'alice');
    expect(sealed).toMatch(/^[A-Za-z0-9+/]+=*$/);
    expect(Buffer.from(sealed, 'base64').includes('alice')).toBe(false);
    expect(await personal.seal(alice, 'alice')).not.toBe(sealed);
  });

  test('is not decrypted for another user', async () => {
    const sealed = await personal.seal(alice, 'alice');
    await personal.seal(bob, 'bob');
    await expect(personal.open(bob, sealed)).rejects.toThrow();
  });

  test('is not decrypted with the key of another user in its place', async () => {
    await personal.seal(bob, 'bob');
    const sealed = await personal.seal(alice, 'alice');
    await database.pool.query(
      'UPDATE user_keys SET wrapped_key = (SELECT wrapped_key FROM user_keys WHERE user_id = $1) WHERE user_id = $2',
      [bob, alice],
    );
    await expect(newNode().open(alice, sealed)).rejects.toThrow();
  });

  test('is not decrypted when it was changed', async () => {
    const sealed = await personal.seal(alice, 'alice');
    const bytes = Buffer.from(sealed, 'base64');
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
    await expect(personal.open(alice, Sealed(bytes.toString('base64')))).rejects.toThrow();
  });

  test('of one user is encrypted with one key, with any number of concurrent nodes', async () => {
    const nodes = Array.from({ length: 5 }, newNode);
    const sealed = await Promise.all(nodes.map((node, n) => node.seal(alice, `text ${n}`)));
    const opened = await Promise.all(sealed.map((text) => personal.open(alice, text)));
    expect(opened).toEqual(['text 0', 'text 1', 'text 2', 'text 3', 'text 4']);
  });

  test('can be encrypted during a decryption for a user without a key', async () => {
    const [opened, sealed] = await Promise.all([
      personal.open(alice, Sealed('bm90aGluZw==')),
      personal.seal(alice, 'alice'),
    ]);
    expect(opened).toBeNull();
    expect(await personal.open(alice, sealed)).toBe('alice');
  });

  describe('of a user whose key is destroyed', () => {
    test('cannot be decrypted any more, and that of others can', async () => {
      const sealed = await personal.seal(alice, 'alice');
      const others = await personal.seal(bob, 'bob');
      await personal.forget([alice]);
      expect(await personal.open(alice, sealed)).toBeNull();
      expect(await newNode().open(alice, sealed)).toBeNull();
      expect(await personal.open(bob, others)).toBe('bob');
    });

    test('cannot be decrypted by another node after a minute', async () => {
      const sealed = await personal.seal(alice, 'alice');
      const other = newNode();
      await other.open(alice, sealed);
      await personal.forget([alice]);
      clock.advance(60_000);
      expect(await other.open(alice, sealed)).toBeNull();
    });

    test('gets no new key', async () => {
      await personal.seal(alice, 'alice');
      await personal.forget([alice]);
      await expect(personal.seal(alice, 'again')).rejects.toMatchObject({ code: 'user-not-found' });
      await expect(newNode().seal(alice, 'again')).rejects.toMatchObject({ code: 'user-not-found' });
    });

    test('leaves no key in the database', async () => {
      await personal.seal(alice, 'alice');
      await personal.forget([alice]);
      const { rows } = await database.pool.query('SELECT user_id, wrapped_key FROM user_keys');
      expect(rows).toEqual([{ user_id: 1, wrapped_key: null }]);
    });

    test('may never have had one', async () => {
      await personal.forget([bob]);
      await personal.forget([bob]);
      expect(await personal.open(bob, Sealed('bm90aGluZw=='))).toBeNull();
    });
  });
});
