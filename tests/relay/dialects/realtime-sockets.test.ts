import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { BodyRoom } from '../../../src/http/body-room.js';
import { openRealtimeSockets } from '../../../src/relay/dialects/openai/realtime/sockets.js';
import { openRealtime } from '../../support/callers/realtime-client.js';
import { until } from '../../support/until.js';

type Options = Parameters<typeof openRealtimeSockets>[0];

test('as many realtime sessions may be open as an API key, its user and the process may have, and another once one has ended', async () => {
  /** Ends one session, by the key that it is of. */
  const ends: { readonly key: string; readonly end: () => void }[] = [];
  const served = (key: string): number => ends.filter((one) => one.key === key).length;
  type Called = { readonly credential: { readonly key: string } | null };
  const keyOf = ({ credential }: Called): string => credential?.key ?? '';
  let id = 0;
  const sockets = openRealtimeSockets({
    relay: {
      // Keys 10 to 19 are those of user 1.
      identify: async (call: Called) => ({
        ...{ user: { id: Math.floor(Number(keyOf(call)) / 10) }, apiKey: { id: Number(keyOf(call)) } },
      }),
      serve: (call: Called) => new Promise<void>((end) => ends.push({ key: keyOf(call), end })),
    } as unknown as Options['relay'],
    newRequestId: () => String(++id),
    bodyRoom: new BodyRoom({ totalBytes: 1_000_000, maxBytes: 1_000_000, unfinishedPerAddress: 10_000 }),
    addressOf: () => '127.0.0.1',
    requestIdHeaders: [],
    log: { warn: () => {}, error: () => {} },
    maxMessageBytes: 1_000_000,
    limits: { messageMs: 60_000, perKey: 2, perUser: 3, perProcess: 4 },
  });
  const server = createServer().on('upgrade', (request, stream, head) => sockets.upgrade(request, stream, head));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const refused = (key: string): Promise<unknown> => openRealtime(url, key).catch((error: unknown) => error);
  const begun = async (key: string): Promise<void> => {
    const count = served(key) + 1;
    void refused(key);
    await until(async () => served(key) === count);
  };
  const tooMany = (whose: string) => ({ status: 429, body: expect.stringContaining(`${whose} has as many`) });
  try {
    for (const key of ['10', '10']) await begun(key);
    expect(await refused('10')).toMatchObject(tooMany('the token'));
    await begun('11');
    expect(await refused('11')).toMatchObject(tooMany('the user'));
    await begun('20');
    expect(await refused('30')).toMatchObject(tooMany('the gateway'));
    for (const { key, end } of ends) if (key === '10') end();
    await begun('30');
  } finally {
    server.close();
    server.closeAllConnections();
  }
});
