import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { UpgradeRouter } from '../../src/http/upgrade-router.js';
import { rawClient, rawUpgrade } from '../support/raw-upgrade.js';
import { until } from '../support/until.js';

const switched = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';

let server: Server;
let port: number;
let router: UpgradeRouter;
let failures: unknown[];

beforeEach(async () => {
  failures = [];
  router = new UpgradeRouter((error) => void failures.push(error));
  server = createServer((request, response) => {
    let body = '';
    request.setEncoding('latin1').on('data', (piece: string) => {
      body += piece;
    });
    request.on('end', () => response.end(`plain ${request.method} ${request.url} ${body.length}`));
  });
  router.listenTo(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const says = (word: string) => (_request: unknown, socket: Duplex) => void socket.end(`${switched}${word}`);
const connections = () =>
  new Promise<number>((resolve, reject) => server.getConnections((error, n) => (error ? reject(error) : resolve(n))));

test('an upgrade is routed to the owner of its path, whatever the query', async () => {
  router.own('/graphql', says('graphql'));
  router.own('/v1/realtime', says('realtime'));
  const answers = ['/graphql', '/v1/realtime?model=gpt-realtime'].map((path) => rawUpgrade(port, path).answer());
  expect(await Promise.all(answers)).toEqual([`${switched}graphql`, `${switched}realtime`]);
});

test('an upgrade on an unknown path is answered with 404 and closed, even if the client closes nothing', async () => {
  router.own('/graphql', says('graphql'));
  const client = rawUpgrade(port, '/graphql/?a=1');
  const [head = '', body = ''] = (await client.answer()).split('\r\n\r\n');
  expect(head.split('\r\n')).toEqual([
    'HTTP/1.1 404 Not Found',
    'Connection: close',
    'X-Content-Type-Options: nosniff',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${body.length}`,
  ]);
  expect(JSON.parse(body)).toEqual({
    error: {
      message: 'Invalid URL (GET /graphql/): nothing here takes a WebSocket',
      type: 'invalid_request_error',
      param: '',
      code: '',
    },
  });
  await until(async () => ((await connections()) === 0 ? true : null));
  client.socket.destroy();
});

test('the logged part of an upgrade path is bounded', async () => {
  const answer = await rawUpgrade(port, `/${'x'.repeat(10_000)}`).answer();
  expect(answer).toContain('404 Not Found');
  expect(answer.length).toBeLessThan(600);
});

test('a client that resets a refused upgrade affects only that connection', async () => {
  for (let n = 0; n < 20; n++) {
    const client = rawUpgrade(port, '/nowhere');
    await client.answer();
    client.socket.resetAndDestroy();
    await client.closed;
  }
  await until(async () => ((await connections()) === 0 ? true : null));
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('plain GET / 0');
});

test('an owner that fails ends that connection, and the error is logged', async () => {
  router.own('/v1/realtime', () => {
    throw new Error('no room');
  });
  expect(await rawUpgrade(port, '/v1/realtime').answer()).toContain('HTTP/1.1 500 Internal Server Error');
  expect(String(failures)).toContain('no room');
});

test('an upgrade path has one owner, which may release it', async () => {
  const giveUp = router.own('/graphql', says('graphql'));
  expect(() => router.own('/graphql', says('another'))).toThrow('/graphql');
  giveUp();
  expect(await rawUpgrade(port, '/graphql').answer()).toContain('404 Not Found');
  router.own('/graphql', says('another'));
  expect(await rawUpgrade(port, '/graphql').answer()).toBe(`${switched}another`);
});

describe('a request for an upgrade to HTTP/2', () => {
  const asks = 'connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n';
  const plain = (answer: string) => answer.slice(answer.indexOf('plain'));

  test('is answered in HTTP/1.1, as without the upgrade; so is the next one on its connection', async () => {
    const { socket, answer } = rawClient(port);
    const body = 'x'.repeat(300_000);
    socket.write(`POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\n${asks}content-length: ${body.length}\r\n\r\n`);
    socket.write(body);
    expect(plain(await answer((text) => text.includes('plain')))).toContain('plain POST /v1/chat/completions 300000');
    socket.write(`GET /v1/models HTTP/1.1\r\nhost: a\r\n${asks}\r\n`);
    expect(await answer((text) => text.includes('models'))).toContain('plain GET /v1/models 0');
    socket.destroy();
  });

  test('is recognised however its bytes are cut', async () => {
    const request = `POST /a HTTP/1.1\r\nhost: a\r\nx-empty:\r\n${asks}content-length: 3\r\n\r\nabc`;
    for (let at = 1; at < request.length; at += 7) {
      const { socket, answer } = rawClient(port);
      socket.write(request.slice(0, at));
      await new Promise((resolve) => setImmediate(resolve));
      socket.write(request.slice(at));
      expect(await answer((text) => text.includes('plain'))).toContain('plain POST /a 3');
      socket.destroy();
    }
  });

  test('ends like any other when its client resets the connection', async () => {
    const { socket, closed } = rawClient(port);
    socket.write(`POST /a HTTP/1.1\r\nhost: a\r\n${asks}content-length: 300\r\n\r\nabc`);
    await until(async () => ((await connections()) === 1 ? true : null));
    socket.resetAndDestroy();
    await closed;
    await until(async () => ((await connections()) === 0 ? true : null));
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('plain GET / 0');
  });
});
