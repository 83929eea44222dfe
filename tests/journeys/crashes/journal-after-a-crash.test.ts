import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { newClient } from '../../../src/adapters/database/postgres.js';
import { attachEmbeddedPostgres } from '../../../src/adapters/embedded-postgres/attach-postgres.js';
import { withDatabase } from '../../../src/cli/database.js';
import { type Config, readConfig } from '../../../src/config.js';
import { type SimulatedProvider, startSimulatedProvider } from '../../../src/demo/simulated-provider.js';
import type { UserId } from '../../../src/domain/kernel/ids.js';
import { openReadModels } from '../../../src/projections/read-models.js';
import { prepareCallerData } from '../../support/callers/caller-data.js';
import { isWholeStream, openCallers } from '../../support/callers/callers.js';
import { type GatewayProcess, postmasterOf, startGatewayProcess } from '../../support/gateway/gateway-process.js';
import { expectLedgersToAgree, type LedgerSnapshot, ledgerAtRest } from '../../support/gateway/ledger-snapshot.js';
import { balanceOf } from '../../support/postgres/ledger-reads.js';
import { quietLog } from '../../support/quiet-log.js';
import { until } from '../../support/until.js';

/* Calls that were answered while the database took nothing: only the journal has their charges when the gateway dies. */

/** However busy the machine is: nothing here is about time. */
const patience = 120_000;
/** The lock that appends take turns by (migration 0001). */
const turnOfAppends = 812470915374n;
const given = 1_000_000_000;
const models = Array.from({ length: 40 }, (_, n) => `call-${n}`);

let dataDir: string;
let config: Config;
let provider: SimulatedProvider;
let caller: { readonly userId: UserId; readonly apiKey: string };
let gateway: GatewayProcess | null = null;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'tallygate-journal-'));
  config = readConfig({ DATA_DIR: dataDir, PORT: '0' });
  provider = await startSimulatedProvider({ behaviour: { chunks: 6 }, remember: 1 });
  caller = await prepareCallerData(config, { upstreamUrl: provider.url, models, quota: given });
});
afterEach(async () => {
  await gateway?.kill();
  await until(async () => ((await postmasterOf(dataDir)) === null ? true : null), patience);
  await provider.stop();
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
});

/** Keeps the log from taking anything until the result is called. */
async function lockLog(): Promise<() => Promise<void>> {
  const { opened } = await attachEmbeddedPostgres({ dataDir, log: quietLog }, async (connection) => {
    const client = newClient(connection);
    // It ends with the gateway's Postgres.
    client.on('error', () => {});
    await client.connect();
    await client.query('SELECT pg_advisory_lock($1)', [turnOfAppends]);
    return client;
  });
  return () => opened.end().catch(() => {});
}

/** Answers that reached their caller whole, by request id: one JSON body and one stream for each pair of models. */
async function callAll(url: string, from: number, to: number): Promise<string[]> {
  const callers = openCallers(url);
  const chat = callers.with(caller.apiKey).chat;
  const answers = await Promise.all(
    models.slice(from, to).map(async (model, index) => {
      const stream = index % 2 === 1;
      const answer = await chat({ model, stream });
      expect([answer.status, !stream || isWholeStream(answer)]).toEqual([200, true]);
      return answer.requestId ?? '';
    }),
  );
  await callers.close();
  return answers;
}

const folders = async (): Promise<readonly string[]> => readdir(join(dataDir, 'journal')).catch(() => []);

const loggedBy = ({ logged }: GatewayProcess, words: string) =>
  logged.map((line) => JSON.parse(line) as { msg: string; events?: number }).filter(({ msg }) => msg.includes(words));

/** As soon as the log has the end of each of these calls: a journal may hold it yet when the caller has the answer. */
const booksWith = (database: Parameters<typeof ledgerAtRest>[0], ids: readonly string[]): Promise<LedgerSnapshot> =>
  until(async () => {
    const books = await ledgerAtRest(database);
    return ids.every((id) => books.calls.get(id)?.settled.length) ? books : null;
  }, patience);

