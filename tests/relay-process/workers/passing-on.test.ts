import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { UpgradeRouter } from '../../../src/http/upgrade-router.js';
import { passingOn, takePassedOn } from '../../../src/relay-process/workers/passing-on.js';
import { rawUpgrade } from '../../support/raw-upgrade.js';
import { until } from '../../support/until.js';

/* One server passes on to another, as a worker does. */

const seen: { address: string | undefined; headers: IncomingMessage['headers']; url: string | undefined }[] = [];
const switched = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
let directory: string;
let faces: Server;
let worker: Server;
let url: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tallygate-passing-'));
  const path = join(directory, 'socket');
  faces = createServer((request, response) => {
    seen.push({ address: request.socket.remoteAddress, headers: request.headers, url: request.url });
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      body += part;
    });
    request.on('end', () => {
      if (body === 'close') response.setHeader('connection', 'close');
      response.writeHead(201, { 'set-cookie': ['a=1', 'b=2'], 'x-length': body.length }).end(body);
    });
  });
  const owned = new UpgradeRouter(() => {});
  owned.own('/graphql', (request, socket) => {
    seen.push({ address: request.socket.remoteAddress, headers: request.headers, url: request.url });
    socket.end(`${switched}primary`);
  });
  owned.listenTo(faces);
  takePassedOn(faces);
  await new Promise<void>((resolve) => faces.listen(path, resolve));
  const { listener, upgrade } = passingOn(path);
  const upgrades = new UpgradeRouter(() => {}, upgrade);
  upgrades.own('/v1/realtime', (_request, socket) => void socket.end(`${switched}worker`));
  worker = createServer(listener);
  upgrades.listenTo(worker);
  await new Promise<void>((resolve) => worker.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(worker.address() as AddressInfo).port}`;
});
afterAll(async () => {
  worker?.close();
  faces?.closeAllConnections();
  faces?.close();
  await rm(directory, { recursive: true, force: true, maxRetries: 5 });
});

test('a request and its answer are forwarded unchanged', async () => {
  const body = 'x'.repeat(200_000);
  const answer = await fetch(`${url}/api/log/?a=%20b&a=2`, { method: 'POST', body, headers: { 'x-mine': 'yes' } });
  expect([answer.status, answer.headers.getSetCookie(), answer.headers.get('x-length')]).toEqual([
    201,
    ['a=1', 'b=2'],
    '200000',
  ]);
  expect(await answer.text()).toBe(body);
  expect(seen.at(-1)).toMatchObject({ url: '/api/log/?a=%20b&a=2', headers: { 'x-mine': 'yes' } });
});

test('a forwarded request has the address that the worker saw, whatever the client sends', async () => {
  await fetch(url, { headers: { 'x-tallygate-passed-from': '203.0.113.9', 'x-forwarded-for': '203.0.113.9' } });
  expect(seen.at(-1)?.address).toBe('127.0.0.1');
  expect(seen.at(-1)?.headers).not.toHaveProperty('x-tallygate-passed-from');
  expect(seen.at(-1)?.headers['x-forwarded-for']).toBe('203.0.113.9');
});

test('the faces decide whether a forwarded connection stays open', async () => {
  const agent = new Agent({ connections: 1 });
  const ask = async (body: string) => {
    const answer = await agent.request({ origin: url, path: '/', method: 'POST', body });
    await answer.body.dump();
    return answer.headers.connection;
  };
  expect([await ask('x'), await ask('close'), await ask('x')]).toEqual(['keep-alive', 'close', 'keep-alive']);
  await agent.close();
});

test('a client is disconnected when the faces are no longer served', async () => {
  const dead = passingOn(join(directory, 'nobody'));
  const server = createServer(dead.listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  await expect(fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)).rejects.toThrow();
  server.close();
});

describe('an upgrade that reaches a worker', () => {
  const upgrade = (path: string) => rawUpgrade((worker.address() as AddressInfo).port, path);

  test('is accepted by the worker that owns its path', async () => {
    const before = seen.length;
    expect(await upgrade('/v1/realtime?model=m').answer()).toBe(`${switched}worker`);
    expect(seen).toHaveLength(before);
  });

  test('is forwarded to its owner in the primary, which sees the client’s address', async () => {
    const answer = await upgrade('/graphql?a=1').answer();
    expect(answer.toLowerCase()).toMatch(/^http\/1.1 101 switching protocols\r\n/);
    expect(answer.endsWith('primary')).toBe(true);
    expect(seen.at(-1)).toMatchObject({ address: '127.0.0.1', url: '/graphql?a=1' });
  });

  test('is refused by the primary where no face owns it, and closed even if the client closes nothing', async () => {
    const taken = once(worker, 'upgrade') as Promise<[IncomingMessage, Socket, Buffer]>;
    const client = upgrade('/nowhere');
    const [, socket] = await taken;
    const answer = await client.answer();
    expect(answer).toMatch(/^HTTP\/1.1 404 Not Found\r\n/);
    expect(answer).toContain('Invalid URL (GET /nowhere)');
    await until(async () => (socket.destroyed ? true : null));
    client.socket.destroy();
  });
});
