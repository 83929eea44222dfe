import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Gateway, startGateway } from '../../../src/bootstrap/gateway.js';
import { withDatabase } from '../../../src/cli/database.js';
import type { DomainEvent } from '../../../src/domain/events/events.js';
import { currentPayloads } from '../../../src/domain/events/upcast.js';
import type { UserId } from '../../../src/domain/kernel/ids.js';
import type { Actor } from '../../../src/domain/user/user.js';
import { isSound, verifyLedger } from '../../../src/projections/models/ledger/verify-ledger.js';
import { openReadModels } from '../../../src/projections/read-models.js';
import { GraphqlClient } from '../../graphql/graphql-server.js';
import { openCallers } from '../../support/callers/callers.js';
import { signIn } from '../../support/gateway/sign-in.js';
import { configFor } from '../../support/gateway/test-gateway.js';
import { apiKeyTerms } from '../../support/given/api-key-terms.js';
import { reserved, settled } from '../../support/given/calls.js';
import { channelSettings } from '../../support/given/channel-settings.js';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/postgres.js';
import { quietLog } from '../../support/quiet-log.js';
import { until } from '../../support/until.js';
import { startUpstream, type Upstream } from '../../support/upstreams/upstream.js';

/* Two users, and an upstream that reports usage no call can have. */

const password = 'correct-horse';
const lie = 8e15;

let database: TestDatabase;
let upstream: Upstream;
let gateway: Gateway | null = null;

beforeEach(async () => {
  database = await createTestDatabase();
  upstream = await startUpstream((_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({
        id: 'c',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: lie, completion_tokens: 1, total_tokens: lie + 1 },
      }),
    );
  });
});
afterEach(async () => {
  await gateway?.stop();
  gateway = null;
  await upstream?.stop();
  await database?.drop();
});

async function start(): Promise<Gateway> {
  gateway = await startGateway(configFor(database), quietLog);
  return gateway;
}

async function setUp({ application }: Gateway): Promise<{ users: UserId[]; keys: string[] }> {
  const names = { username: 'root', password, confirmPassword: password };
  await application.visible(await application.setup.complete({ ...names, mode: 'external' }));
  const { user: root } = await signIn(application.identity, 'root', password);
  await application.options.change(root, 'ModelRatio', '{"m":1}');
  const settings = channelSettings({ models: ['m'], baseUrl: upstream.url });
  await application.channels.add(root, { settings, key: 'sk-upstream-key', proxy: '', enabled: true });
  const users: UserId[] = [];
  const keys: string[] = [];
  for (const username of ['alice', 'bob']) {
    const { id } = await application.users.create(root, { username, password, displayName: '' });
    users.push(id as UserId);
    await application.users.adjustQuota(root, id as UserId, { delta: 1e15 });
    const owner: Actor = { id: id as UserId, role: 'ordinary' };
    const terms = apiKeyTerms({ unlimited: true });
    const { key, position } = await application.apiKeys.issue(owner, { quota: 0, terms });
    await application.visible(position);
    keys.push(`sk-${key}`);
  }
  return { users, keys };
}

/** What an earlier release, which believed everything, has written down of such answers. */
async function believedOnce(users: readonly UserId[]): Promise<void> {
  const append = (stream: string, revision: number, { type, ...payload }: DomainEvent) =>
    database.pool.query(
      `insert into events (position, event_id, stream, revision, type, version, data, at)
       select max(position) + 1, gen_random_uuid(), $1, $2, $3, $4, $5, $6 from events`,
      [stream, revision, type, currentPayloads.current(type), JSON.stringify(payload), Date.now()],
    );
  for (const userId of users) {
    const stream = `call-believed${userId}`;
    const parties = { userId, apiKeyId: null, model: 'm', quota: 100 };
    await append(stream, 0, reserved(parties));
    const usage = { input: lie, output: 1 };
    await append(stream, 1, { ...settled({ ...parties, charged: lie, channelId: 1 }), usage });
  }
}

const figures = `{
  channels { items { usedQuota } }
  users { items { username usedQuota } }
}`;

test('two answers with false usage stop nothing: lists and figures work, before and after a restart', async () => {
  const first = await start();
  const { users, keys } = await setUp(first);
  const callers = openCallers(first.url);
  for (const key of keys) {
    const answer = await callers.with(key).chat({ model: 'm' });
    expect([answer.status, JSON.parse(answer.text).usage.prompt_tokens < 1_000]).toEqual([200, true]);
  }
  await callers.close();
  await believedOnce(users);

  const look = async ({ application, url }: Gateway) => {
    const { user: root } = await signIn(application.identity, 'root', password);
    await until(async () => ((await application.queries.logStatistics(root, {}, false)).requests === 4 ? true : null));
    const client = await new GraphqlClient(url).signIn('root', password);
    const shown = (await client.ask(figures)) as {
      channels: { items: { usedQuota: number }[] };
      users: { items: { username: string; usedQuota: number }[] };
    };
    expect(shown.channels.items).toEqual([{ usedQuota: Number.MAX_SAFE_INTEGER }]);
    for (const { username, usedQuota } of shown.users.items)
      if (username !== 'root') expect(Math.abs(usedQuota - lie)).toBeLessThan(1_000);
    const range = { from: 0, to: 1e10 };
    const query = { by: ['model'], interval: null, offsetMinutes: 0 } as const;
    expect(await application.queries.statistics(root, range, query, false)).toMatchObject([
      { model: 'm', requests: 4, quota: Number.MAX_SAFE_INTEGER, prompt_tokens: Number.MAX_SAFE_INTEGER },
    ]);
    // Written beside the event store, so nobody notifies the gate: it finds them when it next looks at the log.
    for (const id of users) await until(async () => ((await application.gate.available(id)) < -lie / 2 ? true : null));
    return shown;
  };
  const before = await look(first);
  await first.stop();
  gateway = null;

  expect(await look(await start())).toEqual(before);
  const verdict = await withDatabase(configFor(database), quietLog, ({ pool, store }) =>
    verifyLedger(openReadModels(pool), store),
  );
  expect(verdict.differences).toEqual([]);
  expect(isSound(verdict)).toBe(true);
});
