import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signIn } from '../support/gateway/sign-in.js';
import { startTestGateway, type TestGateway, type TestUser } from '../support/gateway/test-gateway.js';

let gateway: TestGateway;
let alice: TestUser;
let bob: TestUser;
beforeAll(async () => {
  gateway = await startTestGateway();
  await gateway.addChannel();
  alice = await gateway.addUser(50_000_000);
  bob = await gateway.addUser(1_000);
}, 90_000);
afterAll(() => gateway.stop());

const cookieOf = async ({ username, password }: Pick<TestUser, 'username' | 'password'>) =>
  `session=${(await signIn(gateway.application.identity, username, password)).token}`;
const get = (path: string, headers: Record<string, string> = {}) => fetch(gateway.url + path, { headers });
const month = new Date().toISOString().slice(0, 7);

test('a statement closes with the balance of the wallet, and usage names each call', async () => {
  const key = await gateway.addApiKey(alice);
  const asked = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hello' }] }),
  });
  expect(asked.status).toBe(200);
  await asked.text();
  const cookie = await cookieOf(alice);
  const answer = await get(`/export/statement.csv?month=${month}`, { cookie });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-disposition')).toBe(
    `attachment; filename="statement-${alice.actor.id}-${month}.csv"`,
  );
  const bytes = Buffer.from(await answer.arrayBuffer());
  expect([...bytes.subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
  const rows = bytes
    .subarray(3)
    .toString()
    .trim()
    .split('\r\n')
    .map((row) => row.split(','));
  expect(rows.map(([, kind]) => kind)).toEqual(['kind', 'opening', 'adjustment', 'calls', 'closing']);
  const available = await gateway.available(alice);
  expect(available).toBeLessThan(50_000_000);
  expect(rows.at(-1)?.[5]).toBe(String(available));

  const usage = await (await get(`/export/usage.csv?month=${month}&zone=Asia/Shanghai`, { cookie })).text();
  const [header, line, ...others] = usage.trim().split('\r\n');
  expect(header).toContain('time (Asia/Shanghai)');
  expect(line).toContain(asked.headers.get('x-oneapi-request-id'));
  expect(line?.split(',').at(-2)).toBe(String(50_000_000 - available));
  expect(others).toEqual([]);
});

test('an export is for signed-in users, and about others for higher roles', async () => {
  const path = `/export/statement.csv?month=${month}`;
  const [own, root] = await Promise.all([
    cookieOf(bob),
    cookieOf({ username: 'root', password: gateway.rootPassword }),
  ]);
  expect((await get(path)).status).toBe(401);
  expect((await get(path, { cookie: own, 'sec-fetch-site': 'cross-site' })).status).toBe(401);
  expect((await get(`${path}&user=${alice.actor.id}`, { cookie: own })).status).toBe(403);
  expect((await get(`${path}&user=${alice.actor.id}`, { cookie: root })).status).toBe(200);
  expect((await get(`${path}&user=999999`, { cookie: root })).status).toBe(404);
  const bad = await get('/export/statement.csv?month=2019-01', { cookie: own });
  expect([bad.status, await bad.text()]).toEqual([400, expect.stringContaining('month must be YYYY-MM')]);
});

