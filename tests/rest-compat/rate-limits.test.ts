import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Instant } from '../../src/domain/kernel/instant.js';
import { requestLimit } from '../../src/rate-limit/request-limit.js';
import { startTestGateway, type TestGateway } from '../support/gateway/test-gateway.js';
import { type Answered, send, serveRest } from './rest-server.js';

describe('a sliding window', () => {
  const clockAt = (start: number) => {
    let now = start;
    return {
      now: () => Instant(now),
      pass(ms: number) {
        now += ms;
      },
    };
  };

  test('admits a number within its length, and one more for each that leaves it', () => {
    const clock = clockAt(1_000_000);
    const admit = requestLimit({ limit: 2, windowSeconds: 10 }, clock);
    expect(admit('a')).toBe(true);
    clock.pass(6_000);
    expect(admit('a')).toBe(true);
    expect(admit('a')).toBe(false);
    clock.pass(3_999);
    expect(admit('a')).toBe(false);
    clock.pass(1);
    expect(admit('a')).toBe(true);
    expect(admit('a')).toBe(false);
  });
  test('does not count refusals', () => {
    const clock = clockAt(0);
    const admit = requestLimit({ limit: 1, windowSeconds: 1 }, clock);
    expect(admit('a')).toBe(true);
    for (let n = 0; n < 9; n++) {
      clock.pass(100);
      expect(admit('a')).toBe(false);
    }
    clock.pass(100);
    expect(admit('a')).toBe(true);
  });
  test('counts each client separately', () => {
    const admit = requestLimit({ limit: 1, windowSeconds: 1 }, clockAt(0));
    expect([admit('a'), admit('b'), admit('a')]).toEqual([true, true, false]);
  });
  test('counts one subscriber as one client, with any of its addresses', () => {
    const admit = requestLimit({ limit: 1, windowSeconds: 1 }, clockAt(0));
    expect(admit('2001:db8:7:8::1')).toBe(true);
    for (const same of ['2001:db8:7:8::2', '2001:0DB8:0007:0008:ffff:ffff:ffff:ffff']) expect(admit(same)).toBe(false);
    expect(admit('2001:db8:7:9::1')).toBe(true);
    expect(admit('::ffff:192.0.2.1')).toBe(true);
    for (const same of ['192.0.2.1', '::ffff:c000:201']) expect(admit(same)).toBe(false);
    expect(admit('192.0.2.2')).toBe(true);
  });
  test('is exact over many times its limit', () => {
    const clock = clockAt(0);
    const admit = requestLimit({ limit: 3, windowSeconds: 1 }, clock);
    const admitted = Array.from({ length: 1_000 }, () => {
      clock.pass(100);
      return admit('a');
    });
    expect(admitted.filter(Boolean)).toHaveLength(300);
  });
  test('evicts the client that has been idle longest when there are too many', () => {
    const admit = requestLimit({ limit: 1, windowSeconds: 3_600 }, clockAt(0));
    admit('quiet');
    admit('busy');
    for (let n = 0; n < 9_999; n++) {
      admit(`client ${n}`);
      if (n === 5_000) expect(admit('busy')).toBe(false);
    }
    expect(admit('busy')).toBe(false);
    expect(admit('quiet')).toBe(true);
  });
  test('admits every request when it is switched off', () => {
    const admit = requestLimit(null, clockAt(0));
    expect(Array.from({ length: 1_000 }, () => admit('a')).every(Boolean)).toBe(true);
  });
});

describe('the rate limits over HTTP', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startTestGateway();
  });
  afterAll(() => gateway.stop());

  const wide = { limit: 1_000, windowSeconds: 60 };
  const narrow = { limit: 2, windowSeconds: 60 };
  const statuses = async (
    limits: Parameters<typeof serveRest>[1],
    ask: (url: string) => Promise<{ status: number }>[],
  ) => {
    const rest = await serveRest(gateway.application, limits);
    const answers: { status: number; text?: string }[] = [];
    for (const answer of ask(rest.url)) answers.push(await answer);
    await rest.stop();
    return answers;
  };

  test('refuse with an empty 429', async () => {
    const answers = await statuses({ rateLimits: { api: narrow, web: wide } }, (url) => [
      send(url, 'GET', '/api/status'),
      send(url, 'GET', '/api/user/self'),
      send(url, 'GET', '/api/notice'),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 429]);
    expect(answers.find(({ status }) => status === 429)).toMatchObject({ text: '' });
  });
  test('count unknown paths with the web pages', async () => {
    const answers = await statuses({ rateLimits: { api: wide, web: narrow } }, (url) => [
      send(url, 'GET', '/api/nothing'),
      send(url, 'GET', '/api/nothing'),
      send(url, 'POST', '/api/nothing'),
      send(url, 'GET', '/api/notice'),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 429]);
  });
  test('count guesses at accounts separately, correct ones too, by the address of a trusted proxy', async () => {
    const login = (url: string, ip: string, password = 'wrong-password') =>
      send(url, 'POST', '/api/user/login', {
        headers: { 'x-forwarded-for': ip },
        body: { username: 'root', password },
      });
    const rest = await serveRest(gateway.application, {
      allowAttempt: requestLimit(narrow, gateway.application.clock),
    });
    const outcomes = [
      await login(rest.url, '10.0.0.1'),
      await login(rest.url, '10.0.0.1', gateway.rootPassword),
      await login(rest.url, '10.0.0.1', gateway.rootPassword),
      await login(rest.url, '10.0.0.2', gateway.rootPassword),
    ];
    const others = await send(rest.url, 'GET', '/api/status', { headers: { 'x-forwarded-for': '10.0.0.1' } });
    await rest.stop();
    expect(outcomes.map(({ status, json }) => [status, json.success])).toEqual([
      [200, false],
      [200, true],
      [429, undefined],
      [200, true],
    ]);
    expect(others.status).toBe(200);
  });
  test('delay guesses at one account, on every face, and no other user', async () => {
    const victim = await gateway.addUser(0, 'guessed');
    // Its own address is sent by nobody here: the guesses come from a proxy's clients.
    const rest = await serveRest(gateway.application);
    const login = (ip: string, password: string, username = victim.username) =>
      send(rest.url, 'POST', '/api/user/login', { headers: { 'x-forwarded-for': ip }, body: { username, password } });
    const answers: Answered[] = [];
    while (answers.at(-1)?.status !== 429 && answers.length < 50)
      answers.push(...(await Promise.all(Array.from({ length: 5 }, () => login('192.0.2.66', 'wrong-password')))));
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.text).toBe('');
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await login('192.0.2.67', victim.password)).json.success).toBe(true);
    expect((await login('192.0.2.66', gateway.rootPassword, 'root')).json.success).toBe(true);
    await rest.stop();
  });
});
