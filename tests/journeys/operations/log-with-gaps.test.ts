import type { Client } from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { newClient } from '../../../src/adapters/database/postgres.js';
import { type Gateway, startGateway } from '../../../src/bootstrap/gateway.js';
import { withDatabase } from '../../../src/cli/database.js';
import { isSound, verifyLedger } from '../../../src/projections/models/ledger/verify-ledger.js';
import { openReadModels } from '../../../src/projections/read-models.js';
import { GraphqlClient } from '../../graphql/graphql-server.js';
import { expectLedgersToAgree, ledgerAtRest } from '../../support/gateway/ledger-snapshot.js';
import { startTestGateway, type TestGateway } from '../../support/gateway/test-gateway.js';
import { quietLog } from '../../support/quiet-log.js';
import { until } from '../../support/until.js';

/*
 * A gateway whose log has gaps of any size between its events, as an engine has that counts in bytes: positions are
 * spread out while it stands still, and everything is made anew from them.
 */

const calls = 30;

let before: TestGateway;
let gateway: Gateway | null;
let database: Client;
let apiKey: string;
let userId: number;

beforeEach(async () => {
  gateway = null;
  before = await startTestGateway();
  await before.addChannel();
  const user = await before.addUser(1_000_000_000, 'alice');
  userId = user.actor.id;
  apiKey = await before.addApiKey(user);
  for (let n = 0; n < calls; n++) expect((await ask(before.url)).status).toBe(200);
  await before.stopKeepingData();
  database = newClient({ url: before.config.database.url ?? '' });
  await database.connect();
});
afterEach(async () => {
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

/** Each event a thousand places and more behind the one before it, never as many; read models begin anew. */
async function spreadOut(): Promise<void> {
  await database.query('update events set position = position + 1000000000');
  await database.query(`
    with spread as (
      select event_id, stream, revision, row_number() over (order by position) * 1000 + (random() * 900)::int as place
      from events
    )
    update events set position = spread.place from spread
    where events.stream = spread.stream and events.revision = spread.revision`);
  await database.query('delete from projections.checkpoints');
}

test('a log with gaps is served, shown, exported and verified like one without', async () => {
  await spreadOut();
  gateway = await startGateway(before.config, quietLog);
  const { url } = gateway;
  const alice = await new GraphqlClient(url).signIn('alice', 'correct-horse');
  await until(async () => ((await alice.ask('{ rebuiltPercent }')).rebuiltPercent === null ? true : null));

  expect((await ask(url)).status).toBe(200);
  const headers = { cookie: alice.cookie, 'new-api-user': String(userId) };
  const listed = async (): Promise<number> => {
    const answer = (await (await fetch(`${url}/api/log/self?type=2`, { headers })).json()) as {
      data: { total: number };
    };
    return answer.data.total;
  };
  await until(async () => ((await listed()) === calls + 1 ? true : null));
  const file = await (await fetch(`${url}/export/log.csv`, { headers: { cookie: alice.cookie } })).text();
  expect(file.split('\r\n').filter((line) => line.includes('gpt-4o-mini'))).toHaveLength(calls + 1);

  await withDatabase(before.config, quietLog, async (other) => {
    await expectLedgersToAgree(other, await ledgerAtRest(other));
    expect(isSound(await verifyLedger(openReadModels(other.pool), other.store))).toBe(true);
  });
});