describe('calls answered while the log was unavailable', () => {
  test(
    'are all charged, once, after a kill -9, and meanwhile readers learn that events are missing',
    async () => {
      gateway = await startGatewayProcess(dataDir);
      const placed = await callAll(gateway.url, 0, 4);
      const unlock = await lockLog();
      const ahead = await callAll(gateway.url, 4, 24);
      await gateway.kill();
      await unlock();
      await until(async () => ((await postmasterOf(dataDir)) === null ? true : null), patience);

      const warned: string[] = [];
      const log = pino({ level: 'warn' }, { write: (line: string) => void warned.push(line) });
      await withDatabase(config, log, async ({ store }) => expect(await store.head()).toBeGreaterThan(0));
      const messages = warned.map((line) => (JSON.parse(line) as { msg: string }).msg);
      // What Postgres has to say of its own start after a kill is not ours to expect.
      expect(messages.filter((message) => message !== 'postgres')).toEqual([
        expect.stringContaining('the log may lack events that a journal holds: start the gateway once'),
      ]);

      gateway = await startGatewayProcess(dataDir);
      const [report] = loggedBy(gateway, 'a process ended before the log had all');
      expect(report?.events).toBeGreaterThanOrEqual(2 * ahead.length);
      const later = await callAll(gateway.url, 24, 28);
      await withDatabase(config, quietLog, async (database) => {
        const all = [...placed, ...ahead, ...later];
        const books = await booksWith(database, all);
        await expectLedgersToAgree(database, books);
        for (const id of all) {
          const story = books.calls.get(id);
          expect([id, story?.settled.length, story?.released.length]).toEqual([id, 1, 0]);
        }
        const charged = [...books.calls.values()].flatMap(({ settled }) => settled);
        const sum = charged.reduce((total, event) => total + event.charged, 0);
        const balance = await balanceOf(openReadModels(database.pool), caller.userId);
        expect(balance).toEqual({ available: given - sum, reserved: 0, total: given - sum });
      });
      expect(await gateway.stop()).toBe(0);
      expect(await folders()).toEqual([]);
    },
    3 * patience,
  );

  test(
    'are charged by the same process when the log is available again, and a stop leaves no journal',
    async () => {
      const node = await startGatewayProcess(dataDir, { APPEND_PATIENCE_SECONDS: '1' });
      gateway = node;
      const unlock = await lockLog();
      const ahead = await callAll(node.url, 0, 10);
      // For longer than an append of anybody else would be tried.
      await until(
        async () => (loggedBy(node, 'the journal waits for the database').length > 0 ? true : null),
        patience,
      );
      ahead.push(...(await callAll(node.url, 10, 14)));
      await unlock();
      await withDatabase(config, quietLog, async (database) => {
        const books = await booksWith(database, ahead);
        await expectLedgersToAgree(database, books);
        expect(ahead.filter((id) => books.calls.get(id)?.settled.length !== 1)).toEqual([]);
      });
      expect(await gateway.stop()).toBe(0);
      expect(await folders()).toEqual([]);
    },
    3 * patience,
  );

  test(
    'wait for the log where there is no journal, and are refused while it is unavailable',
    async () => {
      gateway = await startGatewayProcess(dataDir, { APPEND_JOURNAL: 'false', APPEND_PATIENCE_SECONDS: '1' });
      expect(await folders()).toEqual([]);
      const unlock = await lockLog();
      const callers = openCallers(gateway.url);
      const status = async () => (await callers.with(caller.apiKey).chat({ model: 'call-0' })).status;
      expect(await status()).toBe(503);
      await unlock();
      await until(async () => ((await status()) === 200 ? true : null), patience);
      await callers.close();
      expect(await gateway.stop()).toBe(0);
    },
    3 * patience,
  );
});
