import { mkdtemp, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CommandDatabase, withDatabase } from '../../../src/cli/database.js';
import { type Config, readConfig } from '../../../src/config.js';
import { streams } from '../../../src/domain/events/events.js';
import { CallId } from '../../../src/domain/kernel/ids.js';
import { rebuild } from '../../../src/projections/engine/rebuild.js';
import { readModels } from '../../../src/projections/read-models.js';
import { GraphqlClient } from '../../graphql/graphql-server.js';
import { type Caller, type Callers, openCallers } from '../../support/callers/callers.js';
import { type GatewayProcess, startGatewayProcess } from '../../support/gateway/gateway-process.js';
import { expectLedgersToAgree, ledgerAtRest } from '../../support/gateway/ledger-snapshot.js';
import { rootPassword, setUpData } from '../../support/gateway/set-up-data.js';
import { quietLog } from '../../support/quiet-log.js';
import { until } from '../../support/until.js';
import { startUpstream, type Upstream } from '../../support/upstreams/upstream.js';

/* A gateway is killed with calls open while its ledger stands at an event that cannot be folded. */

let dataDir: string;
let config: Config;
let upstream: Upstream;
let callers: Callers;
let gateway: GatewayProcess;
/** Calls that wait for the upstream's answer. */
const held: ServerResponse[] = [];

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'tallygate-stopped-ledger-'));
  config = readConfig({ DATA_DIR: dataDir, PORT: '0' });
  upstream = await startUpstream((_, response) => held.push(response));
}, 60_000);
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  await upstream?.stop();
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
});

const withDatabaseOf = <Result>(work: (database: CommandDatabase) => Promise<Result>) =>
  withDatabase(config, quietLog, work);

const start = async (): Promise<void> => {
  await callers?.close();
  gateway = await startGatewayProcess(dataDir);
  callers = openCallers(gateway.url);
};

interface State {
  readonly name: string;
  readonly status: string;
  readonly failure: { readonly position: number } | null;
}

const states = async (): Promise<State[]> => {
  const client = await new GraphqlClient(gateway.url).signIn('root', rootPassword);
  return (await client.ask('{ readModels { name status failure { position } } }')).readModels;
};
const ledgerState = async () => (await states()).find(({ name }) => name === 'ledger');

/** The newest call in the log; null: there is none. */
const newestCall = (): Promise<CallId | null> =>
  withDatabaseOf(async ({ pool }) => {
    const { rows } = await pool.query<{ stream: string }>(
      `select stream from events where type = 'CallReserved' order by position desc limit 1`,
    );
    const [newest] = rows;
    return newest === undefined ? null : CallId(newest.stream.slice('call-'.length));
  });

/** Begins a call that upstream never answers; resolves with its id once it is there, and its reservation in the log. */
async function openCall(caller: Caller): Promise<CallId> {
  const before = await newestCall();
  void caller.chat({ model: 'silent' }).catch(() => null);
  await until(async () => held.shift() ?? null);
  return until(async () => {
    const newest = await newestCall();
    return newest === before ? null : newest;
  });
}

/** null: it has none. */
const outcomeOf = (callId: CallId): Promise<object | null> =>
  withDatabaseOf(async ({ store }) => (await store.readStream(streams.call(callId)))[1]?.event ?? null);

const recovered = { type: 'CallReleased', reason: 'recovered' };

test('calls left open by a crash are concluded as far as a stopped ledger has them, the others once it continues, without a restart', async () => {
  const apiKey = await setUpData(config, [{ models: ['silent', 'answering'], baseUrl: upstream.url }]);
  await start();
  const doomed = callers.with(apiKey);
  const known = await openCall(doomed);
  const position = await withDatabaseOf(async ({ pool }) => {
    const { rows } = await pool.query<{ position: number }>(
      `insert into events (position, event_id, stream, revision, type, version, data, at)
       select max(position) + 1, gen_random_uuid(), 'user-900', 0, 'QuotaGranted', 1, '{"quota":"much"}', 0
       from events returning position`,
    );
    return rows[0]?.position;
  });
  await until(async () => ((await ledgerState())?.status === 'STOPPED' ? true : null));
  const unknown = await openCall(doomed);
  await gateway.kill();

  await start();
  expect(await ledgerState()).toMatchObject({ status: 'STOPPED', failure: { position } });
  expect(gateway.logged.some((line) => line.includes('calls yet that an earlier process left open'))).toBe(true);
  await until(async () => outcomeOf(known));
  expect(await outcomeOf(known)).toMatchObject(recovered);

  const answering = callers.with(apiKey).chat({ model: 'answering' });
  const response = await until(async () => held.shift() ?? null);
  const choices = [{ index: 0, message: { role: 'assistant', content: '42' }, finish_reason: 'stop' }];
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ id: 'x', choices, usage: { prompt_tokens: 5, completion_tokens: 1 } }));
  expect((await answering).status).toBe(200);
  expect(await outcomeOf(unknown)).toBeNull();

  const stopped = (await states()).filter(({ status }) => status === 'STOPPED').map(({ name }) => name);
  await withDatabaseOf(async ({ pool, store, personalData, newClient }) => {
    await pool.query(`update events set data = '{"quota":700,"reason":"signup"}' where position = $1`, [position]);
    for (const projection of readModels)
      if (stopped.includes(projection.name))
        await rebuild({ projection, feed: store, pool, newClient, context: { personalData } });
  });
  await until(async () => outcomeOf(unknown), 30_000);
  expect(await outcomeOf(unknown)).toMatchObject(recovered);
  expect(await ledgerState()).toMatchObject({ status: 'RUNNING', failure: null });
  await withDatabaseOf(async (database) => expectLedgersToAgree(database, await ledgerAtRest(database)));
}, 240_000);
