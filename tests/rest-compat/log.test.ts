import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newClient } from '../../src/adapters/database/postgres.js';
import type { ChannelId } from '../../src/domain/kernel/ids.js';
import { until } from '../support/until.js';
import { type Cast, type Client, dataOf, openStage, send } from './rest-server.js';

/* Calls through the relay, and what the legacy console finds in the log of them. */

let stage: Cast;
let channel: ChannelId;
let aliceKey: string;

interface Line {
  id: number;
  type: number;
  content: string;
  username: string;
  token_name: string;
  model_name: string;
  quota: number;
  channel: number;
  channel_name: string;
  created_at: number;
  other: string;
}
type Page = { items: Line[]; total: number; page: number; page_size: number };

const page = async (by: Client, path: string): Promise<Page> => dataOf<Page>(await by.get(path));
const linesOf = async (by: Client, path: string): Promise<Line[]> => (await page(by, path)).items;

async function call(key: string, model: string): Promise<void> {
  const answer = await send(stage.gateway.url, 'POST', '/v1/chat/completions', {
    headers: { authorization: `Bearer ${key}` },
    body: { model, messages: [{ role: 'user', content: 'hi' }] },
  });
  if (answer.status !== 200) throw new Error(`the call failed: ${answer.text}`);
}

beforeAll(async () => {
  stage = await openStage();
  const { gateway, users } = stage;
  channel = await gateway.addChannel({ name: 'east', models: ['gpt-4o', 'gpt-4o-mini'] });
  gateway.provider.script('gpt-4o', { text: 'yes', tokens: { prompt: 1_000, completion: 200 } });
  gateway.provider.script('gpt-4o-mini', { text: 'no', tokens: { prompt: 100, completion: 20 } });
  aliceKey = await gateway.addApiKey(users.alice);
  const bobKey = await gateway.addApiKey(users.bob);
  await call(aliceKey, 'gpt-4o');
  await call(aliceKey, 'gpt-4o-mini');
  await call(bobKey, 'gpt-4o-mini');
  await until(async () => ((await page(stage.root, '/api/log/?type=2')).total === 3 ? true : null));
});
afterAll(() => stage.stop());

describe('GET /log/', () => {
  test('returns all details of a call', async () => {
    const [line] = await linesOf(stage.admin, '/api/log/?username=alice&model_name=gpt-4o');
    // 1.25 × (1000 + 200 × 4)
    expect(line).toMatchObject({
      user_id: stage.alice.id,
      type: 2,
      content: '模型倍率 1.25，补全倍率 4.00，分组倍率 1.00',
      username: 'alice',
      token_name: 'test key',
      model_name: 'gpt-4o',
      quota: 2_250,
      prompt_tokens: 1_000,
      completion_tokens: 200,
      is_stream: false,
      channel,
      channel_name: 'east',
      group: 'default',
    });
    expect(JSON.parse(line?.other ?? '')).toMatchObject({ admin_info: { use_channel: [String(channel)] } });
  });
  test.each([
    ['', null],
    ['type=2', 3],
    ['type=0', null],
    ['type=1', 0],
    ['type=9', 0],
    ['type=2&username=alice', 2],
    ['type=2&username=nobody', 0],
    ['type=2&model_name=gpt-4o', 1],
    ['type=2&model_name=gpt-4o%25', 3],
    ['type=2&model_name=%25mini', 2],
    ['type=2&token_name=test%20key', 3],
    ['type=2&token_name=test', 0],
    ['type=2&group=default', 3],
    ['type=2&group=vip', 0],
    ['type=2&channel=4711', 0],
    ['type=2&start_timestamp=1', 3],
    ['type=2&end_timestamp=1', 0],
    ['type=2&start_timestamp=NaN&end_timestamp=undefined&channel=', 3],
  ])('filters by %j', async (query, total) => {
    const found = await page(stage.admin, `/api/log/?page_size=100&${query}`);
    expect(found.total).toBe(total ?? (await page(stage.admin, '/api/log/')).total);
    expect(found.items).toHaveLength(found.total);
  });
  test('is sorted newest first, in pages', async () => {
    const whole = (await linesOf(stage.admin, '/api/log/?page_size=100')).map(({ id }) => id);
    expect(whole).toEqual([...whole].sort((a, b) => b - a));
    const second = await page(stage.admin, '/api/log/?p=2&page_size=2');
    expect(second).toMatchObject({ page: 2, page_size: 2, total: whole.length });
    expect(second.items.map(({ id }) => id)).toEqual(whole.slice(2, 4));
  });
  test('finds the channel of the filter by its number', async () => {
    expect((await page(stage.admin, `/api/log/?channel=${channel}`)).total).toBe(3);
  });
  test('includes the second bound', async () => {
    const [line] = await linesOf(stage.admin, '/api/log/?type=2&username=bob');
    const at = line?.created_at ?? 0;
    expect(
      (await page(stage.admin, `/api/log/?type=2&username=bob&start_timestamp=${at}&end_timestamp=${at}`)).total,
    ).toBe(1);
  });
});

