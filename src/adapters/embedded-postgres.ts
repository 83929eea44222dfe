import { type ChildProcess, spawn } from 'node:child_process';
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
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { Failure } from '../domain/failure.js';
import type { Log } from './log.js';
import { newClient, type PostgresConnection } from './postgres.js';
import { type Account, isOpenTo, postgresAccount, postgresBinaries } from './postgres-binaries.js';
import { clearDataDirectory, maintenanceDatabase, ownerLock } from './running-postmaster.js';

/*
 * A real Postgres from the npm packages, run as a child for as long as this process lives. It listens on a unix socket
 * only, in a directory nobody else may enter; its files are under `${dataDir}/postgres`.
 */

export interface EmbeddedPostgres {
  readonly connection: PostgresConnection;
  /** Stops Postgres in order and resolves when it is gone. Close the pools first. */
  stop(): Promise<void>;
}

const superuser = 'postgres';
const database = 'tallygate';
/** Names the socket file; no port is opened. */
const port = 5432;

const settings: Readonly<Record<string, string>> = {
  listen_addresses: '',
  port: String(port),
  max_connections: '50',
  shared_buffers: '256MB',
  // An acknowledged event survives every crash.
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  // One server without replicas: less to write, and what is written compressed (this build has no lz4).
  wal_level: 'minimal',
  max_wal_senders: '0',
  wal_compression: 'on',
  wal_buffers: '16MB',
  // Few, spread-out checkpoints: after each, every page is logged whole once.
  max_wal_size: '2GB',
  checkpoint_timeout: '15min',
  autovacuum_naptime: '15s',
  random_page_cost: '1.1',
  jit: 'off',
  // Statements and values stay out of the log; the errors reach their callers.
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
  log_checkpoints: 'off',
  // Sending the lines is our logger's business, and it adds the time.
  log_line_prefix: '',
};

/**
 * Runs Postgres ("$@") and ends it in order when the pipe at descriptor 3 closes: when we ask for it, and also when we
 * are killed and can no longer ask.
 */
const supervisor = `
"$@" 3<&- &
postgres=$!
(read -r _ <&3; kill -INT "$postgres") 2>/dev/null &
watcher=$!
exec 3<&-
wait "$postgres"
status=$?
kill "$watcher" 2>/dev/null
[ -z "$TEMPORARY_SOCKET_DIR" ] || rmdir "$TEMPORARY_SOCKET_DIR" 2>/dev/null
exit "$status"
`;

/** Throws Failure `store-unavailable`, whose `reason` tells the operator what is in the way. */
export async function startEmbeddedPostgres(options: {
  readonly dataDir: string;
  readonly log: Log;
}): Promise<EmbeddedPostgres> {
  if (process.platform === 'win32')
    throw new Failure('store-unavailable', { reason: 'There is no embedded Postgres on Windows; set DATABASE_URL.' });
  const dataDir = resolve(options.dataDir);
  await mkdir(dataDir, { recursive: true });
  const account = postgresAccount();
  const binaries = await postgresBinaries(dataDir, account);
  const directory = await postgresDirectory(dataDir, binaries, account);
  const server = new EmbeddedServer(directory, binaries, account, await socketDirectory(dataDir, account), options.log);
  await server.start();
  await removeUnfinished(dataDir);
  return server;
}

/** A kill -9 of Postgres alone leaves its children for a moment, and they keep the next one out. */
const childrenRemain = /pre-existing shared memory block/;
const childrenRemainMs = 10_000;
const shutdownMs = 30_000;

class EmbeddedServer implements EmbeddedPostgres {
  readonly connection: PostgresConnection;
  private child: ChildProcess | null = null;
  private owner: pg.Client | null = null;
  private stopping = false;

  constructor(
    private readonly directory: string,
    private readonly binaries: string,
    private readonly account: Account,
    private readonly socket: SocketDirectory,
    private readonly log: Log,
  ) {
    this.connection = { host: socket.path, port, user: superuser, database };
  }

  async start(): Promise<void> {
    await this.launch();
    const { owner } = this;
    const exists = await owner?.query('SELECT FROM pg_database WHERE datname = $1', [database]);
    if (exists?.rowCount === 0) await owner?.query(`CREATE DATABASE ${database}`);
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await this.owner?.end();
    const { child } = this;
    if (child === null || !isRunning(child)) return;
    const gone = once(child, 'exit');
    child.stdio[3]?.destroy();
    const impatient = setTimeout(() => {
      this.log.warn({}, 'Postgres does not stop; ending it at once, it recovers at its next start');
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGQUIT');
    }, shutdownMs);
    await gone;
    clearTimeout(impatient);
  }

