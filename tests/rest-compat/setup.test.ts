import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Gateway, startGateway } from '../../src/bootstrap/gateway.js';
import { readConfig } from '../../src/config.js';
import { createEmptyDatabase, type TestDatabase } from '../support/postgres/postgres.js';
import { dataOf, type RestServer, send, serveRest, signIn } from './rest-server.js';

/* One system from its first minute on: the tests of this file follow each other. */

let database: TestDatabase;
let gateway: Gateway;
let rest: RestServer;
const logged: string[] = [];

beforeAll(async () => {
  database = await createEmptyDatabase();
  const { connection } = database;
  if ('url' in connection) throw new Error('the test database is expected on a socket');
  const { host, user, database: name, port = 5432 } = connection;
  const config = readConfig({
    PORT: '0',
    SECRET_KEY: 'a-secret-key-for-tests-of-forty-characters',
    DATABASE_URL: `postgres://${user}@localhost:${port}/${name}?host=${encodeURIComponent(host)}`,
    PROJECTION_LINGER_MS: '5',
  });
  gateway = await startGateway(config, pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) }));
  rest = await serveRest(gateway.application);
});
afterAll(async () => {
  await rest.stop();
  await gateway.stop();
  await database.drop();
});

const state = () => send(rest.url, 'GET', '/api/setup');
const complete = (body: unknown) => send(rest.url, 'POST', '/api/setup', { body });
const shown = (): string =>
  logged.map((line) => (JSON.parse(line) as { code?: string }).code).findLast((code) => code !== undefined) ?? '';
const owner = {
  username: 'owner',
  password: 'eight888',
  confirmPassword: 'eight888',
  SelfUseModeEnabled: true,
  DemoSiteEnabled: false,
};

describe('a gateway before its set-up', () => {
  test('reports so', async () => {
    expect((await state()).json).toEqual({
      success: true,
      message: '',
      data: { status: false, root_init: false, database_type: 'postgres', code_needed: true },
    });
    expect(dataOf<{ setup: boolean }>(await send(rest.url, 'GET', '/api/status')).setup).toBe(false);
  });
  test.each([
    ['an unreadable body', 'nonsense', '请求参数有误'],
    ['a member of the wrong type', { ...owner, SelfUseModeEnabled: 'yes' }, '请求参数有误'],
    ['a blank user name', { ...owner, username: ' ' }, '用户名不能为空'],
    ['two passwords', { ...owner, confirmPassword: 'eight889' }, '两次输入的密码不一致'],
    ['a short password', { ...owner, password: 'seven77', confirmPassword: 'seven77' }, '密码长度至少为8个字符'],
  ])('refuses %s', async (_what, body, message) => {
    const answer = await complete(typeof body === 'string' ? body : { ...body, code: shown() });
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ success: false, message });
  });
  // A reverse proxy may send exactly what a browser on this machine would: nothing in a request says where it is from.
  test.each<Record<string, string>>([{}, { host: '127.0.0.1:3000' }, { host: 'localhost' }, { host: '[::1]:3000' }])(
    'is not set up without the code, however local the request looks: %j',
    async (headers) => {
      for (const code of [undefined, '', 'AAAA-BBBB-CCCC']) {
        const answer = await send(rest.url, 'POST', '/api/setup', { body: { ...owner, code }, headers });
        expect(answer.status).toBe(400);
        expect(answer.json).toMatchObject({ success: false, message: '初始化验证码错误，请查看网关日志' });
      }
      expect(await gateway.application.setup.isDone()).toBe(false);
    },
  );
});

describe('the set-up of a gateway', () => {
  test('succeeds for exactly one of many concurrent requests', async () => {
    const code = shown();
    const answers = await Promise.all(
      ['a', 'b', 'c', 'd', 'e'].map((name) => complete({ ...owner, code, username: `${owner.username}-${name}` })),
    );
    const outcomes = answers.map(({ status, json }) => `${status} ${json.message}`).sort();
    expect(outcomes).toEqual(['200 系统初始化成功', ...Array(4).fill('400 系统已经初始化完成')]);
  });
  test('is visible at once', async () => {
    expect((await state()).json.data).toEqual({ status: true, root_init: false, database_type: '' });
    const status = dataOf<Record<string, unknown>>(await send(rest.url, 'GET', '/api/status'));
    expect(status).toMatchObject({ setup: true, self_use_mode_enabled: true, demo_site_enabled: false });
  });
  test('creates a root user with its quota', async () => {
    const { username } = await rootUser();
    const root = await signIn(rest.url, username, owner.password);
    expect(dataOf<object>(await root.get('/api/user/self'))).toMatchObject({
      display_name: 'Root User',
      role: 100,
      status: 1,
      quota: 100_000_000,
      aff_code: '',
    });
  });
  test('is possible once', async () => {
    const answer = await complete(owner);
    expect(answer.status).toBe(400);
    expect(answer.json).toEqual({ success: false, message: '系统已经初始化完成', data: null });
  });
});

async function rootUser(): Promise<{ username: string }> {
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    const body = { username: `owner-${name}`, password: owner.password };
    const answer = await send(rest.url, 'POST', '/api/user/login', { body });
    if (answer.json.success === true) return { username: body.username };
  }
  throw new Error('nobody can sign in');
}
