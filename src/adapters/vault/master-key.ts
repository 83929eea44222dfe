import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { link, mkdir, open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { invalidField } from '../../domain/kernel/failure.js';
import { keyBytes } from './sealing.js';

/* The one key everything secret depends on. It is used only to derive keys, one per purpose. */

export interface MasterKey {
  /** 32 bytes, always the same for the same purpose. */
  derive(purpose: string): Buffer;
}

const minSecretLength = 32;

/**
 * From SECRET_KEY, or without it (null) from the file `secret.key` in the data directory, made on first use. Throws
 * `invalid-field` naming SECRET_KEY when it is too short or its file may be read by others.
 */
export async function readMasterKey(options: {
  readonly secretKey: string | null;
  readonly dataDir: string;
}): Promise<MasterKey> {
  const secret = options.secretKey ?? (await secretFrom(options.dataDir));
  if (secret.length < minSecretLength) throw invalidField('SECRET_KEY', `at least ${minSecretLength} characters`);
  return { derive: (purpose) => Buffer.from(hkdfSync('sha256', secret, '', `tallygate ${purpose}`, keyBytes)) };
}

/**
 * Makes sure that this is the key the database was first used with; the first key it is shown is the one. Throws
 * `invalid-field` naming SECRET_KEY when it is another one, before anything unreadable is written.
 */
export async function verifyMasterKey(pool: Pool, masterKey: MasterKey): Promise<void> {
  const value = createHmac('sha256', masterKey.derive('check')).update('tallygate').digest();
  await pool.query('INSERT INTO master_key_check (value) VALUES ($1) ON CONFLICT DO NOTHING', [value]);
  const { rows } = await pool.query<{ value: Buffer }>('SELECT value FROM master_key_check');
  const stored = rows[0]?.value;
  if (stored === undefined || !timingSafeEqual(stored, value))
    throw invalidField('SECRET_KEY', 'the key this database was first started with (or its secret.key file)');
}

async function secretFrom(dataDir: string): Promise<string> {
  await mkdir(dataDir, { recursive: true });
  const file = join(dataDir, 'secret.key');
  const found = await stat(file).catch(() => null);
  if (found === null) await createSecret(dataDir, file);
  else if ((found.mode & 0o077) !== 0 && process.platform !== 'win32')
    throw invalidField('SECRET_KEY', `a file only its owner may read: chmod 600 ${file}`);
  return (await readFile(file, 'utf8')).trim();
}

/** Complete or not at all, on disk before it is used, and one for all processes that start together. */
async function createSecret(dataDir: string, file: string): Promise<void> {
  const unfinished = `${file}.${randomBytes(6).toString('hex')}`;
  await writeFile(unfinished, `${randomBytes(32).toString('base64url')}\n`, { flag: 'wx', mode: 0o600, flush: true });
  try {
    await link(unfinished, file);
  } catch (error) {
    // Another process was faster: its key it is.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    await rm(unfinished);
  }
  const directory = await open(dataDir, 'r');
  await directory.sync();
  await directory.close();
}