test('the quota history has every movement as CSV and as JSON lines, filtered by causes and times', async () => {
  const cookie = await cookieOf(alice);
  const history = `/export/history.csv?kind=user&id=${alice.actor.id}`;
  const answer = await get(history, { cookie });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
  const [header, ...rows] = (await answer.text()).trimEnd().split('\r\n');
  expect(header).toContain('position,part,time (UTC),cause');
  const cells = rows.map((row) => row.split(','));
  const available = await gateway.available(alice);
  expect(cells.map(([, , , cause]) => cause)).toEqual(['adjustment', 'reservation', 'settlement']);
  expect(cells.at(-1)?.[7]).toBe(String(available));

  const lines = await get(history.replace('.csv', '.ndjson'), { cookie });
  expect(lines.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
  expect(lines.headers.get('content-disposition')).toMatch(/filename="history-user-\d+-\d{4}-\d\d-\d\d\.ndjson"/);
  const movements = (await lines.text())
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(movements.map(({ position }) => String(position))).toEqual(cells.map(([position]) => position));
  expect(movements.at(-1).balance).toEqual({ available: String(available), reserved: '0', invites: '0' });
  expect(movements.at(-1).channelId, 'by which channel, is for administrators').toBeNull();

  const rowsOf = async (query: string) =>
    (await (await get(history + query, { cookie })).text()).trimEnd().split('\r\n').slice(1);
  expect(await rowsOf('&cause=adjustment,settlement')).toEqual([rows[0], rows[2]]);
  expect(await rowsOf('&to=1700000000')).toEqual([]);
  expect(await rowsOf('&from=1700000000')).toEqual(rows);
});

test('the quota history of others, of channels and of nothing is refused by name', async () => {
  const own = await cookieOf(bob);
  const asked = async (query: string) => {
    const answer = await get(`/export/history.csv?${query}`, { cookie: own });
    return [answer.status, (await answer.text()).trim()];
  };
  expect(await asked(`kind=user&id=${alice.actor.id}`)).toEqual([403, 'role-too-low']);
  expect(await asked('kind=channel&id=1')).toEqual([403, 'role-too-low']);
  expect(await asked('id=1')).toEqual([400, expect.stringContaining('kind must be one of user, api-key, channel')]);
  expect(await asked('kind=user')).toEqual([400, expect.stringContaining('id must be')]);
  expect(await asked('kind=user&id=x')).toEqual([400, expect.stringContaining('must be')]);
  expect(await asked('kind=user&id=1&cause=theft')).toEqual([
    400,
    expect.stringContaining('cause must be some of reservation'),
  ]);
  expect(await asked('kind=user&id=1&from=yesterday')).toEqual([
    400,
    expect.stringContaining('from must be unix seconds'),
  ]);
});

test('the log with its seals is for root and auditors, compressed, and one that the verifier reads', async () => {
  const path = '/export/sealed-log.ndjson.gz';
  const [own, root] = await Promise.all([
    cookieOf(bob),
    cookieOf({ username: 'root', password: gateway.rootPassword }),
  ]);
  expect((await get(path, { cookie: own })).status).toBe(403);
  const answer = await get(path, { cookie: root });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/gzip']);
  const lines = gunzipSync(Buffer.from(await answer.arrayBuffer()))
    .toString()
    .trimEnd()
    .split('\n');
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ log: 'tallygate-log-1' });
  expect(JSON.parse(lines.at(-1) ?? '').end[0]).toBe('tallygate-end-1');
  expect(lines.length).toBeGreaterThan(10);
});

test('an export releases its slot with every answer', async () => {
  const cookie = await cookieOf(bob);
  for (let time = 0; time < 5; time++) {
    const answer = await get(`/export/usage.csv?month=${month}`, { cookie });
    expect(answer.status).toBe(200);
    await answer.text();
  }
});

test('an export contains no whole key, token, session or hash, for any reader and any file', async () => {
  const key = await gateway.addApiKey(alice);
  const asked = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hello' }] }),
  });
  await asked.text();
  const { token } = await gateway.application.users.issueAccessToken(
    alice.actor,
    await gateway.proven(alice, 'access-token'),
  );
  await gateway.application.visible(gateway.application.tail.position());
  const [own, root] = await Promise.all([
    cookieOf(alice),
    cookieOf({ username: 'root', password: gateway.rootPassword }),
  ]);
  const files = [
    [`/export/usage.csv?month=${month}`, own],
    [`/export/usage.csv?month=${month}&user=${alice.actor.id}`, root],
    [`/export/statement.csv?month=${month}`, own],
    [`/export/statement.csv?month=${month}&user=${alice.actor.id}`, root],
    ['/export/log.csv?', own],
    ['/export/log.csv?everyone=true', root],
    [`/export/history.csv?kind=user&id=${alice.actor.id}`, own],
    [`/export/history.ndjson?kind=channel&id=1`, root],
  ] as const;
  const secrets = [key.slice(3), token, 'sk-upstream-key', alice.password, own.slice(8), root.slice(8)];
  for (const [path, cookie] of files) {
    const answer = await get(path, { cookie });
    const text = await answer.text();
    expect([path, answer.status, text.includes('gpt-4o-mini') || !/usage|log/.test(path)]).toEqual([path, 200, true]);
    expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
    expect(text).not.toMatch(/argon2/);
  }
});
