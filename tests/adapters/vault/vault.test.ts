import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type MasterKey, readMasterKey } from '../../../src/adapters/vault/master-key.js';
import { postgresVault } from '../../../src/adapters/vault/vault.js';
import type { Vault } from '../../../src/application/ports/storage-ports.js';
import { SecretId } from '../../../src/domain/kernel/ids.js';
import { someInstant } from '../../support/given/events.js';
import { type SettableClock, settableClock } from '../../support/given/fixed-clock.js';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/postgres.js';

describe('the vault', () => {
  let database: TestDatabase;
  let masterKey: MasterKey;
  let clock: SettableClock;
  let vault: Vault;

  beforeAll(async () => {
    database = await createTestDatabase();
    masterKey = await readMasterKey({ secretKey: 'a secret that is long enough: 32+', dataDir: '/nowhere' });
  });
  afterAll(() => database.drop());
  beforeEach(() => {
    clock = settableClock(someInstant);
    vault = newVault();
  });

  const newVault = () => postgresVault({ pool: database.pool, masterKey, clock });

  test('returns a secret by its id, on every node', async () => {
    const id = await vault.put('sk-密-1');
    expect(await vault.get(id)).toBe('sk-密-1');
    expect(await newVault().get(id)).toBe('sk-密-1');
  });

  test('keeps an empty secret', async () => {
    expect(await vault.get(await vault.put(''))).toBe('');
  });

  test('assigns two secrets two ids, even when they are the same', async () => {
    expect(await vault.put('same')).not.toBe(await vault.put('same'));
  });

  test('returns nothing for an unknown id', async () => {
    expect(await vault.get(SecretId('unknown'))).toBeNull();
  });

  test('returns many at once and omits the unknown', async () => {
    const a = await vault.put('a');
    const b = await vault.put('b');
    await vault.get(a);
    expect(await vault.getMany([a, b, SecretId('unknown'), a])).toEqual(
      new Map([
        [a, 'a'],
        [b, 'b'],
      ]),
    );
  });

  test('deletes a dropped secret', async () => {
    const id = await vault.put('secret');
    await vault.get(id);
    await vault.drop([id]);
    expect(await vault.get(id)).toBeNull();
  });

  test('notices within a minute that another node has dropped a secret', async () => {
    const id = await vault.put('secret');
    await vault.get(id);
    await newVault().drop([id]);
    clock.advance(60_000);
    expect(await vault.get(id)).toBeNull();
  });

  test('does not query again for a recently used secret', async () => {
    const id = await vault.put('secret');
    await vault.get(id);
    await database.pool.query('DELETE FROM vault_secrets');
    clock.advance(59_999);
    expect(await vault.get(id)).toBe('secret');
  });

  test('stores nothing readable, and never the same bytes twice', async () => {
    await database.pool.query('DELETE FROM vault_secrets');
    await vault.put('a very visible secret');
    await vault.put('a very visible secret');
    const { rows } = await database.pool.query<{ sealed: Buffer }>('SELECT sealed FROM vault_secrets');
    const [first, second] = rows.map(({ sealed }) => sealed);
    expect(first?.includes('visible')).toBe(false);
    expect(first?.equals(second ?? Buffer.alloc(0))).toBe(false);
  });

  test('does not decrypt a secret that was moved to another id', async () => {
    const a = await vault.put('a');
    const b = await vault.put('b');
    await database.pool.query(
      'UPDATE vault_secrets SET sealed = (SELECT sealed FROM vault_secrets WHERE id = $1) WHERE id = $2',
      [a, b],
    );
    await expect(vault.get(b)).rejects.toThrow();
  });

  test('does not decrypt a secret that was changed', async () => {
    const id = await vault.put('secret');
    await database.pool.query(
      'UPDATE vault_secrets SET sealed = set_byte(sealed, 30, get_byte(sealed, 30) # 1) WHERE id = $1',
      [id],
    );
    await expect(vault.get(id)).rejects.toThrow();
  });

  test('does not decrypt with another master key', async () => {
    const id = await vault.put('secret');
    const other = await readMasterKey({ secretKey: 'another secret that is long enough', dataDir: '/nowhere' });
    await expect(postgresVault({ pool: database.pool, masterKey: other, clock }).get(id)).rejects.toThrow();
  });

  describe('for hashes', () => {
    test('returns the same 64 hex digits for one text on every node', () => {
      expect(vault.hash('sk-1')).toMatch(/^[0-9a-f]{64}$/);
      expect(newVault().hash('sk-1')).toBe(vault.hash('sk-1'));
      expect(vault.hash('sk-2')).not.toBe(vault.hash('sk-1'));
    });

    test('requires the master key', async () => {
      const other = await readMasterKey({ secretKey: 'another secret that is long enough', dataDir: '/nowhere' });
      expect(postgresVault({ pool: database.pool, masterKey: other, clock }).hash('sk-1')).not.toBe(vault.hash('sk-1'));
    });
  });
});
