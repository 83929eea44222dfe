import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmod,
  chown,
  type FileHandle,
  lchown,
  mkdir,
  mkdtemp,
  open,
  readdir,
  rename,
  rm,
  stat,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure } from '../../domain/kernel/failure.js';
import { isOpenTo, type SystemAccount } from './postgres-binaries.js';

/* The directories of an embedded Postgres: its data and its socket, made for and reached by the account it runs under. */

export const superuser = 'postgres';
/** Names the socket file; no port is opened. */
export const socketPort = 5432;

export const childEnvironment = { PATH: '/usr/bin:/bin', TZ: 'UTC' };
/** For every program of Postgres: as that account, with nothing of our environment. */
export const childOptions = (account: SystemAccount) => ({ ...account, env: childEnvironment, cwd: '/' });

/** `${dataDir}/postgres`, initialised, belonging to the account that runs Postgres. */
export async function postgresDirectory(dataDir: string, binaries: string, account: SystemAccount): Promise<string> {
  const directory = join(dataDir, 'postgres');
  const version = join(directory, 'PG_VERSION');
  if ((await statOrNull(version)) === null) {
    // Elsewhere first: a start that is killed half-way leaves nothing that looks like a database.
    const unfinished = await mkdtemp(join(dataDir, unfinishedPrefix));
    await give(unfinished, account);
    await initdb(unfinished, binaries, account);
    await rename(unfinished, directory).catch(() => rm(unfinished, { recursive: true, force: true }));
  }
  const found = await statOrNull(version);
  if (found === null)
    throw new Failure('store-unavailable', { reason: `${directory} holds something else than Postgres data.` });
  if (account !== null && found.uid !== account.uid) await give(directory, account);
  if (account === null && found.uid !== process.getuid?.())
    throw new Failure('store-unavailable', {
      reason: `${directory} belongs to another user. Start Tallygate as that user or as root, or choose another DATA_DIR.`,
    });
  return directory;
}

const unfinishedPrefix = 'postgres-unfinished-';

/** What killed first starts have left. Only for the process whose Postgres runs: all others have lost. */
export async function removeUnfinished(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir))
    if (name.startsWith(unfinishedPrefix)) await rm(join(dataDir, name), { recursive: true, force: true });
}

async function initdb(directory: string, binaries: string, account: SystemAccount): Promise<void> {
  const reach = await reachable(directory, account);
  const locale = ['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C', '--encoding=UTF8'];
  // Who may enter the socket directory is decided by its owner: no password would add to that.
  const access = [`--username=${superuser}`, '--auth=trust'];
  const child = spawn(
    join(binaries, 'bin', 'initdb'),
    [`--pgdata=${reach.path}`, '--no-instructions', ...access, ...locale],
    { ...childOptions(account), stdio: ['ignore', 'ignore', 'pipe', 'ignore', reach.handle?.fd ?? 'ignore'] },
  );
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    if (code !== 0)
      throw new Failure('store-unavailable', { reason: `Postgres could not be set up. It said:\n${said}` });
  } finally {
    await reach.handle?.close();
  }
}

/**
 * A path by which the account can get to a directory of its own. Where a parent is closed to it (/root), that is the
 * directory's descriptor, opened by us and handed down as number 4.
 */
export async function reachable(
  directory: string,
  account: SystemAccount,
): Promise<{ path: string; handle: FileHandle | null }> {
  if (await isOpenTo(account, directory)) return { path: directory, handle: null };
  if (process.platform !== 'linux')
    throw new Failure('store-unavailable', {
      reason: `Postgres cannot run as root, and the user nobody cannot enter ${directory}. Start as another user or choose another DATA_DIR.`,
    });
  return { path: '/proc/self/fd/4', handle: await open(directory, 'r') };
}

export interface SocketDirectory {
  readonly path: string;
  /** Made for this start only. */
  readonly temporary: boolean;
}

/** Bytes in the path of a unix socket, on the stricter of our systems (macOS). */
const maxSocketPathLength = 103;

const temporarySocketPrefix = join(tmpdir(), 'tallygate-socket-');
export const isTemporarySocket = (path: string): boolean => path.startsWith(temporarySocketPrefix);

export async function socketDirectory(dataDir: string, account: SystemAccount): Promise<SocketDirectory> {
  const beside = join(dataDir, 'postgres-socket');
  const temporary =
    Buffer.byteLength(join(beside, `.s.PGSQL.${socketPort}`)) > maxSocketPathLength ||
    !(await isOpenTo(account, dataDir));
  return { path: temporary ? await mkdtemp(temporarySocketPrefix) : beside, temporary };
}

/** For each launch anew: the supervisor takes a temporary one away when Postgres ends. */
export async function prepareSocket({ path }: SocketDirectory, account: SystemAccount): Promise<void> {
  await mkdir(path, { recursive: true });
  await chmod(path, 0o700);
  if (account !== null) await chown(path, account.uid, account.gid);
}

/** Makes the account the owner of a directory and of all that is in it. */
async function give(directory: string, account: SystemAccount): Promise<void> {
  if (account === null) return;
  const names = await readdir(directory, { recursive: true });
  for (const path of [directory, ...names.map((name) => join(directory, name))])
    await lchown(path, account.uid, account.gid);
}

const statOrNull = (path: string) => stat(path).catch(() => null);
