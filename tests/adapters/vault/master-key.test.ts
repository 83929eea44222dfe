import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readMasterKey, verifyMasterKey } from '../../../src/adapters/vault/master-key.js';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/postgres.js';

const secretKey = 'a secret that is long enough: 32+';

describe('the master key', () => {
  let dataDir: string;
  const file = () => join(dataDir, 'secret.key');

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'tallygate-key-'));
  });
  afterEach(() => rm(dataDir, { recursive: true }));

  describe('from SECRET_KEY', () => {
    test('derives the same 32 bytes for the same purpose, and others for another', async () => {
      const key = await readMasterKey({ secretKey, dataDir });
      const again = await readMasterKey({ secretKey, dataDir });
      expect(key.derive('vault')).toHaveLength(32);
      expect(again.derive('vault')).toEqual(key.derive('vault'));
      expect(key.derive('sessions')).not.toEqual(key.derive('vault'));
    });

    test('derives the bytes of HKDF-SHA256, so that every release can decrypt what another one encrypted', async () => {
      const key = await readMasterKey({ secretKey, dataDir });
      expect(key.derive('vault').toString('hex')).toBe(
        'eb5ffdd211b8e4ee8c29d63e4b9e1c68fc442d3441f3bc334f038f8de3c4de6c',
      );
    });

    test('requires 32 characters', async () => {
      await expect(readMasterKey({ secretKey: 'x'.repeat(31), dataDir })).rejects.toMatchObject({
        code: 'invalid-field',
        details: { field: 'SECRET_KEY', allowed: 'at least 32 characters' },
      });
    });

    test('creates no file', async () => {
      await readMasterKey({ secretKey, dataDir });
      expect(await readdir(dataDir)).toEqual([]);
    });
  });

  describe('without SECRET_KEY', () => {
    test('is created on first use, in a file only its owner can read, and read again later', async () => {
      const made = await readMasterKey({ secretKey: null, dataDir });
      expect((await stat(file())).mode & 0o777).toBe(0o600);
      expect((await readFile(file(), 'utf8')).trim()).toMatch(/^[\w-]{43}$/);
      expect(await readdir(dataDir)).toEqual(['secret.key']);
      const found = await readMasterKey({ secretKey: null, dataDir });
      expect(found.derive('vault')).toEqual(made.derive('vault'));
    });

    test('is created in a data directory that does not exist yet', async () => {
      dataDir = join(dataDir, 'deeper');
      await readMasterKey({ secretKey: null, dataDir });
      expect((await stat(file())).isFile()).toBe(true);
      dataDir = join(dataDir, '..');
    });

    test('is one key for all processes that start at the same time', async () => {
      const keys = await Promise.all(Array.from({ length: 10 }, () => readMasterKey({ secretKey: null, dataDir })));
      expect(new Set(keys.map((key) => key.derive('vault').toString('hex'))).size).toBe(1);
      expect(await readdir(dataDir)).toEqual(['secret.key']);
    });

    test('is refused from a file that others can read', async () => {
      await writeFile(file(), secretKey);
      await chmod(file(), 0o640);
      await expect(readMasterKey({ secretKey: null, dataDir })).rejects.toMatchObject({ code: 'invalid-field' });
    });
  });

  describe('and a database', () => {
    let database: TestDatabase;
    beforeAll(async () => {
      database = await createTestDatabase();
    });
    afterAll(() => database.drop());

    test('must be the first key that the database was used with', async () => {
      const first = await readMasterKey({ secretKey, dataDir });
      const other = await readMasterKey({ secretKey: `${secretKey}!`, dataDir });
      await verifyMasterKey(database.pool, first);
      await expect(verifyMasterKey(database.pool, other)).rejects.toMatchObject({
        code: 'invalid-field',
        details: { field: 'SECRET_KEY' },
      });
      await verifyMasterKey(database.pool, first);
    });
  });
});
