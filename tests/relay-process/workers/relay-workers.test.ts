import cluster from 'node:cluster';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import type { DomainEvent, Recorded } from '../../../src/domain/events/events.js';
import { Position } from '../../../src/domain/events/events.js';
import type { WorkerSetting } from '../../../src/relay-process/workers/messages.js';
import { RelayWorkers, type RelayWorkersPorts } from '../../../src/relay-process/workers/relay-workers.js';
import { quietLog } from '../../support/quiet-log.js';
import { until } from '../../support/until.js';

/* What becomes of workers that fail, one way or another. */

const entry = fileURLToPath(new URL('../../support/frail-worker.mjs', import.meta.url));
/** A process has long to begin: one that takes its time on a busy machine is not stuck. */
const patience = { restartMs: 10, crashes: 4, askMs: 50, unanswered: 1_000, endMs: 1_000 };
const ports = {
  gate: { onSpent: () => {} },
  directory: { snapshot: (position: Position) => ({ channels: [], options: new Map(), prices: new Map(), position }) },
  position: () => Position(5),
  head: async () => Position(5),
  meterOf: () => ({ pending: () => 0 }),
} as unknown as RelayWorkersPorts;
const setting = {} as WorkerSetting;

const event = (position: number): Recorded =>
  ({ stream: 'options', position: Position(position), event: {} as DomainEvent }) as Recorded;
const pids = (): number[] => Object.values(cluster.workers ?? {}).map((worker) => worker?.process.pid ?? 0);

const started: RelayWorkers[] = [];

function frail(how: string, count = 2, unanswered = patience.unanswered) {
  process.env.FRAIL = how;
  const reasons: string[] = [];
  const workers = new RelayWorkers({
    count,
    log: quietLog,
    lost: (reason) => reasons.push(reason),
    entry,
    patience: { ...patience, unanswered },
  });
  started.push(workers);
  return { workers, reasons };
}

afterEach(async () => {
  for (const workers of started.splice(0)) await workers.stop();
  await until(async () => (pids().length === 0 ? true : null));
});

test('a start resolves with the port once all workers listen', async () => {
  const { workers, reasons } = frail('not at all');
  expect(await workers.start(ports, setting)).toBe(4711);
  expect([pids().length, reasons]).toEqual([2, []]);
});

test('a start rejects with the error that prevents a worker from listening', async () => {
  await expect(frail('refuses').workers.start(ports, setting)).rejects.toMatchObject({
    message: 'not today',
    code: 'EADDRINUSE',
  });
});

test('a worker that hangs is replaced by another', async () => {
  const { workers, reasons } = frail('stuck', 1, 200);
  await workers.start(ports, setting);
  const [first = 0] = pids();
  process.env.FRAIL = 'not at all';
  await until(async () => (pids().length === 1 && !pids().includes(first) ? true : null), 40_000);
  expect(reasons).toEqual([]);
}, 60_000);

test('workers that crash repeatedly are not restarted, and the reason is reported', async () => {
  const { workers, reasons } = frail('ends', 1);
  await workers.start(ports, setting);
  await until(async () => (reasons.length > 0 ? true : null));
  expect(reasons).toEqual(['Workers end again and again']);
  await until(async () => (pids().length === 0 ? true : null));
});

describe('a position in the log', () => {
  test('is reached when every worker has processed it; events that do not concern workers are reached at once', async () => {
    const { workers } = frail('not at all');
    await workers.start(ports, setting);
    expect(await workers.reached(Position(9), 0)).toBe(true);
    workers.take([event(10)]);
    expect(await workers.reached(Position(9), 60_000)).toBe(true);
    expect(await workers.reached(Position(10), 60_000)).toBe(true);
    workers.take([{ ...event(11), stream: 'call-x' } as Recorded]);
    expect(await workers.reached(Position(11), 0)).toBe(true);
  });

  test('is not reached while one worker has not processed it, and is when that worker is gone', async () => {
    const { workers } = frail('slow', 1);
    await workers.start(ports, setting);
    workers.take([event(10)]);
    expect(await workers.reached(Position(10), 30)).toBe(false);
    const reached = workers.reached(Position(10), 60_000);
    for (const pid of pids()) process.kill(pid, 'SIGKILL');
    expect(await reached).toBe(true);
  });
});
