import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, type FileHandle, lchown, mkdir, mkdtemp, open, readdir, rename, rm, stat } from 'node:fs/promises';
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
  const directory = join(dataDir, 'postgres');
  await initialiseOnce(dataDir, directory, binaries, account);
  await clearDataDirectory(directory, superuser, options.log);
  const server = new EmbeddedServer(directory, binaries, account, await socketDirectory(dataDir, account), options.log);
  await server.start();
  await removeUnfinished(dataDir);
  return server;
}

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
    const { rows } = await this.ownerQuery('SELECT FROM pg_database WHERE datname = $1', [database]);
    if (rows.length === 0) await this.ownerQuery(`CREATE DATABASE ${database}`);
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await this.owner?.end();
    const { child } = this;
    if (child === null || child.exitCode !== null) return;
    const gone = once(child, 'exit');
    child.stdio[3]?.destroy();
    await gone;
  }
}
