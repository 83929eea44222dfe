import type pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { newClient } from '../../../src/adapters/database/postgres.js';
import { withDatabase } from '../../../src/cli/database.js';
import { type Callers, errorIn, openCallers } from '../../support/callers/callers.js';
import { expectLedgersToAgree, ledgerAtRest } from '../../support/gateway/ledger-snapshot.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { CutOff } from '../../support/postgres/cut-off.js';
import { quietLog } from '../../support/quiet-log.js';
import { until } from '../../support/until.js';

/*
 * What cannot be looked up because the database is away is nobody's mistake and no bug: every face says so in its own
 * form, whatever the request got as far as.
 */

const given = 1_000_000;

let gateway: TestGateway;
let callers: Callers;
let between: CutOff;
let operator: pg.Client;
let user: TestUser;
let signedIn: Readonly<Record<string, string>>;

beforeAll(async () => {
  gateway = await startTestGateway(
    {},
    {
      reach: async (connection) => {
        between = await CutOff.before(connection);
        operator = newClient(connection);
        await operator.connect();
        return between.connection;
      },
    },
  );
  callers = openCallers(gateway.url);
  await gateway.addChannel({ models: ['gpt-4o'] });
  user = await gateway.addUser(given);
  const login = await callers.with(null).send('/api/user/login', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: { username: user.username, password: user.password },
  });
  const cookie = String(login.headers['set-cookie']).split(';', 1)[0] ?? '';
  signedIn = { cookie, 'new-api-user': String(user.actor.id), 'x-tallygate-client': 'test' };
});
afterAll(async () => {
  await operator?.end();
  await callers?.close();
  await gateway?.stop();
  await between?.cut();
});
afterEach(() => operator.query('rollback'));

const asks = {
  /** A key that this node has not seen. */
  call: (key: string) => callers.with(key).chat({ model: 'gpt-4o' }),
  models: (key: string) => callers.with(key).send('/v1/models'),
  console: () =>
    callers.with(null).send('/graphql', {
      method: 'POST',
      headers: { ...signedIn, 'content-type': 'application/json' },
      body: { query: '{ me { id } }' },
    }),
  legacy: () => callers.with(null).send('/api/user/self', { headers: signedIn }),
};

const unavailableTo = {
  console: {
    status: 503,
    text: expect.stringMatching(/"code":"store-unavailable".*"kind":"unavailable"/),
  },
  legacy: { status: 200, text: expect.stringContaining('"success":false,"message":"数据库错误，请稍后重试"') },
};

test('an unavailable database is reported as such by every face, and everything is served when it is back', async () => {
  const [one, other] = [await gateway.addApiKey(user), await gateway.addApiKey(user)];
  expect((await asks.console()).text).toContain('"data"');
  expect(JSON.parse((await asks.legacy()).text)).toMatchObject({ success: true });
  await between.cut();

  for (const answer of [await asks.call(one), await asks.models(other)]) {
    expect([answer.status, errorIn(answer).code]).toEqual([503, 'store_unavailable']);
    expect(errorIn(answer).message).toContain(answer.requestId);
  }
  expect(await asks.console()).toMatchObject(unavailableTo.console);
  expect(await asks.legacy()).toMatchObject(unavailableTo.legacy);

  await between.restore();
  await until(async () => ((await asks.call(one)).status === 200 ? true : null));
  expect((await asks.models(other)).status).toBe(200);
  expect(JSON.parse((await asks.console()).text)).toMatchObject({ data: { me: { id: expect.anything() } } });
  expect(JSON.parse((await asks.legacy()).text)).toMatchObject({ success: true });
  await withDatabase(gateway.config, quietLog, async (database) =>
    expectLedgersToAgree(database, await ledgerAtRest(database)),
  );
});

test('a call whose channel key cannot be read is a 503 that costs nothing', async () => {
  await gateway.addChannel({ name: 'unread', models: ['gpt-4o-mini'] });
  const key = await gateway.addApiKey(user);
  expect((await asks.call(key)).status).toBe(200);
  const left = await gateway.available(user);
  await operator.query('begin; lock table vault_secrets in access exclusive mode');
  const refused = await callers.with(key).chat({ model: 'gpt-4o-mini' });
  expect([refused.status, errorIn(refused).code]).toEqual([503, 'store_unavailable']);
  await operator.query('rollback');
  await until(async () => ((await gateway.available(user)) === left ? true : null));
  expect((await callers.with(key).chat({ model: 'gpt-4o-mini' })).status).toBe(200);
});
