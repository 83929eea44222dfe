import { execFile } from 'node:child_process';
import { readFile, readlink, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type pg from 'pg';
import { Failure } from '../../domain/kernel/failure.js';
import { newClient } from '../database/postgres.js';
import type { Log } from '../log.js';
import { isTemporarySocket } from './postgres-directories.js';

/*
 * What an earlier start may have left on a data directory: a stale lock file, or a Postgres whose owner has died. An
 * owner holds an advisory lock as long as it lives: a second instance has one and is left alone, an orphan has none and
 * may be stopped.
 */

export const ownerLock = 812470915372;
/** The lock is of one database; this one always exists. */
export const maintenanceDatabase = 'postgres';

interface Postmaster {
  readonly pid: number;
  readonly port: number;
  readonly socketDirectory: string;
}

const maxShutdownMs = 60_000;
/** How long a session of an owner that was killed may seem alive, until its backend has noticed. */
const lingeringMs = 2_000;

/**
 * Leaves the data directory without a running Postgres, and without a lock file that would stop the next one. Throws Failure `store-unavailable` when
 * a live process is using it.
 */
export async function clearDataDirectory(directory: string, user: string, log: Log): Promise<void> {
  const left = await readLockFile(directory);
  const deadline = Date.now() + maxShutdownMs;
  const owned = Date.now() + lingeringMs;
  let freeSightings = 0;
  for (let postmaster = await find(directory); postmaster !== null; postmaster = await find(directory)) {
    const { pid } = postmaster;
    if (Date.now() > deadline)
      throw new Failure('store-unavailable', {
        reason: `An earlier Postgres (process ${pid}) on ${directory} does not stop; end it.`,
      });
    const owner = await ownerOf(postmaster, user);
    if (owner === 'alive' && Date.now() > owned)
      throw new Failure('store-unavailable', {
        reason: `${directory} is in use by another running Tallygate (its Postgres is process ${pid}). Stop that one, or choose another DATA_DIR.`,
      });
    // Seen twice, as an owner that has just started Postgres needs a moment to take the lock.
    if (owner === 'dead' && ++freeSightings === 2) {
      log.warn({ pid }, 'stopping the Postgres of an earlier run that has lost its owner');
      if (isAlive(pid)) process.kill(pid, 'SIGINT');
    }
    await sleep(100);
  }
  if (left !== null && isTemporarySocket(left.socketDirectory))
    await rm(left.socketDirectory, { recursive: true, force: true });
}

/** What Postgres has noted about itself in the directory; it may be gone by now. */
async function readLockFile(directory: string): Promise<Postmaster | null> {
  const text = await readFile(lockFile(directory), 'utf8').catch(() => null);
  if (text === null) return null;
  const [pid, , , port, socketDirectory] = text.split('\n');
  return { pid: Number(pid), port: Number(port), socketDirectory: socketDirectory ?? '' };
}

/** The Postgres that runs on this directory; null also when only its lock file is left. */
async function find(directory: string): Promise<Postmaster | null> {
  const postmaster = await readLockFile(directory);
  // Postgres deals with the lock file of a dead process better than we could: it also looks for orphaned children.
  if (postmaster === null || !isAlive(postmaster.pid)) return null;
  if (await isPostgres(postmaster.pid, directory)) return postmaster;
  // But it would take whoever has been given that process number since for a Postgres, and refuse to start.
  await rm(lockFile(directory), { force: true });
  return null;
}

const lockFile = (directory: string): string => join(directory, 'postmaster.pid');

/** Of ours, or as root of anybody's. */
function isAlive(pid: number): boolean {
  try {
    // 0 and negative numbers would stand for groups of processes.
    return pid > 0 && process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Whether a live process is the Postgres of this directory. In doubt it is, and keeps its lock file. */
async function isPostgres(pid: number, directory: string): Promise<boolean> {
  try {
    // Postgres makes the data directory its working directory.
    if (process.platform === 'linux') return (await readlink(`/proc/${pid}/cwd`)) === (await realpath(directory));
    const { stdout } = await promisify(execFile)('ps', ['-o', 'comm=', '-p', String(pid)]);
    return stdout.includes('postgres');
  } catch {
    return true;
  }
}

/** unknown: it does not take connections, since it is starting or stopping. */
async function ownerOf({ port, socketDirectory }: Postmaster, user: string): Promise<'alive' | 'dead' | 'unknown'> {
  if (socketDirectory === '') return 'unknown';
  const client = newClient({ host: socketDirectory, port, user, database: maintenanceDatabase });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await isOwned(client)) ? 'alive' : 'dead';
  } catch {
    return 'unknown';
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Whether somebody holds the owner's lock. `client`: connected to the maintenance database, and ended right after. */
export async function isOwned(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ free: boolean }>('SELECT pg_try_advisory_lock($1) AS free', [ownerLock]);
  return rows[0]?.free !== true;
}
