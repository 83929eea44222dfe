import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI, { NotFoundError } from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withDatabase } from '../../../src/cli/database.js';
import { type Config, readConfig } from '../../../src/config.js';
import { prepareCallerData } from '../../support/callers/caller-data.js';
import { type GatewayProcess, startGatewayProcess } from '../../support/gateway/gateway-process.js';
import { expectLedgersToAgree, type LedgerSnapshot, ledgerAtRest } from '../../support/gateway/ledger-snapshot.js';
import { quietLog } from '../../support/quiet-log.js';
import { until } from '../../support/until.js';
import { type DialectUpstream, startDialectUpstream } from '../../support/upstreams/dialect-upstreams.js';

/* A gateway of two workers is killed after it has settled a response and before it has stored that. */

const patience = 120_000;
let dataDir: string;
let config: Config;
let upstream: DialectUpstream;
let books: LedgerSnapshot;
const processes: GatewayProcess[] = [];
let written: string;
let lost: string;
/** What the next gateway makes of either id. */
let continued: { readonly previous: string | null | undefined; readonly said: readonly string[] };
let unknown: unknown;
let settledBefore: number;

const start = async (workers: string): Promise<GatewayProcess> => {
  const gateway = await startGatewayProcess(dataDir, { WORKERS: workers });
  processes.push(gateway);
  return gateway;
};

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'tallygate-stored-'));
  config = readConfig({ DATA_DIR: dataDir, PORT: '0' });
  upstream = await startDialectUpstream('openai');
  upstream.answerWith({ text: 'A book of accounts.' });
  const { apiKey } = await prepareCallerData(config, {
    ...{ upstreamUrl: upstream.url, models: ['m'], quota: 1_000_000_000 },
    channelType: 25,
  });
  const clientOf = ({ url }: GatewayProcess) => new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 });

  const doomed = await start('2');
  const client = clientOf(doomed);
  ({ id: written } = await client.responses.create({ model: 'm', input: 'One?' }));
  // Each of these may be served by either worker.
  for (let turn = 0; turn < 4; turn++)
    ({ id: written } = await client.responses.create({ model: 'm', input: 'On?', previous_response_id: written }));
  await withDatabase(config, quietLog, async ({ pool }) => {
    const isStored = async () =>
      (await pool.query('SELECT FROM stored_response WHERE response_id = $1', [written])).rowCount === 1;
    await until(async () => ((await isStored()) ? true : null), patience);
    // No row is taken any more; a lock would end with Postgres, and the row that waits for it might be written then.
    await pool.query('ALTER TABLE stored_response ADD CONSTRAINT nothing CHECK (false) NOT VALID');
    // Answered all the same: what is stored is written behind the call.
    ({ id: lost } = await client.responses.create({ model: 'm', input: 'Lost?' }));
    await doomed.kill();
  });
  await withDatabase(config, quietLog, async ({ pool }) => {
    await pool.query('ALTER TABLE stored_response DROP CONSTRAINT nothing');
  });

  const next = await start('1');
  const second = clientOf(next);
  const went = await second.responses.create({ model: 'm', input: 'And?', previous_response_id: written });
  continued = { previous: went.previous_response_id, said: upstream.received().messages.map(({ text }) => text) };
  unknown = await second.responses
    .create({ model: 'm', input: 'And?', previous_response_id: lost })
    .catch((error: unknown) => error);
  await withDatabase(config, quietLog, async (database) => {
    books = await ledgerAtRest(database);
    await expectLedgersToAgree(database, books);
  });
  await next.stop();
  settledBefore = [...books.calls.values()].filter(({ settled }) => settled.length === 1).length;
}, 6 * patience);
afterAll(async () => {
  await Promise.all(processes.map((gateway) => gateway.kill()));
  await upstream?.stop();
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
});

describe('after a crash between settlement and storing', () => {
  test('a response that was written is continued, through workers and restarts', () => {
    expect(continued.previous).toBe(written);
    expect(continued.said.filter((text) => text !== 'A book of accounts.')).toEqual([
      ...['One?', 'On?', 'On?', 'On?', 'On?'],
      'And?',
    ]);
  });

  test('one that was not written is charged, and its id is unknown, which costs nothing', () => {
    expect(unknown).toBeInstanceOf(NotFoundError);
    expect(unknown).toMatchObject({ code: 'previous_response_not_found', param: 'previous_response_id' });
    // Five before the crash, the lost one, and the one after.
    expect([settledBefore, books.calls.size]).toEqual([7, 7]);
  });
});
