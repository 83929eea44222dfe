import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../../support/gateway/test-gateway.js';
import { until } from '../../support/until.js';

/* A stream may be open for minutes, and many are: what their callers sent is not in memory for all that time. */

const frame = (delta: object, finish_reason: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'x', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;

let gateway: TestGateway;
let upstream: Server;
const lengths: { readonly said: string | undefined; readonly came: number }[] = [];
/** Have had their first frame. */
const open: ServerResponse[] = [];

beforeAll(async () => {
  gateway = await startTestGateway();
  // Keeps nothing of what it is sent but its length, as it was said beforehand and as it was.
  upstream = createServer((incoming, response) => {
    let came = 0;
    incoming.on('data', (piece: Buffer) => {
      came += piece.length;
    });
    incoming.once('end', () => {
      lengths.push({ said: incoming.headers['content-length'], came });
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(frame({ content: 'Once' }));
      open.push(response);
    });
  });
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const { port } = upstream.address() as AddressInfo;
  await gateway.addChannel({ models: ['m'], baseUrl: `http://127.0.0.1:${port}` });
  await gateway.setOption('ModelRatio', '{"m":0.001}');
});
afterAll(async () => {
  upstream?.closeAllConnections();
  upstream?.close();
  await gateway?.stop();
});

const streams = 24;
const messages = Array.from({ length: 4000 }, (_, index) => ({ role: 'user', content: `${index} `.repeat(60) }));
/** The same bytes for all: the callers take no memory worth mentioning. */
const body = Buffer.from(JSON.stringify({ model: 'm', stream: true, messages }));

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const memory = (): number => {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

async function begin(apiKey: string): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-length': body.length };
  const incoming = request(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers });
  incoming.end(body);
  const [response] = (await once(incoming, 'response')) as [IncomingMessage];
  await once(response, 'data');
  return response;
}

async function ended(response: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  response.on('data', (piece: Buffer) => pieces.push(piece));
  await once(response, 'end');
  return Buffer.concat(pieces).toString();
}

test('a sent prompt is released as soon as the upstream answers, whole and parsed', async () => {
  const apiKey = await gateway.addApiKey(await gateway.addUser(1_000_000_000));
  const end = (): void => {
    for (const response of open.splice(0)) response.end(`${frame({}, 'stop')}data: [DONE]\n\n`);
  };
  // The code is loaded and compiled by one that counts for nothing.
  const first = ended(await begin(apiKey));
  end();
  await first;

  const before = memory();
  const begun: IncomingMessage[] = [];
  for (let index = 0; index < streams; index++) begun.push(await begin(apiKey));
  await until(async () => (memory() - before < (streams * body.length) / 8 ? true : null));

  const endings = begun.map(ended);
  end();
  for (const text of await Promise.all(endings)) expect(text).toMatch(/data: \[DONE\]\n\n$/);
  // Not every upstream takes a body whose length is not stated.
  expect(lengths).toHaveLength(streams + 1);
  for (const { said, came } of lengths) expect(said).toBe(String(came));
}, 60_000);
