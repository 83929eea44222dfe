import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { BrotliDecompress, brotliCompressSync, Gunzip, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Answer, type Caller, type Callers, errorIn, openCallers } from '../../support/callers/callers.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { until } from '../../support/until.js';
import { type PausedUpstream, startPausedUpstream } from '../../support/upstreams/paused-upstream.js';

/* Who may make the gateway receive and unpack what, before and after it knows them. */

const mebibyte = 1024 * 1024;
const model = 'gpt-4o-mini';
const heldModel = 'held';

let gateway: TestGateway;
let callers: Callers;
let upstream: PausedUpstream;
let user: TestUser;
let caller: Caller;
let apiKey: string;

/** Bytes that came out of any unpacking in this process since the last reset. */
let unpacked = 0;

function watchUnpacking(): () => void {
  const classes = [Gunzip, BrotliDecompress] as unknown as { prototype: Readable }[];
  for (const { prototype } of classes)
    prototype.push = function (this: Readable, piece: Buffer | null, ...rest: []) {
      unpacked += piece?.length ?? 0;
      return Readable.prototype.push.call(this, piece, ...rest);
    };
  return () => {
    // Their own method hides the inherited one; without it that is there again.
    for (const { prototype } of classes) Reflect.deleteProperty(prototype, 'push');
  };
}

const stopWatching = watchUnpacking();

beforeAll(async () => {
  upstream = await startPausedUpstream();
  gateway = await startTestGateway({
    MAX_REQUEST_BODY_MB: '8',
    MAX_BODIES_IN_MEMORY_MB: '16',
    MAX_UNFINISHED_BODIES: '10',
    REQUEST_TIMEOUT: '2',
  });
  callers = openCallers(gateway.url);
  await gateway.addChannel({ models: [model] });
  await gateway.addChannel({ models: [heldModel], baseUrl: upstream.url });
  await gateway.setOption('ModelRatio', JSON.stringify({ [model]: 0.075, [heldModel]: 0.075 }));
});
afterAll(async () => {
  stopWatching();
  await callers?.close();
  await gateway?.stop();
  await upstream?.stop();
});
beforeEach(async () => {
  user = await gateway.addUser(100_000_000);
  apiKey = await gateway.addApiKey(user);
  caller = callers.with(apiKey);
  unpacked = 0;
});

const codeOf = (answer: Answer): [number, string] => [answer.status, errorIn(answer).code];

const chatBody = (content: string, name = model): string =>
  JSON.stringify({ model: name, max_tokens: 1, messages: [{ role: 'user', content }] });

const packed = { 'content-encoding': 'gzip' };

