import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withDatabase } from '../../../src/cli/database.js';
import { type Config, readConfig } from '../../../src/config.js';
import { prepareCallerData } from '../../support/callers/caller-data.js';
import { type GatewayProcess, startGatewayProcess } from '../../support/gateway/gateway-process.js';
import { expectLedgersToAgree, type LedgerSnapshot, ledgerAtRest } from '../../support/gateway/ledger-snapshot.js';
import { quietLog } from '../../support/quiet-log.js';
import { until } from '../../support/until.js';
import { type KeepingUpstream, startKeepingUpstream } from '../../support/upstreams/keeping-upstream.js';

/* A gateway is killed while responses run in the background. Its successor settles each of them once, and knows whose they are. */

const patience = 120_000;
let dataDir: string;
let config: Config;
let upstream: KeepingUpstream;
let books: LedgerSnapshot;
const processes: GatewayProcess[] = [];
const requestIds: Record<string, string> = {};
/** What the caller finds at the second gateway. */
let found: { readonly status: string | undefined; readonly next: string | null };

const start = async (workers: string): Promise<GatewayProcess> => {
  const gateway = await startGatewayProcess(dataDir, { WORKERS: workers });
  processes.push(gateway);
  return gateway;
};

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'tallygate-background-'));
  config = readConfig({ DATA_DIR: dataDir, PORT: '0' });
  upstream = await startKeepingUpstream();
  const { apiKey } = await prepareCallerData(config, {
    upstreamUrl: upstream.url,
    models: ['m'],
    quota: 1_000_000_000,
  });
  const clientOf = ({ url }: GatewayProcess) => new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 });

  const doomed = await start('2');
  const client = clientOf(doomed);
  const begin = async (name: string): Promise<string> => {
    const asked = client.responses.create({ model: 'm', input: 'What is a ledger?', background: true });
    const { data, response } = await asked.withResponse();
    requestIds[name] = response.headers.get('x-request-id') ?? '';
    return data.id;
  };
  const stored = await client.responses.create({ model: 'm', input: 'Kept before the crash.' });
  const running = await begin('running');
  const ended = await begin('ended while nobody asked');
  const cancelled = await begin('cancelled without a usage');
  await doomed.kill();
  upstream.finish(ended);
  upstream.finish(cancelled, { status: 'cancelled', output: [], usage: null });

  const next = await start('1');
  const second = clientOf(next);
  const again = await second.responses.create({ model: 'm', input: 'and?', previous_response_id: stored.id });
  expect((await second.responses.retrieve(running)).status).toBe('queued');
  // Killed once more: what it has settled stays settled.
  await next.kill();
  upstream.finish(running);
  const last = await start('1');
  const third = clientOf(last);
  found = { status: (await third.responses.retrieve(running)).status, next: again.previous_response_id ?? null };
  await until(async () => ((await third.responses.retrieve(ended)).status === 'completed' ? true : null), patience);
  await until(async () => ((await openInBackground()) === 0 ? true : null), patience);
  await last.stop();
  await withDatabase(config, quietLog, async (database) => {
    books = await ledgerAtRest(database);
    await expectLedgersToAgree(database, books);
  });
}, 6 * patience);
afterAll(async () => {
  await Promise.all(processes.map((gateway) => gateway.kill()));
  await upstream?.stop();
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
});

/** Of those in the background: rows that wait for an outcome. */
const openInBackground = (): Promise<number> =>
  withDatabase(config, quietLog, async ({ pool }) => {
    const { rows } = await pool.query<{ count: string }>('SELECT count(*) FROM background_call');
    return Number(rows[0]?.count);
  });

const storyOf = (name: string) => {
  const story = books.calls.get(requestIds[name] as never);
  if (story === undefined) throw new Error(`no call ${name}`);
  return story;
};

describe('after a crash with responses in the background', () => {
  test('a response that ended meanwhile is settled once by its usage', () => {
    for (const name of ['running', 'ended while nobody asked']) {
      const { settled, released } = storyOf(name);
      expect([settled.length, released.length]).toEqual([1, 0]);
      expect(settled[0]).toMatchObject({ usage: { input: 20, output: 10 }, usageSource: 'upstream' });
    }
  });

  test('a response that was cancelled without a usage is released, and its cost booked to suspense', () => {
    const { settled, released } = storyOf('cancelled without a usage');
    expect([settled.length, released.length]).toEqual([0, 1]);
    expect(released[0]).toMatchObject({ reason: 'recovered' });
    expect(released[0]?.suspense).toBe(released[0]?.reserved);
  });

  test('a response is found by its user, and one kept before is the turn before', () => {
    expect(found.status).toBe('completed');
    expect(found.next).toMatch(/^resp_/);
  });
});
