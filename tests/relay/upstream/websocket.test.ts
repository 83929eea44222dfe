import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { addressGuard } from '../../../src/outbound/address-guard.js';
import { AnswerRoom } from '../../../src/relay/upstream/answer-room.js';
import { openUpstream, type Sending, type Upstream, type UpstreamBody } from '../../../src/relay/upstream/upstream.js';
import { isSilence, Lost, Overdue, UnreadableBody } from '../../../src/relay/upstream/upstream-response.js';
import { until } from '../../support/until.js';
import {
  httpAnswer,
  startWebSocketUpstream,
  type WebSocketBehaviour,
} from '../../support/upstreams/websocket-upstream.js';

/* The transport alone: one message goes out over a WebSocket, and its answers are the body of the answer. */

const left: (() => unknown)[] = [];
afterEach(async () => {
  for (const leave of left.splice(0).reverse()) await leave();
});

const upstreamWith = (options: Partial<Parameters<typeof openUpstream>[0]> = {}): Upstream => {
  const upstream = openUpstream({ connections: 4, guard: null, ...options });
  left.push(() => upstream.close());
  return upstream;
};

const serving = async (behaviour: WebSocketBehaviour) => {
  const server = await startWebSocketUpstream(behaviour);
  left.push(() => server.stop());
  return server;
};

