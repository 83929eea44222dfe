import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { startFreshGateway } from '../browser/fresh-gateway.js';
import { startTestGateway, type TestGateway, type TestUser } from '../support/gateway/test-gateway.js';
import { until } from '../support/until.js';
import { startUpstream, type Upstream } from '../support/upstreams/upstream.js';
import { type CountingWay, openCountingWay } from './counting-way.js';
import type { ProxyName } from './documented.js';
import { isInstalled, type ProxyProcess, startDocumented, startPlainNginx } from './proxy-process.js';
import { type Answer, ask, askPlainly, begin, keptOpen } from './through.js';

/*
 * What docs/operating.md says of reverse proxies, with the very configurations it shows, through the real programs.
 */

const near = '127.0.0.2';
const spoofing = '127.0.0.3';
const model = 'gpt-4o-mini';

let gateway: TestGateway;
let upstream: Upstream;
let user: TestUser;
let key: string;
let boundKey: string;
/** Streams that are under way upstream. */
const streams: ServerResponse[] = [];

const portOf = (url: string): number => Number(new URL(url).port);

const frame = (content: string, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_750_000_000, model, choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`;

const chat = (authorization: string, more: object = {}, headers: Record<string, string> = {}) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', authorization: `Bearer ${authorization}`, ...headers },
  body: JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'Count.' }], ...more }),
});

beforeAll(async () => {
  upstream = await startUpstream((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    streams.push(response);
  });
  gateway = await startTestGateway({ TRUSTED_PROXIES: '127.0.0.1', CALLER_GONE_SECONDS: '1' });
  await gateway.addChannel({ baseUrl: upstream.url });
  user = await gateway.addUser(100_000_000);
  key = await gateway.addApiKey(user);
  boundKey = await gateway.addApiKey(user, { allowIps: [near] });
});
afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
});

const errorOf = ({ text }: Answer): { code?: string; message?: string } =>
  (JSON.parse(text) as { error: { code?: string; message?: string } }).error;

for (const name of ['nginx', 'caddy', 'haproxy', 'apache'] as const satisfies readonly ProxyName[]) {
  const there = isInstalled(name);
  if (!there) console.log(`skipped: ${name} is not installed on this machine`);

  describe.skipIf(!there)(`behind ${name}, as docs/operating.md has it`, () => {
    let proxy: ProxyProcess;
    let way: CountingWay;

    beforeAll(async () => {
      way = await openCountingWay(portOf(gateway.url));
      proxy = await startDocumented(name, way.port);
    });
    afterAll(async () => {
      await proxy?.stop();
      await way?.stop();
    });

    test('a client has its own address, and no other by a header it sends', async () => {
      const refused = async (from: string, headers: Record<string, string>): Promise<boolean> => {
        const response = await begin(proxy.port, '/v1/models', from, {
          headers: { authorization: `Bearer ${boundKey}`, ...headers },
        });
        response.resume();
        return response.statusCode === 403;
      };
      expect(await refused(near, {})).toBe(false);
      expect(await refused(spoofing, {})).toBe(true);
      for (const header of ['x-forwarded-for', 'x-real-ip', 'forwarded', 'x-client-ip'])
        expect([header, await refused(spoofing, { [header]: header === 'forwarded' ? `for=${near}` : near })]).toEqual([
          header,
          true,
        ]);
      expect(await refused(spoofing, { 'x-forwarded-for': `${near}, 127.0.0.1` })).toBe(true);
    });

    /** The answer begins with the first frame. */
    const streaming = async (first: string) => {
      const before = streams.length;
      const begun = begin(proxy.port, '/v1/chat/completions', near, chat(key));
      const stream = await until(async () => streams[before] ?? null);
      stream.write(frame(first));
      return { stream, response: await begun };
    };

    test('each frame of a stream arrives before the next one is sent', async () => {
      const { stream, response } = await streaming('word-0 ');
      expect(response.statusCode).toBe(200);
      let seen = '';
      response.setEncoding('utf8').on('data', (piece: string) => {
        seen += piece;
      });
      for (let n = 0; n < 12; n++) {
        if (n > 0) stream.write(frame(`word-${n} `));
        await until(async () => (seen.includes(`word-${n} `) ? true : null), 5_000);
      }
      stream.write(frame('', 'stop'));
      stream.end('data: [DONE]\n\n');
      await once(response, 'end');
      expect(seen).toContain('data: [DONE]');
    });

    test('a caller that disconnects is noticed, and its upstream request is aborted', async () => {
      const { stream, response } = await streaming('first');
      let closed = false;
      stream.once('close', () => {
        closed = true;
      });
      response.resume();
      response.destroy();
      // Some proxies notice with the next bytes.
      await until(async () => {
        if (!closed) stream.write(frame('more'));
        return closed ? true : null;
      });
    });

    test('a subscription works over a WebSocket', async () => {
      const login = await ask(proxy.port, '/api/user/login', near, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ username: 'root', password: gateway.rootPassword }),
      });
      const [session = ''] = (login.headers['set-cookie'] ?? []).filter((line) => line.startsWith('session='));
      // TLS ends at the proxy, and the gateway knows it.
      expect(session).toMatch(/; Secure/i);
      const socket = new WebSocket(`wss://127.0.0.1:${proxy.port}/graphql`, 'graphql-transport-ws', {
        ...{ rejectUnauthorized: false, servername: 'localhost', localAddress: near },
        headers: {
          cookie: session.split(';', 1)[0] ?? '',
          host: `localhost:${proxy.port}`,
          origin: `https://localhost:${proxy.port}`,
        },
      });
      const heard: { type: string; payload?: unknown }[] = [];
      socket.on('message', (data) => void heard.push(JSON.parse(String(data)) as { type: string }));
      await once(socket, 'open');
      socket.send(JSON.stringify({ type: 'connection_init' }));
      await until(async () => (heard.some(({ type }) => type === 'connection_ack') ? true : null));
      socket.send(
        JSON.stringify({
          id: '1',
          type: 'subscribe',
          payload: { query: 'subscription { liveTraffic { __typename } }' },
        }),
      );
      const next = await until(async () => heard.find(({ type }) => type === 'next') ?? null);
      expect(next.payload).toEqual({ data: { liveTraffic: { __typename: 'Traffic' } } });
      socket.terminate();
    });

    test('a body of 20 MB reaches the gateway', async () => {
      const padding = 'x'.repeat(20_000_000);
      const answer = await ask(
        proxy.port,
        '/v1/chat/completions',
        near,
        chat(key, { model: 'no-such-model', padding }),
      );
      expect(errorOf(answer)).toMatchObject({ code: 'model_not_found' });
    });

    test('HEAD is answered, and the connection stays open', async () => {
      const agent = keptOpen();
      const head = await ask(proxy.port, '/api/status', near, { method: 'HEAD' }, agent);
      expect([head.status, head.text]).toEqual([200, '']);
      expect((await ask(proxy.port, '/api/status', near, {}, agent)).text).toContain('"success":true');
      agent.destroy();
    });

    test('a connection to the gateway is reused, and the gateway keeps it longer than the proxy', async () => {
      const agent = keptOpen();
      const post = () => ask(proxy.port, '/v1/chat/completions', near, chat(key, { model: 'no-such-model' }), agent);
      await post();
      const before = way.connections();
      for (let n = 0; n < 8; n++) expect(errorOf(await post())).toMatchObject({ code: 'model_not_found' });
      expect(way.connections() - before).toBeLessThan(8);
      agent.destroy();
    });
  });
}

