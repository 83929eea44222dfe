import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { newestCall } from '../../support/gateway/ledger-snapshot.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { until } from '../../support/until.js';
import { startUpstream, type Upstream } from '../../support/upstreams/upstream.js';

/* A caller that stops reading holds its call, and the memory of its answer, for a bounded time only. */

let gateway: TestGateway;
let upstream: Upstream;
let user: TestUser;
let apiKey: string;
let cutOff = 0;

const size = 40 * 1024 * 1024;
const word = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'word '.repeat(1_000) } }] })}\n\n`;
const answer = JSON.stringify({
  choices: [{ index: 0, message: { role: 'assistant', content: 'x'.repeat(size) }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
});

beforeAll(async () => {
  gateway = await startTestGateway({ CALLER_STALL_SECONDS: '1' });
  upstream = await startUpstream(({ body }, response) => {
    response.once('close', () => {
      if (!response.writableFinished) cutOff++;
    });
    if (!body.includes('"stream":true')) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const flow = (): void => {
      while (!response.destroyed && response.write(word));
    };
    response.on('drain', flow);
    flow();
  });
  await gateway.addChannel({ models: ['plain'], baseUrl: upstream.url });
  await gateway.setOption('ModelRatio', '{"plain":0.001}');
});
afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
});
beforeEach(async () => {
  user = await gateway.addUser(1_000_000);
  apiKey = await gateway.addApiKey(user);
});

/** A caller that asks and does not read. */
function ask(body: object): Socket {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  socket.pause();
  socket.on('error', () => {});
  const text = JSON.stringify({ model: 'plain', messages: [{ role: 'user', content: 'hello' }], ...body });
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer ${apiKey}\r\n` +
      `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
  return socket;
}

const newest = () => newestCall(gateway.config);

const givenUp = () => gateway.logged.filter((line) => line.includes('given up')).length;

test('a stream that its caller does not read is ended, settled, and logged as stalled; the upstream is aborted', async () => {
  const before = { cutOff, givenUp: givenUp() };
  const socket = ask({ stream: true });
  await until(async () => (cutOff > before.cutOff ? true : null), 60_000);
  const call = await newest();
  expect(call.settled[0]).toMatchObject({ outcome: 'caller-stalled', usageSource: 'estimated' });
  expect(call.settled[0]?.charged).toBeGreaterThan(0);
  expect(givenUp()).toBe(before.givenUp + 1);
  socket.destroy();
});

test('a JSON answer that its caller does not read is charged, its connection closed and the log line written', async () => {
  const before = givenUp();
  const socket = ask({});
  await until(async () => (givenUp() > before ? true : null), 60_000);
  // Two tokens were reported of all that came.
  expect((await newest())?.settled[0]).toMatchObject({ outcome: 'completed', usageSource: 'disbelieved' });
  // What had left before is all there is.
  let taken = 0;
  socket.on('data', (piece: Buffer) => {
    taken += piece.length;
  });
  const closed = once(socket, 'close');
  socket.resume();
  await closed;
  expect(taken).toBeLessThan(size);
});

test('an answer queued behind one that is not read ends with the connection', async () => {
  const socket = ask({ stream: true });
  const text = JSON.stringify({ model: 'plain', messages: [], stream: true });
  const before = cutOff;
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer ${apiKey}\r\n` +
      `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
  await until(async () => (cutOff >= before + 1 ? true : null), 60_000);
  await newest();
  socket.destroy();
});
