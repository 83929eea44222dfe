import { execFile } from 'node:child_process';
import { mkdir, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type pg from 'pg';
import { pino } from 'pino';
import { newClient } from '../src/adapters/database/postgres.js';
import { attachEmbeddedPostgres } from '../src/adapters/embedded-postgres/attach-postgres.js';
import { type GatewayProcess, postmasterOf, startGatewayProcess } from '../tests/support/gateway/gateway-process.js';
import { endAllBelow, endPostgres, postgresWithBackends, servesData } from './processes.js';

/* Where the gateway under torture stands: its data on a disk of its own where that can be had, its clock, its Postgres. */

export interface Stand {
  readonly dataDir: string;
  /** Why its disk cannot be filled; null: it can. */
  readonly noDiskReason: string | null;
  /** The gateway that runs, or the last one that did. */
  gateway(): GatewayProcess;
  /** Starts one where none runs, or where it has another number of processes; an end it was not asked for is told. */
  ensure(workers: number): Promise<void>;
  /** kill -9 of the gateway, and of what is named beside it. */
  kill(beside?: readonly number[]): Promise<void>;
  postmaster(): Promise<number | null>;
  /** Somebody at the console of Postgres. */
  sql<Result>(work: (client: pg.Client) => Promise<Result>): Promise<Result>;
  /** The clock of gateways shows so much more than the machine's. */
  setClock(aheadMs: number): Promise<void>;
  /** Nothing more can be written, or again as before. */
  setDiskFull(full: boolean): Promise<void>;
  /** Ends of gateways that nobody had asked for. */
  readonly unasked: readonly string[];
  readonly starts: number;
  stop(): Promise<number | null>;
  /** At once and whatever is under way: nothing is left of what was started for it, and its disk is gone. */
  abandon(): Promise<void>;
}

const run = promisify(execFile);
const shim = pathToFileURL(fileURLToPath(new URL('clock-shim.mjs', import.meta.url))).href;
const diskSize = '2g';
const shownLines = 12;
const slackBytes = 128 * 1024;
const maxAttempts = 20;

/** As short as they may be: what waits for them waits in every cycle. */
const limits: Readonly<Record<string, string>> = {
  STREAMING_TIMEOUT: '2',
  RELAY_TIMEOUT: '3',
  CALLER_GONE_SECONDS: '1',
  APPEND_PATIENCE_SECONDS: '2',
  TAKEOVER_WAIT_SECONDS: '60',
  PROJECTION_LINGER_MS: '5',
};

/** Without them most of the load would be turned away before it reaches anything that can break. */
export const openLimits: Readonly<Record<string, string>> = {
  GLOBAL_API_RATE_LIMIT_ENABLE: 'false',
  GLOBAL_WEB_RATE_LIMIT_ENABLE: 'false',
  CRITICAL_RATE_LIMIT_ENABLE: 'false',
  OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8',
  OUTBOUND_ALLOW_HTTP: 'true',
};

async function ownDisk(directory: string): Promise<string | null> {
  if (process.getuid?.() !== 0) return 'a disk of its own takes root';
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${diskSize},mode=755`, 'torture', directory]);
    return null;
  } catch (error) {
    return `no disk of its own can be mounted: ${String(error).split('\n')[0]}`;
  }
}

export async function openStand(directory: string): Promise<Stand> {
  const disk = join(directory, 'disk');
  const dataDir = join(disk, 'data');
  const clock = join(directory, 'clock');
  await mkdir(disk, { recursive: true });
  await writeFile(clock, '0');
  const noDiskReason = await ownDisk(disk);
  const log = pino({ level: 'silent' });
  const unasked: string[] = [];
  let current: GatewayProcess | null = null;
  let running = false;
  let processes = 0;
  let starts = 0;
  let abandoned = false;

  const start = async (workers: number): Promise<void> => {
    if (abandoned) throw new Error('the torture has been ended');
    const variables = { ...limits, ...openLimits, WORKERS: String(workers), TORTURE_CLOCK: clock };
    const gateway = await startGatewayProcess(dataDir, { ...variables, NODE_OPTIONS: `--import=${shim}` });
    current = gateway;
    processes = workers;
    running = true;
    starts++;
    void gateway.ended.then((code) => {
      if (current !== gateway || !running) return;
      running = false;
      unasked.push(`ended with code ${code}: ${gateway.logged.slice(-shownLines).join('\n')}`);
    });
  };
  const gateway = (): GatewayProcess => {
    if (current === null) throw new Error('no gateway has been started yet');
    return current;
  };
  const stop = async (): Promise<number | null> => {
    if (current === null || !running) return null;
    running = false;
    return current.stop();
  };
  const removeDisk = async (): Promise<void> => {
    if (noDiskReason === null) await run('umount', [disk]).catch(() => run('umount', ['-l', disk]));
  };
  const remount = (size: string): Promise<unknown> => run('mount', ['-o', `remount,size=${size}`, disk]);

  /** No disk gets smaller than what is on it, and Postgres goes on writing while it is looked at. */
  const fill = async (): Promise<void> => {
    for (let attempt = 0; ; attempt++) {
      const { blocks, bfree, bsize } = await statfs(disk);
      try {
        await remount(String((blocks - bfree) * bsize + attempt * slackBytes));
        return;
      } catch (error) {
        if (attempt === maxAttempts) throw error;
      }
    }
  };

  return {
    dataDir,
    noDiskReason,
    gateway,
    unasked,
    get starts() {
      return starts;
    },
    async ensure(workers) {
      if (running && processes === workers) return;
      const code = await stop();
      if (code !== null && code !== 0) unasked.push(`did not stop in order: code ${code}`);
      await start(workers);
    },
    async kill(beside = []) {
      running = false;
      for (const pid of beside) process.kill(pid, 'SIGKILL');
      await current?.kill();
    },
    postmaster: () => postmasterOf(dataDir),
    async sql(work) {
      const { opened: client, stop: detach } = await attachEmbeddedPostgres({ dataDir, log }, async (connection) => {
        const opened = newClient(connection);
        opened.on('error', () => {});
        await opened.connect();
        return opened;
      });
      try {
        return await work(client);
      } finally {
        await client.end().catch(() => {});
        await detach();
      }
    },
    async setClock(aheadMs) {
      await writeFile(clock, String(aheadMs));
      await pause(50);
    },
    async setDiskFull(full) {
      if (noDiskReason !== null) return;
      if (!full) return void (await remount(diskSize));
      await fill();
    },
    async stop() {
      if (abandoned) return null;
      const code = await stop();
      await removeDisk();
      return code;
    },
    async abandon() {
      abandoned = true;
      running = false;
      const found = await postmasterOf(dataDir);
      const postmaster = found !== null && (await servesData(found, dataDir)) ? found : null;
      await endAllBelow(process.pid, new Set(postmaster === null ? [] : await postgresWithBackends(postmaster)));
      if (postmaster !== null) await endPostgres(postmaster);
      await endAllBelow(process.pid);
      await removeDisk();
    },
  };
}