test('the gateway keeps a connection well beyond two minutes, the largest timeout of a proxy', async () => {
  const answer = await askPlainly(portOf(gateway.url), '/api/status', '127.0.0.1', {
    headers: { connection: 'keep-alive' },
  });
  expect(answer.headers['keep-alive']).toBe('timeout=305');
});

describe.skipIf(!isInstalled('nginx'))('behind nginx with `proxy_pass` only', () => {
  test('a fresh gateway cannot be set up without the code, though each request looks local', async () => {
    const fresh = await startFreshGateway();
    const proxy = await startPlainNginx(portOf(fresh.url));
    try {
      const owner = { username: 'owner', password: 'eight888', confirmPassword: 'eight888' };
      const post = (code: string) =>
        askPlainly(proxy.port, '/api/setup', near, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ ...owner, code }),
        });
      expect(JSON.parse((await askPlainly(proxy.port, '/api/setup', near)).text)).toMatchObject({
        data: { code_needed: true },
      });
      expect((await post('')).status).toBe(400);
      const { code = '' } = Object.fromEntries(new URLSearchParams(new URL(fresh.linkInLog()).hash.slice(1)));
      expect((await post(code)).status).toBe(200);
    } finally {
      await proxy.stop();
      await fresh.stop();
    }
  });

  test('a trusted proxy is logged as not identifying its clients', async () => {
    const proxy = await startPlainNginx(portOf(gateway.url));
    try {
      const warned = () => gateway.logged.filter((line) => line.includes('"doubt":"no-header"'));
      await askPlainly(proxy.port, '/v1/models', near);
      await askPlainly(proxy.port, '/v1/models', near);
      expect(warned()).toHaveLength(1);
      expect(warned()[0]).toContain('"proxy":"127.0.0.1"');
    } finally {
      await proxy.stop();
    }
  });
});
