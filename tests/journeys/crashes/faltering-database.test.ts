import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newClient } from '../../../src/adapters/database/postgres.js';
import { openPostgresEventStore } from '../../../src/adapters/event-log/postgres-event-store.js';
import { streams } from '../../../src/domain/events/events.js';
import { CallId } from '../../../src/domain/kernel/ids.js';
import { schemaOf } from '../../../src/projections/engine/projection.js';
import { usageLog } from '../../../src/projections/models/usage-log/usage-log.js';
import { type Caller, type Callers, errorIn, openCallers } from '../../support/callers/callers.js';
import { startTestGateway, type TestGateway } from '../../support/gateway/test-gateway.js';
import { newEvent, streamNamed } from '../../support/given/events.js';
import { quietLog } from '../../support/quiet-log.js';
import { until } from '../../support/until.js';
import { type PausedUpstream, startPausedUpstream } from '../../support/upstreams/paused-upstream.js';

/* What Postgres, or somebody at its console, may do to a gateway at work; and how a gateway ends that must. */

const model = 'gpt-4o-mini';

let gateway: TestGateway;
let callers: Callers;
let caller: Caller;
let upstream: PausedUpstream;
/** Somebody at the console of Postgres. */
let operator: pg.Client;
/** Looks on; never in a transaction, which would see the same activity for ever. */
let watcher: pg.Client;
let ended: string | null;

const urlOf = ({ config: { database } }: TestGateway): string => {
  if (database.url === null) throw new Error('a test gateway has a database of its own');
  return database.url;
};

/** `env`: a test whose log stands still need not do so for long. */
async function start(env: Readonly<Record<string, string>> = {}): Promise<void> {
  gateway = await startTestGateway(env);
  ended = null;
  void gateway.failed.then((reason) => {
    ended = reason;
  });
  callers = openCallers(gateway.url);
  upstream = await startPausedUpstream();
  await gateway.addChannel({ models: [model], baseUrl: upstream.url });
  await gateway.addChannel({ name: 'simulated', models: ['gpt-4o'] });
  caller = callers.with(await gateway.addApiKey(await gateway.addUser(10_000_000)));
  const connected = async (): Promise<pg.Client> => {
    const client = newClient({ url: urlOf(gateway) });
    client.on('error', () => {});
    await client.connect();
    return client;
  };
  operator = await connected();
  watcher = await connected();
}

async function stop(): Promise<void> {
  await operator?.end();
  await watcher?.end();
  await callers?.close();
  await gateway?.stop();
  await upstream?.stop();
}

/** Whatever another process appends reaches this one. */
async function expectToFollowTheLog(): Promise<void> {
  const other = await openPostgresEventStore({ connection: { url: urlOf(gateway) }, log: quietLog });
  const appended = await other.append(streamNamed('elsewhere-1'), [newEvent(7)], 'any');
  await other.close();
  if (!appended.ok) throw new Error('the append lost a race without rivals');
  expect(await gateway.application.tail.reached(appended.position, 20_000)).toBe(true);
}

describe('cancelled database statements', () => {
  beforeAll(() => start());
  afterAll(stop);
  // A test that fails must not stop the log for the next one.
  afterEach(() => operator.query('rollback'));

  interface Waiting {
    readonly pid: number;
    readonly appends: boolean;
  }
  const waitingForTheLog = async (): Promise<Waiting[]> => {
    const { rows } = await watcher.query<Waiting>(`
      select pid, query like '%append_%' as appends from pg_stat_activity
      where pid in (select pid from pg_locks where not granted and relation = 'events'::regclass)
    `);
    return rows;
  };

  test('are repeated: in-flight calls are answered, and the node continues to follow the log', async () => {
    // Its key and user are known to the node from now on.
    expect((await caller.chat({ model: 'gpt-4o' })).status).toBe(200);
    await operator.query('begin; lock table events in access exclusive mode');
    const calls = [1, 2, 3].map(() => caller.chat({ model: 'gpt-4o' }));
    // The poll for events of other processes, and the append of the reservations.
    const waiting = await until(async () => {
      const found = await waitingForTheLog();
      return found.some(({ appends }) => appends) && found.some(({ appends }) => !appends) ? found : null;
    });
    for (const { pid } of waiting) await operator.query('select pg_cancel_backend($1)', [pid]);
    await until(async () => ((await waitingForTheLog()).length > 0 ? true : null));
    await operator.query('commit');
    for (const { status } of await Promise.all(calls)) expect(status).toBe(200);
    await expectToFollowTheLog();
    expect((await caller.chat({ model: 'gpt-4o' })).status).toBe(200);
    expect(ended).toBeNull();
  });
});

describe('a locked event log', () => {
  beforeAll(() => start({ APPEND_PATIENCE_SECONDS: '1' }));
  afterAll(stop);
  afterEach(() => operator.query('rollback'));

  test('is answered with 503 in bounded time, uses few backends, and is served again when it is released', async () => {
    // Holds of all the calls fit into it.
    const given = await gateway.addUser(1_000_000_000);
    const calling = callers.with(await gateway.addApiKey(given));
    const answered = await calling.chat({ model: 'gpt-4o' });
    expect(answered.status).toBe(200);
    const left = await gateway.available(given);
    const backends = async (): Promise<number> => {
      const { rows } = await watcher.query<{ count: number }>(
        'select count(*) as count from pg_stat_activity where datname = current_database()',
      );
      return rows[0]?.count ?? 0;
    };
    const before = await backends();

    await operator.query('begin; select pg_advisory_xact_lock(812470915374)');
    let max = 0;
    let open = 40;
    const calls = Array.from({ length: open }, async () => {
      const answer = await calling.chat({ model: 'gpt-4o' });
      open--;
      return answer;
    });
    await until(async () => {
      max = Math.max(max, await backends());
      return open === 0 ? true : null;
    }, 60_000);
    for (const answer of await Promise.all(calls))
      expect([answer.status, errorIn(answer).code]).toEqual([503, 'store_unavailable']);
    // The three readers, and whatever else had rested when the log was locked.
    expect(max).toBeLessThan(before + 10);
    await operator.query('rollback');

    expect(await gateway.available(given)).toBe(left);
    await until(async () => ((await calling.chat({ model: 'gpt-4o' })).status === 200 ? true : null));
    const { rows } = await operator.query(
      `select stream from events where type like 'Call%' group by stream having count(*) <> 2`,
    );
    expect(rows).toEqual([]);
    expect(ended).toBeNull();
  }, 120_000);
});

