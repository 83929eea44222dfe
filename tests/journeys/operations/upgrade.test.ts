import type { Client } from 'pg';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { newClient } from '../../../src/adapters/database/postgres.js';
import { type Gateway, startGateway } from '../../../src/bootstrap/gateway.js';
import { prepareReadModels } from '../../../src/projections/engine/checkpoints.js';
import { schemaOf } from '../../../src/projections/engine/projection.js';
import { usageLog } from '../../../src/projections/models/usage-log/usage-log.js';
import { usageStats } from '../../../src/projections/models/usage-stats/usage-stats.js';
import { GraphqlClient } from '../../graphql/graphql-server.js';
import { startTestGateway, type TestGateway } from '../../support/gateway/test-gateway.js';
import { until } from '../../support/until.js';

/* A release whose usage log and statistics are new ones: they are made from the log while it serves. */

const calls = 2_500;
const everything = [usageLog, usageStats];

let before: TestGateway;
let gateway: Gateway | null;
let database: Client;
/** Holds a lock in its way. */
let holder: Client;
let apiKey: string;
let userId: number;
let logged: Record<string, unknown>[];

const connect = async (): Promise<Client> => {
  const client = newClient({ url: before.config.database.url ?? '' });
  await client.connect();
  return client;
};

beforeEach(async () => {
  gateway = null;
  logged = [];
  before = await startTestGateway();
  await before.addChannel();
  const user = await before.addUser(1_000_000_000, 'alice');
  userId = user.actor.id;
  apiKey = await before.addApiKey(user);
  expect((await ask(before.url)).status).toBe(200);
  await before.stopKeepingData();
  [database, holder] = await Promise.all([connect(), connect()]);
  await repeatTheCall();
});
afterEach(async () => {
  // What is locked would keep the gateway from ending.
  await holder.end();
  await gateway?.stop();
  await database.end();
  await before.stop();
});

const ask = (url: string): Promise<Response> =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] }),
  });

/** The log goes on as if the one call had been made `calls` times more. */
const repeatTheCall = () =>
  database.query(`
    with call as (select * from events where stream like 'call-%' order by position),
      last as (select max(position) as position from events)
    insert into events (position, event_id, stream, revision, type, version, data, at)
    select last.position + 2 * n - 1 + call.revision, gen_random_uuid(), call.stream || '-' || n, call.revision,
      call.type, call.version, call.data, call.at
    from call, last, generate_series(1, ${calls}) n
    order by n, call.revision`);

/** Everything but the usage log and the statistics is as the release before has left it; of those there is an older one. */
async function upgrade(): Promise<void> {
  await database.query(`update projections.checkpoints set version = 0 where name like 'usage_%'`);
  for (const { name, version } of everything)
    await database.query(`alter schema ${name}_v${version} rename to ${name}_v0`);
  await prepareReadModels({ connect: async () => Object.assign(database, { release: () => {} }) } as never, everything);
  await holder.query(`begin; lock table ${schemaOf(usageLog)}.usage_log in share mode`);
}

async function start(): Promise<Gateway> {
  const log = pino({ level: 'info' }, { write: (line: string) => void logged.push(JSON.parse(line)) });
  gateway = await startGateway(before.config, log);
  return gateway;
}

const schemas = async (): Promise<string[]> => {
  const { rows } = await database.query(
    `select nspname as name from pg_namespace where nspname like 'usage%' order by nspname`,
  );
  return rows.map(({ name }) => name);
};

const said = (message: string) =>
  logged.filter(({ msg, readModel }) => msg === message && readModel === schemaOf(usageLog));

test('a gateway serves while its usage log is being rebuilt, reports so on every face, and has it complete in the end', async () => {
  await upgrade();
  const { url } = await start();

  expect((await ask(url)).status).toBe(200);
  const admin = await new GraphqlClient(url).signIn('root', before.rootPassword);
  const alice = await new GraphqlClient(url).signIn('alice', 'correct-horse');
  const state = async () => (await admin.ask('{ readModels { name status } }')).readModels;
  expect(await state()).toContainEqual({ name: 'usage_log', status: 'BUILDING' });
  expect(await state()).toContainEqual({ name: 'users', status: 'RUNNING' });
  expect((await alice.ask('{ rebuiltPercent }')).rebuiltPercent).toBe(0);
  const figures = '{ logStatistics(filter: {}) { quota requests } }';
  const listed = async () => {
    const headers = { cookie: alice.cookie, 'new-api-user': String(userId) };
    return (await fetch(`${url}/api/log/self?type=2`, { headers })).json();
  };
  expect(await listed()).toMatchObject({ success: true, rebuilt_percent: 0, data: { items: [] } });
  expect(said('a read model is being built from the log; what is read from it is incomplete')).toHaveLength(1);
  // The statistics have nothing in their way; what they replace goes when they are there.
  await until(async () => ((await schemas()).includes('usage_stats_v0') ? null : true));
  expect(await schemas()).toContain('usage_log_v0');

  await holder.query('rollback');
  await until(async () => ((await alice.ask('{ rebuiltPercent }')).rebuiltPercent === null ? true : null), 60_000);
  expect(await state()).toContainEqual({ name: 'usage_log', status: 'RUNNING' });
  const { rows } = await database.query(
    `select count(*)::int as requests, sum((data->>2)::bigint)::int as quota
     from events where type = 'CallSettled'`,
  );
  expect(rows).toEqual([{ requests: calls + 2, quota: expect.any(Number) }]);
  expect((await alice.ask(figures)).logStatistics).toEqual(rows[0]);
  const whole = await listed();
  expect(whole).toMatchObject({ success: true, data: { total: calls + 2 } });
  expect(whole).not.toHaveProperty('rebuilt_percent');
  await until(async () => ((await schemas()).length === 2 ? true : null));
  expect(await schemas()).toEqual(everything.map(schemaOf));
  expect(said('a read model has been built')).toEqual([expect.objectContaining({ events: expect.any(Number) })]);
});

test('an event of a newer release that only the usage log has yet to fold stops the node that reads it', async () => {
  await upgrade();
  await database.query(
    `insert into events (position, event_id, stream, revision, type, version, data, at)
     select max(position) + 1, gen_random_uuid(), 'elsewhere-1', 0, 'CreditLent', 1, '{}', 0 from events`,
  );
  // Where that release has left them.
  await database.query(
    `update projections.checkpoints set position = (select max(position) from events) where name not like 'usage_%'`,
  );
  const { failed } = await start();
  await holder.query('rollback');
  const reason = await failed;
  expect(reason).toContain('CreditLent, cannot be read: this release knows no events of that type');
  expect(reason).toContain('run that release, or restore the backup made before the upgrade');
  expect(await schemas()).toContain('usage_log_v0');
});
