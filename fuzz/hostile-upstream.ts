import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { answerCalls } from './dialects/calls/answer.js';
import { seedOfCalls } from './dialects/calls/meant.js';
import { answerOddly } from './dialects/odd-answers.js';
import { answerPrediction, isPrediction } from './dialects/predictions.js';
import { answerTranscript, isTranscriptPath } from './dialects/transcripts.js';

/* An upstream on loopback that lies, stalls and breaks off, each model in a way of its own. */

const json = (response: ServerResponse, value: unknown, status = 200): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
};

const answer = (usage: unknown, content: unknown = 'Hello.'): unknown => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'upstream-model',
  choices: [{ index: 0, message: { role: 'assistant', content }, text: content, finish_reason: 'stop' }],
  data: [{ object: 'embedding', index: 0, embedding: [0.1, 0.2] }],
  usage,
});

const honest = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };

const frame = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;

const chunk = (content: string, finish: string | null = null, usage: unknown = undefined): string =>
  frame({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'upstream-model',
    choices: [{ index: 0, delta: { content }, finish_reason: finish }],
    ...(usage === undefined ? {} : { usage }),
  });

function stream(response: ServerResponse, usage: unknown): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(chunk('Hel'));
  response.write(': a comment\n\n');
  response.end(`${chunk('lo.', 'stop', usage)}data: [DONE]\n\n`);
}

const usual =
  (usage: unknown) =>
  (response: ServerResponse, streaming: boolean): void =>
    streaming ? stream(response, usage) : json(response, answer(usage));

/** What each model's upstream does. */
const behaviours: Readonly<Record<string, (response: ServerResponse, streaming: boolean) => void>> = {
  'fuzz-honest': usual(honest),
  'fuzz-huge-usage': usual({ prompt_tokens: 8e15, completion_tokens: 8e15, total_tokens: 1.6e16 }),
  'fuzz-negative-usage': usual({ prompt_tokens: -5, completion_tokens: -1e308, total_tokens: -6 }),
  'fuzz-odd-usage': usual({
    prompt_tokens: '9',
    completion_tokens: [3],
    prompt_tokens_details: { cached_tokens: 1e9 },
  }),
  'fuzz-no-usage': usual(undefined),
  'fuzz-null-usage': usual(null),
  'fuzz-odd-content': (response) => json(response, answer(honest, { deep: [[['x'.repeat(1_000)]]] })),
  'fuzz-empty': (response) => response.writeHead(200, { 'content-type': 'application/json' }).end(),
  'fuzz-html': (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<script>alert(1)</script>'),
  'fuzz-json-always': (response) => json(response, answer(honest)),
  'fuzz-stream-always': (response) => stream(response, honest),
  'fuzz-untyped-stream': (response) =>
    response.writeHead(200).end(`${chunk('Hello.', 'stop', honest)}data: [DONE]\n\n`),
  'fuzz-cut': (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk('Hel'), () => response.destroy());
  },
  'fuzz-cut-json': (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1_000 });
    response.write('{"id":', () => response.destroy());
  },
  'fuzz-reset': (response) => response.destroy(),
  'fuzz-error-in-stream': (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`${chunk('Hel')}${frame({ error: { message: 'sk-leaked-key', type: { odd: 1 }, code: 7 } })}`);
  },
  'fuzz-refuses': (response) => json(response, { error: { message: 'no', type: 'x'.repeat(5_000), code: ['y'] } }, 400),
  'fuzz-busy': (response) => {
    response.setHeader('retry-after', '1');
    json(response, { error: { message: 'slow down' } }, 429);
  },
  'fuzz-broken': (response) => json(response, { detail: null }, 503),
  'fuzz-redirect': (response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
  'fuzz-not-modified': (response) => response.writeHead(304).end(),
  'fuzz-gzip': (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    response.end(gzipSync(JSON.stringify(answer(honest))));
  },
  'fuzz-bad-gzip': (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end('no gzip');
  },
  'fuzz-deep': (response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(`${'['.repeat(50_000)}${']'.repeat(50_000)}`),
  'fuzz-deep-refusal': (response) => {
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end(`{"error":{"message":${'{"message":'.repeat(50_000)}"no"${'}'.repeat(50_000)}}}`);
  },
  'fuzz-many-lines': (response) =>
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data\n'.repeat(10_000)),
  'fuzz-garbage': (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(Buffer.from('data: {"choices":[{"delta":\xff\xfe\n\ndata: \n\n\0\0data: [DO', 'latin1'));
  },
  'fuzz-early-hints': (response, streaming) => {
    response.writeEarlyHints({ link: '</x>; rel=preload' });
    usual(honest)(response, streaming);
  },
};

export const fuzzModels: readonly string[] = Object.keys(behaviours);

export interface HostileUpstream {
  readonly url: string;
  stop(): Promise<void>;
}

export async function startHostileUpstream(): Promise<HostileUpstream> {
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    response.on('error', () => {});
    request.on('error', () => {});
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const body = Buffer.concat(pieces).toString('utf8');
      const model = /"model":"([^"]+)"/.exec(body)?.[1] ?? '';
      const calls = seedOfCalls(body);
      if (calls !== null) return answerCalls(request, body, calls, response);
      if (isTranscriptPath(request.url ?? '')) return answerTranscript(body, response);
      if (isPrediction(request.url ?? '')) return answerPrediction(body, response);
      if (body.includes('#seed')) return answerOddly(request, body, response);
      // A model may be called like something every object has.
      const behave = (Object.hasOwn(behaviours, model) ? behaviours[model] : undefined) ?? usual(honest);
      behave(response, /"stream":true/.test(body));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