describe('slow list queries', () => {
  beforeAll(() => start());
  afterAll(stop);
  afterEach(() => operator.query('rollback'));

  test('end with a clear error, and delay no call whose key is not cached', async () => {
    await operator.query(`begin; lock table ${schemaOf(usageLog)}.usage_log in access exclusive mode`);
    const { queries } = gateway.application;
    const lists = Promise.allSettled(
      Array.from({ length: 20 }, () => queries.log(gateway.root, {}, { page: 1, size: 10 }, false)),
    );
    await until(async () => {
      const { rowCount } = await watcher.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return (rowCount ?? 0) >= 8 ? true : null;
    });
    expect((await caller.chat({ model: 'gpt-4o' })).status).toBe(200);
    for (const list of await lists) expect(list).toMatchObject({ status: 'rejected', reason: { kind: 'unavailable' } });
    await operator.query('rollback');
    expect(await queries.log(gateway.root, {}, { page: 1, size: 10 }, false)).toMatchObject({ totalIsExact: true });
  });
});

describe('a node that must stop', () => {
  beforeEach(() => start());
  afterEach(stop);

  /** One call before its answer, whose connection, and another, are kept alive. */
  async function callUnderWay() {
    expect(await caller.chat({ model: 'gpt-4o' })).toMatchObject({ status: 200 });
    const call = caller.chat({ model });
    const early = call.then(({ text }) => Promise.reject(new Error(`answered before its upstream did: ${text}`)));
    const waiting = until(async () => (upstream.waiting() === 1 ? true : null), 60_000);
    await Promise.race([waiting, early]);
    return { answered: call };
  }

  async function expectToFinish(call: ReturnType<Caller['chat']>): Promise<void> {
    const refused = await caller.chat({ model: 'gpt-4o' });
    expect([refused.status, errorIn(refused).code]).toEqual([503, 'gateway_stopping']);
    expect(refused.headers.connection).toBe('close');
    upstream.answer({ prompt: 5, completion: 2 });
    const answered = await call;
    expect(answered.status).toBe(200);
    const { rows } = await operator.query<{ type: string }>(
      'select type from events where stream = $1 order by revision',
      [streams.call(CallId(answered.requestId))],
    );
    expect(rows.map(({ type }) => type)).toEqual(['CallReserved', 'CallSettled']);
  }

  test('because it cannot read an event settles in-flight calls, and admits no more', async () => {
    const { answered } = await callUnderWay();
    await operator.query(`
      insert into events (position, event_id, stream, revision, type, version, data, at)
      select max(position) + 1, gen_random_uuid(), 'options', 1000, 'OptionChanged', 99, '{}', 0 from events
    `);
    expect(await gateway.failed).toMatch(/OptionChanged.*version 99/);
    await expectToFinish(answered);
  });

  test('because another node has its database settles in-flight calls, and admits no more', async () => {
    const { answered } = await callUnderWay();
    const { rows } = await operator.query<{ pid: number; key: string }>(`
      select pid, (classid::bigint << 32 | objid::bigint)::text as key from pg_locks
      where locktype = 'advisory' and objsubid = 1 and granted
        and database = (select oid from pg_database where datname = current_database())
    `);
    const [claim] = rows;
    expect(rows).toHaveLength(1);
    // First in the queue for the lock that makes a node the only one.
    const rival = newClient({ url: urlOf(gateway) });
    await rival.connect();
    const taken = rival.query('select pg_advisory_lock($1)', [claim?.key]);
    await until(async () => {
      const waiting = await operator.query(`select from pg_locks where locktype = 'advisory' and not granted`);
      return waiting.rowCount === 1 ? true : null;
    });
    await operator.query('select pg_terminate_backend($1)', [claim?.pid]);
    await taken;
    expect(await gateway.failed).toMatch(/Another Tallygate node/);
    await expectToFinish(answered);
    await rival.end();
  });

  test('because another node writes its log can record no more outcomes and charges nothing', async () => {
    const { answered } = await callUnderWay();
    // As a node does that takes over, when this one has not noticed yet that it has lost its claim.
    await operator.query('select begin_epoch()');
    const written = async () => (await operator.query('select count(*) as count from events')).rows;
    const before = await written();
    upstream.answer({ prompt: 5, completion: 2 });
    const withheld = await answered;
    expect([withheld.status, errorIn(withheld).code]).toEqual([503, 'store_unavailable']);
    expect(await gateway.failed).toMatch(/Another Tallygate node has taken over this event log/);
    const refused = await caller.chat({ model: 'gpt-4o' });
    expect([refused.status, errorIn(refused).code]).toEqual([503, 'gateway_stopping']);
    expect(await written()).toEqual(before);
  });
});
