import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { UpgradeRouter } from '../../src/http/upgrade-router.js';
import { rawUpgrade } from '../support/raw-upgrade.js';
import { until } from '../support/until.js';

const switched = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';

let server: Server;
let port: number;
let router: UpgradeRouter;
let failures: unknown[];

beforeEach(async () => {
  failures = [];
  router = new UpgradeRouter((error) => void failures.push(error));
  server = createServer((_request, response) => response.end('plain')).on('upgrade', router.route);
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

test('an upgrade goes to the owner of its path, whatever the query says', async () => {
  router.own('/graphql', says('graphql'));
  router.own('/v1/realtime', says('realtime'));
  const answers = ['/graphql', '/v1/realtime?model=gpt-realtime'].map((path) => rawUpgrade(port, path).answer());
  expect(await Promise.all(answers)).toEqual([`${switched}graphql`, `${switched}realtime`]);
});

test('a path that nobody owns is answered 404 in HTTP and closed, even if the client closes nothing', async () => {
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

test('what is told of a path is bounded', async () => {
  const answer = await rawUpgrade(port, `/${'x'.repeat(10_000)}`).answer();
  expect(answer).toContain('404 Not Found');
  expect(answer.length).toBeLessThan(600);
});

test('a client that resets a refused connection ends nothing but that', async () => {
  for (let n = 0; n < 20; n++) {
    const client = rawUpgrade(port, '/nowhere');
    await client.answer();
    client.socket.resetAndDestroy();
    await client.closed;
  }
  await until(async () => ((await connections()) === 0 ? true : null));
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('plain');
});

test('an owner that fails ends that connection, and whoever runs the gateway is told', async () => {
  router.own('/v1/realtime', () => {
    throw new Error('no room');
  });
  expect(await rawUpgrade(port, '/v1/realtime').answer()).toContain('HTTP/1.1 500 Internal Server Error');
  expect(String(failures)).toContain('no room');
});

test('a path has one owner, who may give it up', async () => {
  const giveUp = router.own('/graphql', says('graphql'));
  expect(() => router.own('/graphql', says('another'))).toThrow('/graphql');
  giveUp();
  expect(await rawUpgrade(port, '/graphql').answer()).toContain('404 Not Found');
  router.own('/graphql', says('another'));
  expect(await rawUpgrade(port, '/graphql').answer()).toBe(`${switched}another`);
});
