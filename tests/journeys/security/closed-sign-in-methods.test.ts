import { connect } from 'node:net';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Gateway, startGateway } from '../../../src/bootstrap/gateway.js';
import { readConfig } from '../../../src/config.js';
import { createEmptyDatabase, type TestDatabase } from '../../support/postgres/postgres.js';
import { until } from '../../support/until.js';

/* A gateway that others can reach, from its first start on: the tests of this file follow each other. */

let database: TestDatabase;
let gateway: Gateway;
const logged: string[] = [];

beforeAll(async () => {
  database = await createEmptyDatabase();
  const { connection } = database;
  if ('url' in connection) throw new Error('the test database is expected on a socket');
  const { host, user, database: name, port = 5432 } = connection;
  const config = readConfig({
    HOST: '0.0.0.0',
    PORT: '0',
    SECRET_KEY: 'a-secret-key-for-tests-of-forty-characters',
    DATABASE_URL: `postgres://${user}@localhost:${port}/${name}?host=${encodeURIComponent(host)}`,
    HSTS_SECONDS: '31536000',
    CRITICAL_RATE_LIMIT_ENABLE: 'false',
    GLOBAL_WEB_RATE_LIMIT_ENABLE: 'false',
    PROJECTION_LINGER_MS: '5',
  });
  gateway = await startGateway(config, pino({ level: 'info' }, { write: (line: string) => void logged.push(line) }));
});
afterAll(async () => {
  await gateway?.stop();
  await database?.drop();
});

const codes = (): string[] =>
  logged.flatMap((line) => {
    const { code } = JSON.parse(line) as { code?: unknown };
    return typeof code === 'string' ? [code] : [];
  });

const owner = { username: 'owner', password: 'eight888', confirmPassword: 'eight888' };

const overRest = async (body: object, headers: Record<string, string> = {}) => {
  const answer = await fetch(`${gateway.url}/api/setup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return { status: answer.status, json: (await answer.json()) as { success: boolean; message: string } };
};

const overGraphql = async (query: string, variables: object = {}, headers: Record<string, string> = {}) => {
  const answer = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-tallygate-client': 'test', ...headers },
    body: JSON.stringify({ query, variables }),
  });
  return {
    status: answer.status,
    json: (await answer.json()) as {
      data?: Record<string, Record<string, unknown>>;
      errors?: { extensions: { code: string } }[];
    },
  };
};

const complete = 'mutation ($input: SetupInput!) { completeSetup(input: $input) { setUp } }';

describe('a fresh gateway that others can reach', () => {
  test('writes its set-up code to its log, and nowhere else', async () => {
    const answer = await fetch(`${gateway.url}/api/setup`);
    const text = await answer.text();
    expect(codes()).toHaveLength(1);
    expect(JSON.parse(text)).toMatchObject({ data: { status: false, code_needed: true } });
    expect(text).not.toContain(codes()[0]);
    expect((await overGraphql('{ status { setUp setUpCodeNeeded } }')).json.data).toEqual({
      status: { setUp: false, setUpCodeNeeded: true },
    });
  });

  test('cannot be set up without the code, on either face, with any host name', async () => {
    const calling: Record<string, string>[] = [{}, { host: 'localhost' }];
    for (const headers of calling) {
      expect(await overRest(owner, headers)).toMatchObject({
        status: 400,
        json: { success: false, message: '初始化验证码错误，请查看网关日志' },
      });
      const { json } = await overGraphql(complete, { input: { ...owner, code: 'AAAA-BBBB-CCCC' } });
      expect(json.errors?.[0]?.extensions.code).toBe('setup-code-wrong');
    }
    expect(await gateway.application.setup.isDone()).toBe(false);
  });

  test('cannot be set up by a page of another site, not even with the code', async () => {
    const input = { ...owner, code: codes().at(-1) };
    const foreign: Record<string, string>[] = [{ origin: 'http://evil.example' }, { 'sec-fetch-site': 'cross-site' }];
    for (const headers of foreign) {
      expect((await overRest(input, headers)).status).toBe(403);
      const { status, json } = await overGraphql(complete, { input }, headers);
      expect([status, json.errors?.[0]?.extensions.code]).toEqual([403, 'foreign-page']);
    }
    const form = { 'content-type': 'text/plain', origin: gateway.url };
    expect((await overRest(input, form)).status).toBe(415);
    expect((await overGraphql(complete, { input }, form)).status).toBe(400);
    expect(await gateway.application.setup.isDone()).toBe(false);
  });

  test('gets another code after some wrong ones', async () => {
    const [first = ''] = codes();
    await until(async () => {
      await overRest({ ...owner, code: 'wrong' });
      return codes().length > 1 ? true : null;
    });
    expect((await overRest({ ...owner, code: first })).status).toBe(400);
  });

  test('is set up with the code from its log, from a page of its own', async () => {
    const input = { ...owner, code: codes().at(-1)?.toLowerCase() };
    const { json } = await overGraphql(complete, { input }, { origin: gateway.url });
    expect(json).toEqual({ data: { completeSetup: { setUp: true } } });
    expect((await overGraphql('{ status { setUp setUpCodeNeeded } }')).json.data).toEqual({
      status: { setUp: true, setUpCodeNeeded: false },
    });
  });
});

describe('every answer of every face', () => {
  test.each([
    ['GET', '/', 'text/html'],
    ['GET', '/login', 'text/html'],
    ['GET', '/no/such/path', '*/*'],
    ['GET', '/assets/none.js', '*/*'],
    ['GET', '/api/status', '*/*'],
    ['POST', '/api/user/login', '*/*'],
    ['OPTIONS', '/api/user/login', '*/*'],
    ['GET', '/graphql', '*/*'],
    ['POST', '/graphql', '*/*'],
    ['GET', '/v1/models', '*/*'],
    ['POST', '/v1/chat/completions', '*/*'],
    ['OPTIONS', '/v1/chat/completions', '*/*'],
    ['GET', '/v1/%zz', '*/*'],
    ['GET', '/v1/dashboard/billing/usage', '*/*'],
  ])('to %s %s declares its content type, and https where that is required', async (method, path, accept) => {
    const { port, hostname } = new URL(gateway.url);
    // By hand: clients that tidy addresses up would not send all of these.
    const head = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), hostname);
      let text = '';
      socket.setEncoding('utf8').on('data', (part) => {
        text += part;
        if (text.includes('\r\n\r\n')) {
          socket.destroy();
          resolve(text.split('\r\n\r\n', 1)[0]?.toLowerCase() ?? '');
        }
      });
      socket.on('error', reject);
      socket.write(`${method} ${path} HTTP/1.1\r\nhost: x\r\naccept: ${accept}\r\ncontent-length: 0\r\n\r\n`);
    });
    expect(head).toContain('\r\nx-content-type-options: nosniff');
    expect(head.split('x-content-type-options:')).toHaveLength(2);
    expect(head).toContain('\r\nstrict-transport-security: max-age=31536000; includesubdomains');
  });
});