describe("a user's own log", () => {
  test('contains own lines only, whatever name is requested', async () => {
    const own = await linesOf(stage.alice, '/api/log/self?username=bob&type=2');
    expect(own.map(({ username }) => username)).toEqual(['alice', 'alice']);
    expect((await linesOf(stage.admin, '/api/log/self?type=2')).length).toBe(0);
  });
  test('omits channels', async () => {
    const { text } = await stage.alice.get('/api/log/self?page_size=100');
    expect(text).not.toContain('admin_info');
    expect(text).not.toContain('east');
    const lines = dataOf<Page>(await stage.alice.get('/api/log/self?page_size=100')).items;
    expect(lines.every(({ id }) => id >= 0 && id < 1024)).toBe(true);
    expect(lines.find(({ type }) => type === 3)?.other).toBe('null');
  });
  test('is refused without a session', async () => {
    expect((await send(stage.url, 'GET', '/api/log/self')).status).toBe(401);
  });
});

describe('the figures of the log', () => {
  // 1.25 × (1000 + 200 × 4) and 0.075 × (100 + 20 × 4), each rounded.
  const totals = { prompt_tokens: 1_100, completion_tokens: 220, token: 1_320, request_count: 2, quota: 2_264 };

  test('sum the filtered lines, and the last minute whatever the time range', async () => {
    expect(dataOf<object>(await stage.admin.get('/api/log/stat?username=alice'))).toEqual({
      ...totals,
      cache_tokens: 0,
      reasoning_tokens: 0,
      rpm: 2,
      tpm: 1_320,
    });
    expect(dataOf<object>(await stage.admin.get('/api/log/stat?username=alice&type=1&end_timestamp=1'))).toMatchObject({
      quota: 0,
      request_count: 0,
      rpm: 2,
      tpm: 1_320,
    });
  });
  test("are the user's own under /self, by channel too", async () => {
    expect(dataOf<object>(await stage.alice.get('/api/log/self/stat?username=bob'))).toMatchObject(totals);
    expect(dataOf<object>(await stage.alice.get('/api/log/self/stat?channel=4711'))).toMatchObject({
      quota: 0,
      rpm: 0,
    });
    expect((await stage.alice.get('/api/log/stat')).json.message).toBe('无权进行此操作，权限不足');
  });
});

describe('searching the log', () => {
  const search = async (by: Client, path: string, keyword: string) =>
    dataOf<Line[]>(await by.get(`${path}?keyword=${encodeURIComponent(keyword)}`));

  test('matches a type by its number, or the beginning of its words', async () => {
    expect((await search(stage.admin, '/api/log/search', '2')).map(({ type }) => type)).toEqual([2, 2, 2]);
    const worded = await search(stage.admin, '/api/log/search', '模型倍率 0.07');
    expect(worded.map(({ model_name }) => model_name)).toEqual(['gpt-4o-mini', 'gpt-4o-mini']);
    expect(await search(stage.admin, '/api/log/search', '倍率')).toEqual([]);
    const { json } = await stage.admin.get(`/api/log/search?keyword=${encodeURIComponent('模型倍率 0.07')}`);
    expect(json).not.toHaveProperty('is_partial');
    expect((await search(stage.admin, '/api/log/search', '管理员将用户额度从')).length).toBeGreaterThan(3);
  });
  test('matches a type only among own lines', async () => {
    const found = await search(stage.alice, '/api/log/self/search', '2');
    expect(found.map(({ username, channel_name }) => [username, channel_name])).toEqual([
      ['alice', ''],
      ['alice', ''],
    ]);
    expect(await search(stage.alice, '/api/log/self/search', '模型倍率')).toEqual([]);
  });
});

