import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { Failure } from '../../domain/kernel/failure.js';
import { newClient, type PostgresConnection } from '../database/postgres.js';
import type { Log } from '../log.js';
import { postgresAccount, postgresBinaries, type SystemAccount } from './postgres-binaries.js';
import {
  childEnvironment,
  childOptions,
  postgresDirectory,
  prepareSocket,
  reachable,
  removeUnfinished,
  type SocketDirectory,
  socketDirectory,
  socketPort,
  superuser,
} from './postgres-directories.js';
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

const database = 'tallygate';
/** Where our tables are, and who owns them. */
export const embeddedDatabase = { user: superuser, database } as const;

const settings: Readonly<Record<string, string>> = {
  listen_addresses: '',
  port: String(socketPort),
  // A node under load holds about 55; beside it there are those of verify, replay and an operator.
  max_connections: '200',
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
if [ -n "$TEMPORARY_SOCKET_DIR" ]; then
  rm -f "$TEMPORARY_SOCKET_DIR"/.s.PGSQL.*
  rmdir "$TEMPORARY_SOCKET_DIR"
fi
exit "$status"
`;

/** Throws Failure `store-unavailable`, whose `reason` says to the operator what is in the way. */
export async function startEmbeddedPostgres(options: {
  readonly dataDir: string;
  readonly log: Log;
  /** Called when it has been started; it may take its time until it answers. */
  readonly launched?: () => void;
}): Promise<EmbeddedPostgres> {
  if (process.platform === 'win32')
    throw new Failure('store-unavailable', { reason: 'There is no embedded Postgres on Windows; set DATABASE_URL.' });
  const dataDir = resolve(options.dataDir);
  await mkdir(dataDir, { recursive: true });
  const account = postgresAccount();
  const binaries = await postgresBinaries(dataDir, account);
  const directory = await postgresDirectory(dataDir, binaries, account);
  await clearDataDirectory(directory, superuser, options.log);
  const server = new EmbeddedServer({
    ...{ directory, binaries, account, log: options.log },
    socket: await socketDirectory(dataDir, account),
  });
  await server.start(options.launched);
  await removeUnfinished(dataDir);
  return server;
}

/** A kill -9 of Postgres alone leaves its children for a moment, and they keep the next one out. */
const childrenRemain = /pre-existing shared memory block/;
const childrenRemainMs = 10_000;
const shutdownMs = 30_000;
const attemptPauseMs = 10;
/** Every five seconds or so: after a crash it may be replaying its log for a while. */
const attemptsPerWarning = 500;

/** What Postgres says of itself that an operator must know; that it is starting or recovering is no news. */
const worthLogging =
  /^(WARNING|ERROR|PANIC|FATAL(?!: {2}the database system is (starting up|shutting down|not yet accepting connections)))/;
/** No news where it was asked to stop. */
const endedByStop = /^FATAL: {2}terminating .* due to administrator command/;

interface ServerSetting {
  readonly directory: string;
  readonly binaries: string;
  readonly account: SystemAccount;
  readonly socket: SocketDirectory;
  readonly log: Log;
}

class EmbeddedServer implements EmbeddedPostgres {
  readonly connection: PostgresConnection;
  private child: ChildProcess | null = null;
  private owner: pg.Client | null = null;
  private relaunching: Promise<void> | null = null;
  private stopping = false;

  constructor(private readonly setting: ServerSetting) {
    this.connection = { host: setting.socket.path, port: socketPort, user: superuser, database };
  }

  async start(launched?: () => void): Promise<void> {
    await this.launch(launched);
    const { owner } = this;
    const exists = await owner?.query('SELECT FROM pg_database WHERE datname = $1', [database]);
    if (exists?.rowCount === 0) await owner?.query(`CREATE DATABASE ${database}`);
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await this.relaunching;
    await this.owner?.end();
    const { child } = this;
    if (child === null || !isRunning(child)) return;
    const gone = once(child, 'exit');
    child.stdio[3]?.destroy();
    const impatient = setTimeout(() => {
      this.setting.log.warn({}, 'Postgres does not stop; ending it at once, it recovers at its next start');
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGQUIT');
    }, shutdownMs);
    await gone;
    clearTimeout(impatient);
  }

  /** Resolves when Postgres takes connections and is ours, or as soon as it is to be stopped. */
  private async launch(launched?: () => void): Promise<void> {
    const deadline = Date.now() + childrenRemainMs;
    for (;;) {
      const { child, said } = await this.spawn();
      this.child = child;
      launched?.();
      await this.claim(child);
      if (isRunning(child)) {
        child.once('exit', () => {
          if (!this.stopping) this.relaunching = this.relaunch();
        });
        return;
      }
      const reason = await said;
      if (!childrenRemain.test(reason) || Date.now() > deadline)
        throw new Failure('store-unavailable', { reason: `The embedded Postgres did not start. It said:\n${reason}` });
      await sleep(200);
    }
  }

  private async relaunch(): Promise<void> {
    while (!this.stopping) {
      this.setting.log.error({}, 'the embedded Postgres has ended; starting it again');
      try {
        // Should only its supervisor have died, this makes it an orphan, which may be stopped.
        await this.owner?.end();
        await clearDataDirectory(this.setting.directory, superuser, this.setting.log);
        await this.launch();
        return;
      } catch (error) {
        this.setting.log.error({ err: error }, 'the embedded Postgres could not be started again');
        await sleep(1_000);
      }
    }
  }

  /** `said`: the last lines of its log, once it has ended. */
  private async spawn(): Promise<{ readonly child: ChildProcess; readonly said: Promise<string> }> {
    await prepareSocket(this.setting.socket, this.setting.account);
    const reach = await reachable(this.setting.directory, this.setting.account);
    const options = Object.entries({ ...settings, unix_socket_directories: this.setting.socket.path });
    const child = spawn(
      '/bin/sh',
      [
        ...['-c', supervisor, 'sh', join(this.setting.binaries, 'bin', 'postgres'), '-D', reach.path],
        ...options.flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      ],
      {
        ...childOptions(this.setting.account),
        env: {
          ...childEnvironment,
          TEMPORARY_SOCKET_DIR: this.setting.socket.temporary ? this.setting.socket.path : '',
        },
        // A session of its own: Ctrl-C is for us, who end Postgres last.
        detached: true,
        stdio: ['ignore', 'ignore', 'pipe', 'pipe', reach.handle?.fd ?? 'ignore'],
      },
    );
    // Nothing is ever sent through the pipe; that it breaks when its reader is killed is no news to us.
    child.stdio[3]?.on('error', () => undefined);
    const lines: string[] = [];
    if (child.stderr !== null)
      createInterface(child.stderr).on('line', (line) => {
        lines.push(line);
        if (lines.length > 20) lines.shift();
        const isNews = worthLogging.test(line) && !(this.stopping && endedByStop.test(line));
        this.setting.log[isNews ? 'warn' : 'debug']({ postgres: line }, 'postgres');
      });
    // A spawn that fails has no exit code, and would look like one that runs.
    await once(child, 'spawn').finally(() => reach.handle?.close());
    return { child, said: once(child, 'close').then(() => lines.join('\n')) };
  }

  /** Waits until Postgres takes connections and marks it as owned by this process; gives up when it ends. */
  private async claim(child: ChildProcess): Promise<void> {
    for (let attempt = 1; isRunning(child) && !this.stopping; attempt++) {
      const client = newClient({ ...this.connection, database: maintenanceDatabase });
      client.on('error', () => undefined);
      try {
        await client.connect();
        await client.query('SELECT pg_advisory_lock($1)', [ownerLock]);
        this.owner = client;
        client.once('end', () => void this.claim(child));
        return;
      } catch (error) {
        await client.end().catch(() => undefined);
        if (attempt % attemptsPerWarning === 0)
          this.setting.log.warn({ reason: String(error) }, 'the embedded Postgres does not take connections yet');
        await sleep(attemptPauseMs);
      }
    }
  }
}

const isRunning = (child: ChildProcess): boolean => child.exitCode === null && child.signalCode === null;
