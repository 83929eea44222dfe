import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LogFilter } from '../../src/application/usage/visible-log.js';
import type { Actor } from '../../src/domain/user/user.js';
import { logTypes } from '../../src/projections/models/usage-log/usage-log.js';
import type { UsageLogEntry } from '../../src/projections/models/usage-log/usage-log-queries.js';
import { signIn } from '../support/gateway/sign-in.js';
import { startTestGateway, type TestGateway, type TestUser } from '../support/gateway/test-gateway.js';

/* The log as a file: the lines that a filter lets through, all of them or none. */

let gateway: TestGateway;
let alice: TestUser;
let bob: TestUser;
let cookies: { alice: string; root: string };

const cookieOf = async ({ username, password }: Pick<TestUser, 'username' | 'password'>) =>
  `session=${(await signIn(gateway.application.identity, username, password)).token}`;

beforeAll(async () => {
  gateway = await startTestGateway();
  const channel = await gateway.addChannel({ name: '=harbour' });
  alice = await gateway.addUser(50_000_000, 'alice');
  bob = await gateway.addUser(50_000_000, 'bob');
  for (const user of [alice, bob]) {
    const key = await gateway.addApiKey(user);
    for (const model of ['gpt-4o-mini', 'gpt-4o', 'gpt-4o-mini']) {
      const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }] }),
      });
      expect(answer.status).toBe(200);
      await answer.text();
    }
  }
  await gateway.application.channels.test(gateway.root, channel, '');
  cookies = {
    alice: await cookieOf(alice),
    root: await cookieOf({ username: 'root', password: gateway.rootPassword }),
  };
}, 90_000);
afterAll(() => gateway?.stop());

const get = (query: string, cookie: string) => fetch(`${gateway.url}/export/log.csv?${query}`, { headers: { cookie } });

/** The file as rows by the names of its columns; no cell of these has a comma or a quotation mark. */
async function rowsOf(query: string, cookie: string): Promise<Record<string, string>[]> {
  const answer = await get(query, cookie);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
  const [header = '', ...rows] = (await answer.text()).trimEnd().replace('\uFEFF', '').split('\r\n');
  const names = header.split(',');
  return rows.map((row) => Object.fromEntries(row.split(',').map((cell, index) => [names[index] ?? '', cell])));
}

/** What the log's pages show of the filter, two lines at a time. */
async function listed(viewer: Actor, filter: LogFilter, own: boolean): Promise<UsageLogEntry[]> {
  const found: UsageLogEntry[] = [];
  for (;;) {
    const page = await gateway.application.queries.logBefore(
      viewer,
      filter,
      { before: found.at(-1)?.id, limit: 2 },
      own,
    );
    if (page.length === 0) return found;
    found.push(...page);
  }
}

describe('the log as a file', () => {
  test.each<[string, LogFilter]>([
    ['', {}],
    ['model=gpt-4o-mini', { model: 'gpt-4o-mini' }],
    ['model=gpt-4o%25', { model: 'gpt-4o%' }],
    ['type=manage', { type: logTypes.manage }],
    ['username=bob', { username: 'bob' }],
    [
      'type=consume&token=test%20key&group=default',
      { type: logTypes.consume, apiKeyName: 'test key', group: 'default' },
    ],
    ['to=1000', { to: 1000 }],
  ])('has the lines of the pages with the same filter, in their order (%s)', async (query, filter) => {
    // The file waits for what has happened before; the pages do not.
    const rows = await rowsOf(`${query}&everyone=true`, cookies.root);
    const lines = await listed(gateway.root, filter, false);
    expect(rows.map((row) => [row['request id'], row.user, row.model])).toEqual(
      lines.map(({ request_id, username, model }) => [request_id ?? '', username, model]),
    );
    if (query !== 'to=1000') expect(rows.length).toBeGreaterThan(0);
  });

  test('contains for a user the own lines, and nothing of channels and other users', async () => {
    const rows = await rowsOf('', cookies.alice);
    const lines = await listed(alice.actor, {}, true);
    expect(rows.map((row) => row['request id'])).toEqual(lines.map(({ request_id }) => request_id ?? ''));
    expect(Object.keys(rows[0] ?? {}).filter((name) => /channel|user/.test(name))).toEqual([]);
    expect((await get('everyone=true', cookies.alice)).status).toBe(403);
    expect((await get('channel=1', cookies.alice)).status).toBe(403);
    expect((await get('', '')).status).toBe(401);
  });

  test('sums to the charges, without channel tests, and is protected against formulas', async () => {
    const rows = await rowsOf('everyone=true', cookies.root);
    const charged = rows.reduce((sum, row) => sum + Number(row.charged), 0);
    const left = (await gateway.available(alice)) + (await gateway.available(bob));
    expect(charged).toBe(100_000_000 - left);
    const [tested] = rows.filter(({ outcome }) => outcome === 'channel-tested');
    expect(tested).toMatchObject({ charged: '', type: 'consume' });
    expect(rows.filter(({ channel }) => channel !== '').every(({ channel }) => channel === "'=harbour")).toBe(true);
    expect(rows.find(({ outcome }) => outcome === 'adjusted')).toMatchObject({ 'balance change': '50000000' });
  });

  test('names an invalid parameter, with the allowed values', async () => {
    for (const [query, said] of [
      ['type=refund', 'type must be one of recharge'],
      ['channel=x', 'channel must be the id of a channel'],
      ['from=yesterday', 'from must be unix seconds'],
      ['model=a&model=b', 'model must be a single value'],
      [`token=${'x'.repeat(257)}`, 'token must be at most 256 characters'],
      ['zone=Nowhere', 'zone must be the name of a time zone'],
    ] as const) {
      const answer = await get(`${query}&everyone=true`, cookies.root);
      expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(said)]);
    }
  });
});