  private async launch(): Promise<void> {
    const deadline = Date.now() + childrenRemainMs;
    for (;;) {
      await clearDataDirectory(this.directory, superuser, this.log);
      const { child, lines } = await this.spawn();
      await this.claim(child);
      if (isRunning(child)) {
        this.child = child;
        child.once('exit', () => this.stopping || void this.relaunch());
        return;
      }
      const said = lines.join('\n');
      if (!childrenRemain.test(said) || Date.now() > deadline)
        throw new Failure('store-unavailable', { reason: `The embedded Postgres did not start. It said:\n${said}` });
      await sleep(200);
    }
  }

  private async relaunch(): Promise<void> {
    while (!this.stopping) {
      this.log.error({}, 'the embedded Postgres has ended; starting it again');
      try {
        await this.launch();
        return;
      } catch (error) {
        this.log.error({ err: error }, 'the embedded Postgres could not be started again');
        await sleep(1_000);
      }
    }
  }

  private async spawn(): Promise<{ readonly child: ChildProcess; readonly lines: readonly string[] }> {
    const reach = await reachable(this.directory, this.account);
    const options = Object.entries({ ...settings, unix_socket_directories: this.socket.path });
    const child = spawn(
      '/bin/sh',
      [
        ...['-c', supervisor, 'sh', join(this.binaries, 'bin', 'postgres'), '-D', reach.path],
        ...options.flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      ],
      {
        ...childOptions(this.account),
        env: { ...childEnvironment, TEMPORARY_SOCKET_DIR: this.socket.temporary ? this.socket.path : '' },
        // A session of its own: Ctrl-C is for us, who end Postgres last.
        detached: true,
        stdio: ['ignore', 'ignore', 'pipe', 'pipe', reach.handle?.fd ?? 'ignore'],
      },
    );
    const lines: string[] = [];
    if (child.stderr !== null)
      createInterface(child.stderr).on('line', (line) => {
        lines.push(line);
        if (lines.length > 20) lines.shift();
        this.log.info({ postgres: line }, 'postgres');
      });
    // A spawn that fails has no exit code, and would look like one that runs.
    await once(child, 'spawn').finally(() => reach.handle?.close());
    return { child, lines };
  }

  /** Waits until Postgres takes connections and marks it as owned by this process; gives up when it ends. */
  private async claim(child: ChildProcess): Promise<void> {
    while (isRunning(child) && !this.stopping) {
      const client = newClient({ ...this.connection, database: maintenanceDatabase });
      client.on('error', () => undefined);
      try {
        await client.connect();
        await client.query('SELECT pg_advisory_lock($1)', [ownerLock]);
        this.owner = client;
        client.once('end', () => void this.claim(child));
        return;
      } catch {
        await client.end().catch(() => undefined);
        await sleep(10);
      }
    }
  }
}

const isRunning = (child: ChildProcess): boolean => child.exitCode === null && child.signalCode === null;

const childEnvironment = { PATH: '/usr/bin:/bin', TZ: 'UTC' };
const childOptions = (account: Account) => ({ ...account, env: childEnvironment, cwd: '/' });

/** `${dataDir}/postgres`, initialised, belonging to the account that runs Postgres. */
async function postgresDirectory(dataDir: string, binaries: string, account: Account): Promise<string> {
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
async function removeUnfinished(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir))
    if (name.startsWith(unfinishedPrefix)) await rm(join(dataDir, name), { recursive: true, force: true });
}

async function initdb(directory: string, binaries: string, account: Account): Promise<void> {
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
async function reachable(directory: string, account: Account): Promise<{ path: string; handle: FileHandle | null }> {
  if (await isOpenTo(account, directory)) return { path: directory, handle: null };
  if (process.platform !== 'linux')
    throw new Failure('store-unavailable', {
      reason: `Postgres cannot run as root, and the user nobody cannot enter ${directory}. Start as another user or choose another DATA_DIR.`,
    });
  return { path: '/proc/self/fd/4', handle: await open(directory, 'r') };
}

interface SocketDirectory {
  readonly path: string;
  /** Made for this start only. */
  readonly temporary: boolean;
}

/** Bytes in the path of a unix socket, on the stricter of our systems (macOS). */
const longestSocketPath = 103;

async function socketDirectory(dataDir: string, account: Account): Promise<SocketDirectory> {
  const beside = join(dataDir, 'postgres-socket');
  const temporary =
    Buffer.byteLength(join(beside, `.s.PGSQL.${port}`)) > longestSocketPath || !(await isOpenTo(account, dataDir));
  const path = temporary ? await mkdtemp(join(tmpdir(), 'tallygate-')) : beside;
  await mkdir(path, { recursive: true });
  await chmod(path, 0o700);
  if (account !== null) await chown(path, account.uid, account.gid);
  return { path, temporary };
}

/** Makes the account the owner of a directory and of all that is in it. */
async function give(directory: string, account: Account): Promise<void> {
  if (account === null) return;
  const names = await readdir(directory, { recursive: true });
  for (const path of [directory, ...names.map((name) => join(directory, name))])
    await lchown(path, account.uid, account.gid);
}

const statOrNull = (path: string) => stat(path).catch(() => null);