describe('an anonymous caller', () => {
  const bomb = gzipSync(Buffer.alloc(64 * mebibyte, ' '));

  test('has nothing decompressed: 24 bombs are refused without a key', async () => {
    expect(bomb.length).toBeLessThan(80 * 1024);
    const sent = [null, `sk-${'a'.repeat(48)}`].flatMap((key) =>
      Array.from({ length: 12 }, () => callers.with(key).chat({}, { body: bomb, headers: packed })),
    );
    for (const answer of await Promise.all(sent)) expect(answer.status).toBe(401);
    expect(unpacked).toBe(0);
  });

  test('has at most a form’s worth of its body read by any face', async () => {
    const large = JSON.stringify({ username: 'x'.repeat(2 * mebibyte), password: 'x', query: '{ __typename }' });
    const headers = { 'content-type': 'application/json' };
    const anonymous = callers.with(null);
    const send = (path: string) => anonymous.send(path, { method: 'POST', body: large, headers });
    // More often than bodies may be under way: what was refused is not.
    for (let round = 0; round < 4; round++)
      for (const path of ['/graphql', '/api/user/login', '/v1/chat/completions', '/v1/audio/speech'])
        expect([path, (await send(path)).status]).toEqual([path, path.startsWith('/v1') ? 401 : 413]);
  });

  test('that sends in chunks, as behind a proxy that re-chunks, is read up to a form’s worth, and refused beyond', async () => {
    const send = async (size: number) => {
      const socket = await begun(
        'POST',
        '/graphql',
        ['content-type: application/json', 'transfer-encoding: chunked', 'connection: close'],
        Buffer.alloc(0),
      );
      const body = JSON.stringify({ query: '{ __typename }' }).padEnd(size);
      for (let at = 0; at < body.length; at += 1000) {
        const piece = body.slice(at, at + 1000);
        if (!socket.destroyed) socket.write(`${piece.length.toString(16)}\r\n${piece}\r\n`);
      }
      if (!socket.destroyed) socket.write('0\r\n\r\n');
      return textUntilClosed(socket);
    };
    const taken = await send(60_000);
    expect(taken).toMatch(/^HTTP\/1\.1 200 /);
    expect(taken).toContain('"__typename":"Query"');
    const refused = await send(70_000);
    expect(refused).toMatch(/^HTTP\/1\.1 413 /);
    expect(refused).toMatch(/\r\ncache-control: no-store\r\n/i);
    expect(refused).toContain('65536');
  });

  test('gets its answer before its body has arrived, and the connection is closed', async () => {
    const socket = await begun('POST', '/v1/chat/completions', ['content-length: 50000000'], Buffer.alloc(1000, ' '));
    const text = await textUntilClosed(socket);
    expect(text).toMatch(/^HTTP\/1\.1 401 /);
    expect(text).toMatch(/\r\nconnection: close\r\n/i);
    expect(text).toContain('missing_api_key');
  });

  /** Sends the head and a piece of the body. */
  async function begun(method: string, path: string, headers: string[], piece: Buffer): Promise<Socket> {
    const { port, hostname } = new URL(gateway.url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    socket.write(
      Buffer.concat([Buffer.from([`${method} ${path} HTTP/1.1`, 'host: x', ...headers, '', ''].join('\r\n')), piece]),
    );
    return socket;
  }

  async function textUntilClosed(socket: Socket): Promise<string> {
    let text = '';
    socket.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
    socket.on('error', () => {});
    await once(socket, 'close');
    return text;
  }

  describe('a caller that sends slowly', () => {
    test('is cut off: of many bodies that drip, none stays open for long', async () => {
      const dripping: Socket[] = [];
      const headers = ['content-type: application/json', 'content-length: 1000'];
      const cases: [string, string[]][] = [
        ['/v1/chat/completions', [`authorization: Bearer ${apiKey}`]],
        ['/graphql', []],
        ['/api/user/login', []],
      ];
      for (const [path, extra] of cases)
        for (let count = 0; count < 3; count++)
          dripping.push(await begun('POST', path, [...headers, ...extra], Buffer.from('{')));
      const drip = setInterval(() => {
        for (const socket of dripping) socket.write(' ');
      }, 50);
      const texts = await Promise.all(dripping.map(textUntilClosed));
      clearInterval(drip);
      for (const text of texts) expect(text).toMatch(/^(HTTP\/1\.1 408 |$)/);
      expect((await caller.chat({ model })).status).toBe(200);
    });

    test('has a limited number of concurrent bodies, and completed ones make room', async () => {
      const headers = ['content-length: 1000', `authorization: Bearer ${apiKey}`];
      const sockets: Socket[] = [];
      const json = { 'content-type': 'application/json' };
      const refused = await until(async () => {
        // On a busy machine the first are cut off for their slowness before the last have begun.
        while (sockets.filter(({ closed }) => !closed).length < 10) {
          const socket = await begun('POST', '/v1/chat/completions', headers, Buffer.from('{'));
          sockets.push(socket.on('error', () => {}).resume());
        }
        const answer = await caller.chat({ model });
        const login = await callers.with(null).send('/api/user/login', { method: 'POST', body: '{}', headers: json });
        return answer.status === 429 && login.status === 429 ? answer : null;
      });
      expect(codeOf(refused)).toEqual([429, 'too_many_request_bodies']);
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
      for (const socket of sockets) socket.destroy();
      await until(async () => ((await caller.chat({ model })).status === 200 ? true : null));
    });
  });
});

describe('a caller with a key', () => {
  test('cannot decompress a small body without bound', async () => {
    for (const [encoding, pack] of [
      ['gzip', gzipSync],
      ['br', brotliCompressSync],
    ] as const) {
      unpacked = 0;
      // Within the limit of size, but a thousand times what was sent.
      const bomb = pack(chatBody(' '.repeat(7 * mebibyte)));
      const answer = await caller.chat({}, { body: bomb, headers: { 'content-encoding': encoding } });
      expect([encoding, ...codeOf(answer)]).toEqual([encoding, 413, 'read_request_body_failed']);
      expect(unpacked).toBeLessThan(2 * mebibyte);
    }
  });

  test('may send a body that compresses well', async () => {
    const lines = Array.from({ length: 20_000 }, (_, line) => `${line} GET /index.html 200 OK`).join('\n');
    const answer = await caller.chat({}, { body: gzipSync(chatBody(lines)), headers: packed });
    expect(answer.status).toBe(200);
  });

  test('has a share of the memory for bodies, as long as its calls need them; others get theirs', async () => {
    const body = chatBody('x'.repeat(3.5 * mebibyte), heldModel);
    const calls = [caller.chat({}, { body }), caller.chat({}, { body })];
    await until(async () => (upstream.waiting() === 2 ? true : null));
    const refused = await caller.chat({}, { body });
    expect(codeOf(refused)).toEqual([429, 'too_many_request_bodies']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);

    const neighbour = callers.with(await gateway.addApiKey(await gateway.addUser(100_000_000)));
    const others = [neighbour.chat({}, { body }), neighbour.chat({}, { body })];
    await until(async () => (upstream.waiting() === 4 ? true : null));
    const third = callers.with(await gateway.addApiKey(await gateway.addUser(100_000_000)));
    const full = await third.chat({}, { body });
    expect(codeOf(full)).toEqual([503, 'request_bodies_exhausted']);
    expect((await third.chat({ model })).status).toBe(200);

    upstream.answer({ prompt: 1, completion: 1 });
    for (const { status } of await Promise.all([...calls, ...others])) expect(status).toBe(200);
    const again = third.chat({}, { body });
    await until(async () => (upstream.waiting() === 1 ? true : null));
    upstream.answer({ prompt: 1, completion: 1 });
    expect((await again).status).toBe(200);
  });

  test('has every character of a large body arrive, wherever its chunks are cut', async () => {
    const content = Array.from({ length: 150_000 }, (_, index) => `${index}é漢😀`).join('');
    for (const [body, headers] of [
      [chatBody(content), {}],
      [gzipSync(chatBody(content)), packed],
    ] as const) {
      gateway.provider.reset();
      expect((await caller.chat({}, { body, headers })).status).toBe(200);
      const sent = gateway.provider.tally().requests[0]?.body as { messages: { content: string }[] };
      expect(sent.messages[0]?.content === content).toBe(true);
    }
  });

  test('gets the error for a body that it is still sending', async () => {
    const endless = JSON.stringify({ model, messages: [] }).padEnd(9 * mebibyte, ' ');
    expect(codeOf(await caller.chat({}, { body: endless }))).toEqual([413, 'read_request_body_failed']);
    expect((await caller.chat({ model })).status).toBe(200);
  });
});
