import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Gateway, startGateway } from '../../../src/bootstrap/gateway.js';
import { startSimulatedProvider } from '../../../src/demo/simulated-provider.js';
import { prepareCallerData } from '../../support/callers/caller-data.js';
import { errorIn, openCallers } from '../../support/callers/callers.js';
import { type GatewayProcess, startGatewayProcess } from '../../support/gateway/gateway-process.js';
import { configFor } from '../../support/gateway/test-gateway.js';
import { CutOff } from '../../support/postgres/cut-off.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/postgres/postgres.js';
import { quietLog } from '../../support/quiet-log.js';

/* A node whose machine hangs for a while, and that another has been put in the place of. */

/** However busy the machine is: nothing here is about time. */
const patience = 120_000;

let database: TestDatabase;
let paused: GatewayProcess | null = null;
let successor: Gateway | null = null;
beforeEach(async () => {
  database = await createEmptyDatabase();
});
afterEach(async () => {
  await paused?.kill();
  await successor?.stop();
  await database.drop();
});

test(
  'a paused node that wakes up writes nothing of pending appends, reports so, and ends with exit code 1',
  async () => {
    const config = configFor(database);
    const variables = { DATABASE_URL: config.database.url ?? '', SECRET_KEY: config.vault.secretKey ?? '' };
    const node = await startGatewayProcess(config.database.dataDir, variables);
    paused = node;
    node.pause();
    const credentials = { username: 'root', password: 'correct-horse', confirmPassword: 'correct-horse' };
    const asked = fetch(`${node.url}/api/setup`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...credentials, mode: 'external' }),
    }).then((response) => response.text(), String);
    // As when the network between it and Postgres is cut, and Postgres has given it up.
    await database.pool.query(`
    select pg_terminate_backend(pid) from pg_locks
    where locktype = 'advisory' and objsubid = 1 and granted
      and database = (select oid from pg_database where datname = current_database())`);
    successor = await startGateway(config, quietLog);

    node.resume();
    expect(await node.ended).toBe(1);
    expect(await asked).not.toMatch(/"success":\s*true/);
    expect(node.logged.some((line) => line.includes('this node has lost its database'))).toBe(true);
    const { rows } = await database.pool.query(`select type from events where type <> 'OptionChanged'`);
    expect(rows).toEqual([]);
    const completed = await successor.application.setup.complete({ ...credentials, mode: 'external' });
    expect(await successor.application.visible(completed)).toBe(true);
  },
  patience,
);

test(
  'a paused node that wakes up after Postgres has dropped it has its next append refused, and sends no call',
  async () => {
    const config = configFor(database);
    const provider = await startSimulatedProvider();
    const between = await CutOff.before(database.connection);
    const model = 'gpt-4o-mini';
    const options = { upstreamUrl: provider.url, models: [model], quota: 10_000_000 };
    const { apiKey } = await prepareCallerData(config, options);
    const variables = { DATABASE_URL: between.url, SECRET_KEY: config.vault.secretKey ?? '' };
    const node = await startGatewayProcess(config.database.dataDir, variables);
    paused = node;
    const callers = openCallers(node.url);
    const calling = callers.with(apiKey);
    try {
      // Its key and user are known to the node from now on.
      expect((await calling.chat({ model })).status).toBe(200);
      node.pause();
      between.forget();
      successor = await startGateway(config, quietLog);
      const written = async () => (await database.pool.query('select count(*) as count from events')).rows;
      const before = await written();
      const asked = calling.chat({ model });

      node.resume();
      const refused = await asked;
      expect([refused.status, errorIn(refused).code]).toEqual([503, 'store_unavailable']);
      expect(await node.ended).toBe(1);
      expect(node.logged.some((line) => line.includes('this node has lost its database'))).toBe(true);
      expect(await written()).toEqual(before);
      expect(provider.tally().byModel[model]).toBe(1);
      const next = openCallers(successor.url);
      expect((await next.with(apiKey).chat({ model })).status).toBe(200);
      await next.close();
    } finally {
      await callers.close();
      await between.cut();
      await provider.stop();
    }
  },
  patience,
);
