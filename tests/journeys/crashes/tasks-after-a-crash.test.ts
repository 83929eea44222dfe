import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withDatabase } from '../../../src/cli/database.js';
import { type Config, readConfig } from '../../../src/config.js';
import type { TaskEvent } from '../../../src/domain/task/task.js';
import { prepareCallerData } from '../../support/callers/caller-data.js';
import { openCallers } from '../../support/callers/callers.js';
import { type GatewayProcess, startGatewayProcess } from '../../support/gateway/gateway-process.js';
import {
  expectLedgersToAgree,
  type LedgerSnapshot,
  ledgerAtRest,
  readLog,
} from '../../support/gateway/ledger-snapshot.js';
import { quietLog } from '../../support/quiet-log.js';
import { answers, type SunoServer, startSunoServer } from '../../support/stand-ins/suno-server.js';
import { until } from '../../support/until.js';

/*
 * A gateway is killed while songs are submitted, while they are made, and while they fail. Whatever was in progress, each
 * song that its server has taken and the log knows is charged once, and refunded once where it fails.
 */

const patience = 120_000;
const price = 50_000;
/** Songs of each wave; the gateway dies somewhere among them. */
const wave = 12;
let dataDir: string;
let config: Config;
let server: SunoServer;
let userId: number;
let apiKey: string;
let books: LedgerSnapshot;
const processes: GatewayProcess[] = [];
/** Ids that callers were answered with. */
const answered: string[] = [];

async function start(workers: string): Promise<GatewayProcess> {
  const gateway = await startGatewayProcess(dataDir, { WORKERS: workers, TASK_POLL_SECONDS: '1' });
  processes.push(gateway);
  return gateway;
}

/** Resolves when each of them is answered, or its connection is gone. */
async function submitWave({ url }: GatewayProcess, count: number): Promise<void> {
  const callers = openCallers(url);
  const caller = callers.with(apiKey);
  await Promise.all(
    Array.from({ length: count }, async () => {
      const sent = caller.send('/suno/submit/music', { method: 'POST', body: { prompt: 'la' } });
      const answer = await sent.catch(() => null);
      if (answer?.status === 200) answered.push(String((JSON.parse(answer.text) as { data: string }).data));
    }),
  );
  await callers.close();
}

const submits = () => server.count('/suno/submit');
const reaches = (count: number) => until(async () => (submits() >= count ? true : null), patience);

/** The gateway dies as soon as its upstream has been asked for so many more songs, and a moment later. */
async function dieAmidWave(gateway: GatewayProcess, afterMs: number): Promise<void> {
  const before = submits();
  const sending = submitWave(gateway, wave);
  await reaches(before + wave / 2);
  await pause(afterMs);
  await gateway.kill();
  await sending;
}

const isOdd = (id: string): boolean => Number(id.split('-')[1]) % 2 === 1;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'tallygate-tasks-'));
  config = readConfig({ DATA_DIR: dataDir, PORT: '0' });
  server = await startSunoServer();
  const prepared = { upstreamUrl: server.url, models: ['suno_music'], quota: 1_000 * price, channelType: 36 };
  ({ userId, apiKey } = await prepareCallerData(config, prepared));

  const first = await start('2');
  await submitWave(first, 4);
  await dieAmidWave(first, 0);
  const second = await start('1');
  await dieAmidWave(second, 15);

  const third = await start('1');
  // A submission that nobody answers: what became of it is unknown.
  server.next('/suno/submit', answers.silence);
  const before = submits();
  const unanswered = submitWave(third, 1);
  await reaches(before + 1);
  for (const id of server.tasks.keys())
    server.change(id, isOdd(id) ? { status: 'FAILURE', fail_reason: 'no' } : { status: 'SUCCESS', data: [] });
  // Killed while it hears of failures and gives back what they cost.
  const fetches = server.count('/suno/fetch');
  await until(async () => (server.count('/suno/fetch') > fetches ? true : null), patience);
  await third.kill();
  await unanswered;

  const last = await start('1');
  await until(async () => ((await isAtRest()) ? true : null), patience);
  await withDatabase(config, quietLog, async (database) => {
    books = await ledgerAtRest(database);
    await expectLedgersToAgree(database, books);
  });
  await last.stop();
}, 8 * patience);
afterAll(async () => {
  await Promise.all(processes.map((gateway) => gateway.kill()));
  await server?.stop();
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
});

/** Of events of these types, as the log has them now. */
const countsOf = (...types: readonly string[]): Promise<number[]> =>
  withDatabase(config, quietLog, async (database) => {
    const events = await readLog(database);
    return types.map((type) => events.filter(({ event }) => event.type === type).length);
  });
const isAtRest = async (): Promise<boolean> => {
  const types = ['TaskSubmitted', 'TaskSucceeded', 'TaskFailed', 'CallRefunded'];
  const [submitted = 0, succeeded = 0, failed = 0, refunded] = await countsOf(...types);
  return submitted === succeeded + failed && refunded === failed;
};

const taskEvents = (type: TaskEvent['type']): TaskEvent[] =>
  books.events.flatMap(({ event }) => (event.type === type ? [event as TaskEvent] : []));
const upstreamIds = (type: TaskEvent['type']): string[] =>
  taskEvents(type)
    .map(({ facts }) => facts.upstreamId)
    .sort();

describe('after crashes with songs in progress', () => {
  test('every song that a caller was answered with is known, once', () => {
    const known = upstreamIds('TaskSubmitted');
    expect(new Set(known).size).toBe(known.length);
    expect(known).toEqual(expect.arrayContaining(answered));
    expect(answered.length).toBeGreaterThanOrEqual(4);
  });

  test('every known song has one end, as its server says', () => {
    const known = upstreamIds('TaskSubmitted');
    expect(upstreamIds('TaskFailed')).toEqual(known.filter(isOdd));
    expect(upstreamIds('TaskSucceeded')).toEqual(known.filter((id) => !isOdd(id)));
  });

  test('every known song is charged once, and refunded once where it failed', () => {
    const failed = new Set(taskEvents('TaskFailed').map(({ facts }) => facts.callId as string));
    for (const { facts } of taskEvents('TaskSubmitted')) {
      const { settled, released, refunded } = books.calls.get(facts.callId) ?? expect.fail('a song without a call');
      expect([settled.length, released.length, settled[0]?.charged]).toEqual([1, 0, price]);
      expect(refunded.map(({ settlement }) => settlement.charged)).toEqual(failed.has(facts.callId) ? [price] : []);
    }
  });

  test('a call whose song the log does not know is released, and its cost is booked to suspense if it was sent', () => {
    const known = new Set(taskEvents('TaskSubmitted').map(({ facts }) => facts.callId as string));
    const others = [...books.calls].filter(([callId]) => !known.has(callId));
    expect(others.length).toBeGreaterThan(0);
    for (const [, { settled, released }] of others) expect([settled.length, released.length]).toEqual([0, 1]);
    expect(others.some(([, { released }]) => released[0]?.suspense === price)).toBe(true);
  });

  test('the user has paid for the songs that succeeded, and for nothing else', () => {
    expect(books.users.get(userId)).toMatchObject({ charged: taskEvents('TaskSucceeded').length * price });
  });
});