describe('GET /log/token', () => {
  const ask = (key: string) => send(stage.url, 'GET', `/api/log/token?key=${key}`);

  test('returns the log of a key to its holder, from any page', async () => {
    for (const key of [aliceKey, aliceKey.slice(3)]) {
      const answer = await ask(key);
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      expect(dataOf<Line[]>(answer).map(({ model_name }) => model_name)).toEqual(['gpt-4o-mini', 'gpt-4o']);
      expect(answer.text).not.toContain('admin_info');
    }
  });
  test.each(['', 'sk-', `sk-${'x'.repeat(48)}`])('returns nothing for %j', async (key) => {
    expect((await ask(key)).json).toEqual({ success: true, message: '', data: [] });
  });
  test('still returns it when the key is deleted', async () => {
    const { gateway, users } = stage;
    const key = await gateway.addApiKey(users.bob);
    await call(key, 'gpt-4o-mini');
    await until(async () => (dataOf<Line[]>(await ask(key)).length === 1 ? true : null));
    const [newest] = dataOf<{ id: number; key: string }[]>(await stage.bob.get('/api/token/'));
    await stage.bob.delete(`/api/token/${newest?.id}`);
    expect(dataOf<Line[]>(await ask(key))).toHaveLength(1);
  });
  test('returns it only where and while the key may be used', async () => {
    const { gateway, users } = stage;
    const refused = { success: false, message: '该令牌已停用、已过期，或不允许从当前地址使用', data: null };
    const elsewhere = await gateway.addApiKey(users.bob, { allowIps: ['192.0.2.0/24'] });
    expect((await ask(elsewhere)).json).toEqual(refused);
    const here = await gateway.addApiKey(users.bob, { allowIps: ['127.0.0.1', '::1'] });
    expect((await ask(here)).json.success).toBe(true);
    const [newest] = dataOf<{ id: number }[]>(await stage.bob.get('/api/token/'));
    await stage.bob.put('/api/token/?status_only=true', { id: newest?.id, status: 2 });
    expect((await ask(here)).json).toEqual(refused);
    const banned = await gateway.addUser(0, 'bannedkey');
    const bannedKey = await gateway.addApiKey(banned);
    expect((await ask(bannedKey)).json.success).toBe(true);
    await stage.root.post('/api/user/manage', { id: banned.actor.id, action: 'disable' });
    expect((await ask(bannedKey)).json).toEqual(refused);
  });
});

describe('dashboard figures', () => {
  interface Row {
    id: number;
    username: string;
    model_name: string;
    created_at: number;
    count: number;
  }
  const hour = () => Math.floor(Date.now() / 3_600_000) * 3_600;
  const range = () => `start_timestamp=${hour() - 3_600}&end_timestamp=${hour() + 3_600}`;
  const rows = async (by: Client, path: string) => dataOf<Row[]>(await by.get(`${path}${range()}`));

  test('are summed by model and hour for administrators', async () => {
    const found = await rows(stage.admin, '/api/data/?');
    expect(found.find(({ model_name }) => model_name === 'gpt-4o')).toEqual({
      id: 0,
      user_id: 0,
      username: '',
      model_name: 'gpt-4o',
      created_at: expect.any(Number),
      token_used: 1_200,
      count: 1,
      quota: 2_250,
    });
    expect(found.every(({ created_at }) => created_at % 3_600 === 0)).toBe(true);
  });
  test('are grouped by user where a user is named, and on self', async () => {
    for (const found of [
      await rows(stage.admin, '/api/data/?username=alice&'),
      await rows(stage.alice, '/api/data/self?'),
    ]) {
      expect(found.map(({ username }) => username)).toEqual(['alice', 'alice']);
      expect(found.map(({ model_name, count }) => [model_name, count])).toEqual([
        ['gpt-4o', 1],
        ['gpt-4o-mini', 1],
      ]);
    }
  });
  test('are limited to 30 days on self', async () => {
    const ask = async (from: number, to: number) =>
      (await stage.alice.get(`/api/data/self?start_timestamp=${from}&end_timestamp=${to}`)).json;
    expect(await ask(0, 2_592_001)).toEqual({ success: false, message: '时间跨度不能超过 1 个月', data: null });
    expect(await ask(0, 2_592_000)).toEqual({ success: true, message: '', data: [] });
  });
  test('require an end', async () => {
    expect((await stage.admin.get('/api/data/')).json.data).toEqual([]);
  });
});