/** A server that does with each connection what it likes, below HTTP. */
async function servingRaw(serve: (socket: Socket) => void): Promise<string> {
  const server: Server = createServer((socket) => {
    socket.on('error', () => {});
    left.push(() => socket.destroy());
    serve(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  left.push(() => server.close());
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

interface SendOptions {
  readonly message?: string;
  readonly proxy?: string | null;
  readonly timeoutMs?: number;
  readonly idleMs?: number;
  readonly payer?: number | null;
}

const ask = (upstream: Upstream, url: string, options: SendOptions = {}): Sending => {
  const { message = 'hello', proxy = null, timeoutMs = 60_000, idleMs = 60_000, payer = null } = options;
  const content = { kind: 'message', text: message } as const;
  return upstream.send(
    { method: 'GET', url, headers: { 'x-own': 'yes' }, content },
    { proxy, timeoutMs, idleMs, payer },
  );
};

async function answerOf(sending: Sending) {
  const sent = await sending.sent;
  if (!sent.ok) throw new Error(`not sent: ${JSON.stringify(sent)}`);
  return sent.answer;
}

/** All of a body, and what ended it. */
async function read(body: UpstreamBody): Promise<{ text: string; failure: unknown }> {
  const pieces: Buffer[] = [];
  try {
    for (let next = await body.next(); next.done !== true; next = await body.next()) pieces.push(next.value);
    return { text: Buffer.concat(pieces).toString('utf8'), failure: null };
  } catch (failure) {
    return { text: Buffer.concat(pieces).toString('utf8'), failure };
  }
}

const accept = (head: string): string => {
  const [, key = ''] = /sec-websocket-key: (.+)\r\n/i.exec(head) ?? [];
  return createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
};

/** Answers the handshake, then does as set. */
const afterHandshake =
  (then: (socket: Socket) => void, extra = '') =>
  (socket: Socket) => {
    socket.once('data', (head: Buffer) => {
      socket.write(
        `HTTP/1.1 101 -\r\nconnection: upgrade\r\nupgrade: websocket\r\n${extra}` +
          `sec-websocket-accept: ${accept(String(head))}\r\n\r\n`,
      );
      then(socket);
    });
  };

const frameOf = (text: string, first = 0x81): Buffer => {
  const data = Buffer.from(text);
  const length =
    data.length < 126 ? Buffer.from([data.length]) : Buffer.from([126, data.length >> 8, data.length & 255]);
  return Buffer.concat([Buffer.from([first]), length, data]);
};
const goodbye = Buffer.from([0x88, 2, 3, 0xe8]);

describe('a message over a WebSocket', () => {
  test('is answered with messages, each an event; the slot is released when the other side closes', async () => {
    const upstream = upstreamWith({ connections: 1 });
    const server = await serving({
      serve(message, socket, request) {
        socket.send(`${message} from ${request.url} with ${request.headers['x-own']}`);
        socket.send('{\n"two":\r\n2\r}');
        socket.send(Buffer.from('bytes'));
        socket.send('');
        socket.close();
      },
    });
    for (let call = 0; call < 3; call++) {
      const answer = await answerOf(ask(upstream, `${server.url.replace('http', 'ws')}/chat?signed=1`));
      expect(answer.status).toBe(101);
      const { text, failure } = await read(answer.body);
      expect(failure).toBeNull();
      expect(text).toBe('data: hello from /chat?signed=1 with yes\n\ndata: { "two":  2 }\n\ndata: bytes\n\n');
    }
  });

  test('of any size arrives whole', async () => {
    const upstream = upstreamWith();
    const server = await serving({
      serve: (message, socket) => socket.send(String(message.length), () => socket.close()),
    });
    for (const length of [0, 125, 126, 65_535, 65_536, 3_000_000]) {
      const { body } = await answerOf(ask(upstream, server.url, { message: 'x'.repeat(length) }));
      expect((await read(body)).text).toBe(`data: ${length}\n\n`);
    }
  });

  test('is read the same however its answer is cut, byte by byte and in fragments, with pings between', async () => {
    const upstream = upstreamWith();
    const pong: string[] = [];
    const bytes = Buffer.concat([
      frameOf('é'.repeat(100)),
      frameOf('fir', 0x01),
      frameOf('ping', 0x89),
      frameOf('st', 0x80),
      frameOf('last'),
      goodbye,
    ]);
    const url = await servingRaw(
      afterHandshake((socket) => {
        socket.setNoDelay(true);
        socket.on('data', (piece: Buffer) => pong.push(piece.toString('hex')));
        const next = (at: number): void =>
          void (at < bytes.length && socket.write(bytes.subarray(at, at + 1), () => setImmediate(next, at + 1)));
        next(0);
      }),
    );
    const { text, failure } = await read((await answerOf(ask(upstream, url))).body);
    expect(failure).toBeNull();
    expect(text).toBe(`data: ${'é'.repeat(100)}\n\ndata: first\n\ndata: last\n\n`);
    // A pong of four bytes, masked as everything a client sends.
    expect(pong.join('')).toContain('8a84');
  });
});

describe('a WebSocket handshake', () => {
  test('that is refused is an answer with that status and body, and nothing was sent', async () => {
    const upstream = upstreamWith();
    const server = await serving({
      serve: () => {},
      refuse: (_, socket) =>
        socket.end(httpAnswer(403, '{"message":"HMAC signature does not match"}')).writable === false,
    });
    const sending = ask(upstream, server.url);
    const { status, body } = await answerOf(sending);
    expect(status).toBe(403);
    const slot = new AnswerRoom(100_000_000).newSlot('x');
    expect(String(await body.whole(1000, slot))).toBe('{"message":"HMAC signature does not match"}');
    expect(sending.started).toBe(false);
  });

  test.each([
    ['with a page', (socket: Socket) => socket.once('data', () => socket.end(httpAnswer(200, '<html>')))],
    ['with the accept value of another handshake', afterHandshake(() => {}, 'sec-websocket-accept: x\r\n')],
    [
      'with an extension that was not offered',
      afterHandshake(() => {}, 'sec-websocket-extensions: permessage-deflate\r\n'),
    ],
    ['with the end of the connection', (socket: Socket) => socket.once('data', () => socket.destroy())],
  ])('that is answered %s has sent nothing, and releases its slot', async (_how, serve) => {
    const upstream = upstreamWith({ connections: 1 });
    const url = await servingRaw(serve);
    for (let call = 0; call < 2; call++) {
      const sent = await ask(upstream, url).sent;
      expect(sent).toEqual({ ok: false, saturated: false, blocked: false, timedOut: false, requestSent: false });
    }
  });

  test('without an answer is aborted at its timeout, and nothing was sent', async () => {
    const upstream = upstreamWith();
    const url = await servingRaw(() => {});
    const sent = await ask(upstream, url, { timeoutMs: 50 }).sent;
    expect(sent).toMatchObject({ ok: false, timedOut: true, requestSent: false });
  });

  test('without an answer can be aborted', async () => {
    const upstream = upstreamWith({ connections: 1 });
    let connections = 0;
    const url = await servingRaw(() => void connections++);
    const sending = ask(upstream, url);
    await until(async () => (connections > 0 ? true : null));
    sending.cancel();
    expect(await sending.sent).toMatchObject({ ok: false, requestSent: false });
  });

  test('does not reach an address that must not be dialled, nor a name that resolves to one', async () => {
    let connections = 0;
    const url = await servingRaw(() => void connections++);
    const guard = addressGuard([], async () => [
      { address: '8.8.8.8', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ]);
    const upstream = upstreamWith({ guard });
    for (const address of [url, url.replace('127.0.0.1', 'inside.example'), url.replace('ws:', 'wss:')]) {
      const sent = await ask(upstream, address).sent;
      expect(sent).toMatchObject({ ok: false, blocked: true, requestSent: false });
    }
    expect(connections).toBe(0);
  });

  test('is sent to the very address that was checked', async () => {
    const server = await serving({ serve: (_, socket) => socket.close() });
    const names: string[] = [];
    const guard = addressGuard(['127.0.0.1'], async (name) => {
      names.push(name);
      return [{ address: '127.0.0.1', family: 4 }];
    });
    const upstream = upstreamWith({ guard });
    expect((await answerOf(ask(upstream, server.url.replace('127.0.0.1', 'allowed.example')))).status).toBe(101);
    expect(names).toEqual(['allowed.example']);
  });

  test('uses the proxy of the channel', async () => {
    const server = await serving({ serve: (message, socket) => socket.send(message, () => socket.close()) });
    const asked: string[] = [];
    const proxy = createHttpServer().on('connect', (request, socket: Socket) => {
      asked.push(request.url ?? '');
      const [host, port] = (request.url ?? '').split(':');
      const through = connect(Number(port), host, () => {
        socket.write('HTTP/1.1 200 -\r\n\r\n');
        through.pipe(socket).pipe(through);
      });
      for (const end of [through, socket]) end.on('error', () => {});
      left.push(() => socket.destroy());
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    left.push(() => proxy.close());
    const { port } = proxy.address() as AddressInfo;
    const upstream = upstreamWith();
    const { body } = await answerOf(ask(upstream, server.url, { proxy: `http://127.0.0.1:${port}` }));
    expect((await read(body)).text).toBe('data: hello\n\n');
    expect(asked).toEqual([new URL(server.url).host]);
  });

  test('takes a slot at the host: others are refused as saturated until it is released', async () => {
    const upstream = upstreamWith({ connections: 1 });
    const server = await serving({ serve: () => {} });
    const first = ask(upstream, server.url, { payer: 1 });
    await answerOf(first);
    expect(await ask(upstream, server.url, { payer: 2 }).sent).toMatchObject({ saturated: true, requestSent: false });
    first.cancel();
    await until(async () => (server.open() === 0 ? true : null));
    expect((await answerOf(ask(upstream, server.url, { payer: 2 }))).status).toBe(101);
  });
});

describe('an answer over a WebSocket', () => {
  const endOf = async (serve: (socket: Socket) => void, options: SendOptions = {}) => {
    const url = await servingRaw(serve);
    return read((await answerOf(ask(upstreamWith(), url, options))).body);
  };

  test('fails when the connection ends without a close frame, or breaks', async () => {
    for (const end of ['end', 'destroy', 'resetAndDestroy'] as const) {
      const { text, failure } = await endOf(
        afterHandshake((socket) => socket.write(frameOf('first'), () => socket[end]())),
      );
      expect(failure).toBeInstanceOf(Lost);
      if (end === 'end') expect(text).toBe('data: first\n\n');
    }
  });

  test.each([
    ['a masked frame of a server', Buffer.from([0x81, 0x80, 1, 2, 3, 4])],
    ['compressed bytes without an agreed extension', Buffer.from([0xc1, 1, 65])],
    ['a continuation without a beginning', frameOf('x', 0x80)],
    ['text that is not UTF-8', Buffer.from([0x81, 1, 0xff])],
  ])('fails at %s', async (_what, bytes) => {
    const { failure } = await endOf(afterHandshake((socket) => socket.write(bytes)));
    expect(failure).toBeInstanceOf(Lost);
  });

  test('is unreadable when a message is too large, which is detected before it has arrived', async () => {
    const announced = Buffer.from([0x81, 127, 0, 0, 0, 0, 0x01, 0, 0, 0x01]);
    const { failure } = await endOf(afterHandshake((socket) => socket.write(announced)));
    expect(failure).toBeInstanceOf(UnreadableBody);
  });

  test('fails as silent after its timeout, and for no other reason', async () => {
    const { text, failure } = await endOf(
      afterHandshake((socket) => socket.write(frameOf('first'))),
      { idleMs: 1000 },
    );
    expect(text).toBe('data: first\n\n');
    expect(failure instanceof Lost && isSilence(failure)).toBe(true);
  });

  test('has a total timeout, whatever arrives that is not an answer', async () => {
    const { failure } = await endOf(
      afterHandshake((socket) => {
        const timer = setInterval(() => socket.write(frameOf('', 0x89)), 5);
        socket.once('close', () => clearInterval(timer));
      }),
      { timeoutMs: 1500 },
    );
    expect(failure).toBeInstanceOf(Overdue);
  });

  test('is paused at the other side while its reader pauses', async () => {
    const upstream = upstreamWith();
    const size = 64 * 1024;
    const all = 64 * 1024 * 1024;
    let written = 0;
    const server = await serving({
      serve(_, socket) {
        const flow = (): void => {
          written += size;
          socket.send('x'.repeat(size), () => (written < all ? flow() : socket.close()));
        };
        flow();
      },
    });
    const { body } = await answerOf(ask(upstream, server.url, { idleMs: 1500 }));
    // Nothing is read: what is written comes to rest, and stays so for longer than a silence may last.
    let before = -1;
    await until(async () => {
      if (before === written) return true;
      before = written;
      await new Promise((resolve) => void setTimeout(resolve, 1700));
      return null;
    }, 30_000);
    expect(written).toBeLessThan(all / 2);
    const { text, failure } = await read(body);
    expect(failure).toBeNull();
    expect(text.length).toBe((all / size) * (size + 'data: \n\n'.length));
  });

  test('is ended by the side that has enough, with a close frame', async () => {
    const upstream = upstreamWith();
    const codes: number[] = [];
    const server = await serving({
      serve(_, socket) {
        socket.on('close', (code) => codes.push(code));
        socket.send('first');
      },
    });
    const sending = ask(upstream, server.url);
    const { body } = await answerOf(sending);
    expect(sending.started).toBe(true);
    expect((await body.next()).value?.toString()).toBe('data: first\n\n');
    sending.cancel();
    await until(async () => (codes.length > 0 ? true : null));
    expect(codes).toEqual([1000]);
    expect((await read(body)).failure).toBeInstanceOf(Lost);
  });

  test('ends with the process: no connection stays open', async () => {
    const upstream = openUpstream({ connections: 4, guard: null });
    const server = await serving({ serve: () => {} });
    const { body } = await answerOf(ask(upstream, server.url));
    await upstream.close();
    expect((await read(body)).failure).toBeInstanceOf(Lost);
    await until(async () => (server.open() === 0 ? true : null));
  });
});
