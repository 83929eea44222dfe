import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import type { Random } from '../src/demo/random.js';
import type { FaultKind } from './plan.js';
import { postgresWithBackends, signalAll, workersOf } from './processes.js';
import type { Stand } from './stand.js';

/* What befalls the gateway in the middle of its work. */

export interface Struck {
  /** What exactly was done, for the report. */
  readonly what: string;
  /** Whether the process that writes outcomes has died of it. */
  readonly killed: boolean;
}

interface FaultSetting {
  readonly stand: Stand;
  readonly random: Random;
  /** Faults last as long as they would in production. */
  readonly long: boolean;
}

const done = (what: string, killed = false): Struck => ({ what, killed });
const between = (random: Random, from: number, to: number): number => Math.round(from + random() * (to - from));
const oneOf = <Item>(items: readonly Item[], random: Random): Item | undefined =>
  items[Math.floor(random() * items.length)];

async function stopped(pids: readonly number[], ms: number): Promise<void> {
  signalAll(pids, 'SIGSTOP');
  try {
    await pause(ms);
  } finally {
    signalAll(pids, 'SIGCONT');
  }
}

async function postgresOf(stand: Stand): Promise<number[]> {
  const postmaster = await stand.postmaster();
  return postmaster === null ? [] : postgresWithBackends(postmaster);
}

async function pauseSomebody({ stand, random, long }: FaultSetting): Promise<Struck> {
  const ms = between(random, 500, long ? 5_000 : 1_500);
  const { pid } = stand.gateway();
  const workers = await workersOf(pid);
  const who = oneOf(['gateway', 'worker', 'Postgres'] as const, random) ?? 'gateway';
  const worker = who === 'worker' ? oneOf(workers, random) : undefined;
  if (worker !== undefined) await stopped([worker], ms);
  else if (who === 'Postgres') await stopped(await postgresOf(stand), ms);
  else await stopped([pid], ms);
  return done(`SIGSTOP of ${worker === undefined && who === 'worker' ? 'gateway' : who} for ${ms} ms`);
}

/** Others than the one that asks, and nobody who works for Postgres itself. */
const othersOf = async (client: pg.Client): Promise<number[]> => {
  const { rows } = await client.query<{ pid: number }>(
    `select pid from pg_stat_activity
     where pid <> pg_backend_pid() and datname = current_database() and backend_type = 'client backend' order by pid`,
  );
  return rows.map(({ pid }) => pid);
};

const endStatements = ({ stand, random, long }: FaultSetting): Promise<Struck> =>
  stand.sql(async (client) => {
    const rounds = between(random, 4, long ? 30 : 12);
    let ended = 0;
    for (let round = 0; round < rounds; round++) {
      const order = random() < 0.5 ? 'pg_cancel_backend' : 'pg_terminate_backend';
      const victims = (await othersOf(client)).filter(() => random() < 0.4);
      for (const pid of victims) await client.query(`select ${order}($1)`, [pid]);
      ended += victims.length;
      await pause(between(random, 10, 120));
    }
    return done(`${ended} statements and backends of Postgres ended in ${rounds} rounds`);
  });

const lockLog = ({ stand, random, long }: FaultSetting): Promise<Struck> =>
  stand.sql(async (client) => {
    const ms = long ? 30_000 : between(random, 1_500, 2_800);
    await client.query('begin; lock table events in access exclusive mode');
    await pause(ms);
    await client.query('commit');
    return done(`the event log locked for ${ms} ms`);
  });

async function fillDisk({ stand, random, long }: FaultSetting): Promise<Struck> {
  if (stand.noDiskReason !== null) return done(`skipped: ${stand.noDiskReason}`);
  const ms = between(random, 1_000, long ? 5_000 : 1_500);
  await stand.setDiskFull(true);
  await pause(ms);
  await stand.setDiskFull(false);
  return done(`no room on the disk for ${ms} ms`);
}

const maxStepMs = 2 * 3_600_000;

async function stepClock({ stand, random, long }: FaultSetting): Promise<Struck> {
  const steps = between(random, 2, long ? 6 : 3);
  const made: number[] = [];
  for (let step = 0; step < steps; step++) {
    const ahead = between(random, -maxStepMs, maxStepMs);
    await stand.setClock(ahead);
    made.push(Math.round(ahead / 1_000));
    await pause(between(random, 100, 400));
  }
  await stand.setClock(0);
  return done(`the gateway's clock set by ${made.join(', ')} s, and back`);
}

const faults: Readonly<Record<FaultKind, (setting: FaultSetting) => Promise<Struck>>> = {
  async 'kill-gateway'({ stand }) {
    await stand.kill();
    return done('kill -9 of the gateway', true);
  },
  async 'kill-worker'({ stand, random }) {
    const worker = oneOf(await workersOf(stand.gateway().pid), random);
    if (worker === undefined) throw new Error('there is no worker to be killed');
    process.kill(worker, 'SIGKILL');
    return done('kill -9 of a worker');
  },
  async 'kill-postgres'({ stand }) {
    const postmaster = await stand.postmaster();
    if (postmaster === null) throw new Error('there is no Postgres to be killed');
    process.kill(postmaster, 'SIGKILL');
    return done('kill -9 of Postgres');
  },
  async 'kill-all'({ stand }) {
    const workers = await workersOf(stand.gateway().pid);
    await stand.kill([...(await postgresOf(stand)), ...workers].filter((pid) => pid > 0));
    return done('kill -9 of gateway, workers and Postgres with its backends', true);
  },
  pause: pauseSomebody,
  'end-statements': endStatements,
  'lock-log': lockLog,
  'fill-disk': fillDisk,
  'step-clock': stepClock,
  'storm-upstream': async () => done('upstream resets, hangs, breaks off and answers garbage'),
};

export const strike = (kind: FaultKind, setting: FaultSetting): Promise<Struck> => faults[kind](setting);
