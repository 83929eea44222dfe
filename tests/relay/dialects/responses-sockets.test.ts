import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { BodyRoom } from '../../../src/http/body-room.js';
import { UpgradeRouter } from '../../../src/http/upgrade-router.js';
import {
  openResponsesSockets,
  type ResponsesSockets,
} from '../../../src/relay/dialects/openai/responses-socket/sockets.js';
import { LargeWork } from '../../../src/relay/text/large-work.js';
import { NotUpgraded, openSocket, type SocketClient } from '../../support/callers/websocket-client.js';
import { until } from '../../support/until.js';

/* How many WebSockets there may be, and how long they stay. Whoever calls is the user of its key's number. */

type Options = Parameters<typeof openResponsesSockets>[0];

interface Opened {
  readonly sockets: ResponsesSockets;
  readonly url: string;
  readonly bodyRoom: BodyRoom;
}

const servers: { readonly server: Server; readonly sockets: ResponsesSockets }[] = [];
const clients: SocketClient[] = [];
let enabled = true;

async function opened(limits: Partial<Options['limits']> = {}): Promise<Opened> {
  const router = new UpgradeRouter(() => {});
  const bodyRoom = new BodyRoom({ totalBytes: 1_000_000, maxBytes: 1_000_000, unfinishedPerAddress: 10_000 });
  let id = 0;
  const sockets = openResponsesSockets({
    relay: {
      identify: async ({ credential }: { credential: { key: string } | null }) => ({
        user: { id: Number(credential?.key) },
      }),
      serve: async () => {},
    } as unknown as Options['relay'],
    directory: {
      settings: () => ({ responsesOverWebSocket: enabled, keepsUpstream: false }),
    } as unknown as Options['directory'],
    newRequestId: () => String(++id),
    largeWork: new LargeWork(),
    bodyRoom,
    addressOf: () => '127.0.0.1',
    requestIdHeaders: ['x-request-id'],
    log: { warn: () => {}, error: () => {} },
    maxMessageBytes: 1_000_000,
    rememberedBytes: 10_000_000,
    limits: { messageMs: 60_000, ...limits },
  });
  for (const path of sockets.paths) router.own(path, sockets.upgrade);
  const server = createServer();
  router.listenTo(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  servers.push({ server, sockets });
  return { sockets, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodyRoom };
}

async function connected({ url }: Opened, user = 1): Promise<SocketClient> {
  const client = await openSocket(url, String(user));
  clients.push(client);
  return client;
}

const statusOf = (opening: Promise<unknown>): Promise<number> =>
  opening.then(
    () => 101,
    (error: unknown) => (error instanceof NotUpgraded ? error.status : 0),
  );

afterEach(async () => {
  enabled = true;
  for (const { socket } of clients.splice(0)) socket.terminate();
  for (const { server, sockets } of servers.splice(0)) {
    await sockets.end();
    server.close();
    server.closeAllConnections();
  }
});

describe('WebSockets of Responses', () => {
  test('that one user opens a thousand of are bounded, and others get theirs', { timeout: 60_000 }, async () => {
    const gateway = await opened();
    const statuses: number[] = [];
    for (let tens = 0; tens < 100; tens++)
      statuses.push(...(await Promise.all(Array.from({ length: 10 }, () => statusOf(connected(gateway))))));
    expect(statuses.filter((status) => status === 101)).toHaveLength(200);
    expect(statuses.filter((status) => status === 426)).toHaveLength(800);
    expect(await statusOf(connected(gateway, 2))).toBe(101);
    const [first] = clients;
    first?.socket.terminate();
    await until(async () => ((await statusOf(connected(gateway))) === 101 ? true : null));
  });

  test('are bounded per process, over all users', async () => {
    const gateway = await opened({ perProcess: 2 });
    const statuses = [];
    for (const user of [1, 2, 3]) statuses.push(await statusOf(connected(gateway, user)));
    expect(statuses).toEqual([101, 101, 426]);
  });

  test.each([
    ['are asked nothing for long', { quietMs: 1, pingMs: 20 }, 1001],
    ['have been open for long', { ageMs: 1, pingMs: 20 }, 1001],
  ] as const)('close where they %s', async (_what, limits, code) => {
    expect(await (await connected(await opened(limits))).closed).toBe(code);
  });

  test('close where they are switched off', async () => {
    const client = await connected(await opened({ pingMs: 20 }));
    enabled = false;
    expect(await client.closed).toBe(1001);
  });

  test('whose client answers no ping are ended', async () => {
    const gateway = await opened({ pingMs: 50 });
    const client = await connected(gateway);
    client.socket.pong = () => {};
    expect(await client.closed).toBe(1006);
  });

  test('close where a message exceeds its time limit, and release its memory', async () => {
    const gateway = await opened({ messageMs: 1, pingMs: 50 });
    const client = await connected(gateway);
    client.socket.send('{"type":', { fin: false });
    expect(await client.closed).toBe(1008);
    await until(async () => (gateway.bodyRoom.bytes === 0 ? true : null));
  });

  test('are refused with 503 where the gateway stops, and those there are close', async () => {
    const gateway = await opened();
    const client = await connected(gateway);
    gateway.sockets.finish();
    expect(await client.closed).toBe(1001);
    expect(await statusOf(connected(gateway))).toBe(503);
  });
});