test('a backslash in the name of a model is an ordinary character', async () => {
  const { gateway, users } = stage;
  const model = 'vendor\\mini';
  await gateway.addChannel({ name: 'west', models: [model] });
  gateway.provider.script(model, { text: 'yes', tokens: { prompt: 1, completion: 1 } });
  await gateway.setOption('SelfUseModeEnabled', 'true');
  await call(await gateway.addApiKey(users.bob), model);
  const found = (asked: string) => page(stage.root, `/api/log/?type=2&model_name=${encodeURIComponent(asked)}`);
  await until(async () => ((await found('vendor%')).total === 1 ? true : null));
  expect((await found(model)).total).toBe(1);
  expect((await found('vendor\\%')).total).toBe(1);
});

test('a line whose tokens the gateway counted is marked, for administrators', async () => {
  const { gateway, users } = stage;
  const model = 'tells-no-usage';
  await gateway.addChannel({ name: 'north', models: [model] });
  gateway.provider.script(model, { text: 'one two three', usage: 'never' });
  await gateway.setOption('SelfUseModeEnabled', 'true');
  await call(await gateway.addApiKey(users.bob), model);
  const line = await until(async () => (await linesOf(stage.root, `/api/log/?model_name=${model}`))[0] ?? null);
  expect(JSON.parse(line.other).admin_info).toMatchObject({ local_count_tokens: true });
  const [own] = await linesOf(stage.bob, `/api/log/self?model_name=${model}`);
  expect(own?.other).not.toContain('local_count_tokens');
  const [shown] = await linesOf(stage.root, '/api/log/?model_name=gpt-4o');
  expect(shown?.other).not.toContain('local_count_tokens');
});

test('a text search reports where it has not read everything', async () => {
  const database = newClient({ url: stage.gateway.config.database.url ?? '' });
  await database.connect();
  try {
    const { rows } = await database.query<{ schema: string }>(
      `select table_schema as schema from information_schema.tables
       where table_name = 'usage_log' order by table_schema desc limit 1`,
    );
    const [{ schema } = { schema: '' }] = rows;
    const { rows: columns } = await database.query<{ column_name: string }>(
      `select column_name from information_schema.columns
       where table_schema = $1 and table_name = 'usage_log' and column_name <> 'id' order by ordinal_position`,
      [schema],
    );
    const others = columns.map(({ column_name }) => `"${column_name}"`).join(', ');
    // The same call, ten thousand times more: all that is older is beyond what a search for words looks at.
    await database.query(
      `insert into ${schema}.usage_log (id, ${others})
       select 1000000000 + copy, ${others} from ${schema}.usage_log, generate_series(1, 10000) as copy
       where series_id in (select id from ${schema}.usage_log_series where model = 'gpt-4o') and type = 2`,
    );
  } finally {
    await database.end();
  }
  const search = async (words: string) =>
    (await stage.admin.get(`/api/log/search?keyword=${encodeURIComponent(words)}`)).json;
  expect(await search('模型价格')).toEqual({ success: true, message: '', data: [], is_partial: true });
  // Of a kind that there are few of, the oldest are found as well.
  const few = await search('管理员');
  expect(few).not.toHaveProperty('is_partial');
  expect((few.data as unknown[]).length).toBeGreaterThan(3);
  // Enough was found; and what no line begins with need not be looked for.
  const enough = await search('模型倍率 1.25');
  expect(enough).not.toHaveProperty('is_partial');
  expect(enough.data).toHaveLength(100);
  expect(await search('no line begins so')).toEqual({ success: true, message: '', data: [] });
});
