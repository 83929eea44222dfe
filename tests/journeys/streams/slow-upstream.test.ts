import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Caller, type Callers, chunksIn, errorIn, openCallers } from '../../support/callers/callers.js';
import { lineOf } from '../../support/gateway/log-lines.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { startUpstream, type Upstream } from '../../support/upstreams/upstream.js';

/* Upstreams that never come to an end by themselves: RELAY_TIMEOUT does it. */

let gateway: TestGateway;
let upstream: Upstream;
let callers: Callers;
let user: TestUser;
let caller: Caller;
let serve: (response: ServerResponse) => void;
const model = 'slow';

/** Writes the same again and again, for as long as anybody listens. */
const drip = (response: ServerResponse, text: string): void => {
  const timer = setInterval(() => response.write(text), 20);
  response.once('close', () => clearInterval(timer));
};

beforeAll(async () => {
  gateway = await startTestGateway({ RELAY_TIMEOUT: '1', STREAMING_TIMEOUT: '60' });
  callers = openCallers(gateway.url);
  upstream = await startUpstream((_, response) => serve(response));
  await gateway.setOption('SelfUseModeEnabled', 'true');
  await gateway.addChannel({ models: [model], baseUrl: upstream.url });
  user = await gateway.addUser(1_000_000);
  caller = callers.with(await gateway.addApiKey(user));
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  await upstream?.stop();
});

describe('the time for an upstream’s answer', () => {
  test.each([
    ['the bytes of an answer arrive one by one', false, { 'content-type': 'application/json' }, ' '],
    ['nothing arrives', false, null, null],
    ['nothing of a stream arrives', true, null, null],
    ['only comments of a stream arrive', true, { 'content-type': 'text/event-stream' }, ': still here\n\n'],
    ['only frames without content for the caller arrive', true, { 'content-type': 'text/event-stream' }, 'data: x\n\n'],
    ['a whole answer arrives byte by byte, for a stream', true, {}, '{'],
    ['an error arrives byte by byte', false, null, 'refuse'],
  ])('is bounded when %s', async (_what, stream, headers, text) => {
    serve = (response) => {
      if (text === 'refuse') {
        response.writeHead(418);
        return drip(response, ' ');
      }
      if (headers !== null) response.writeHead(200, headers);
      if (text !== null) drip(response, text);
    };
    const answer = await caller.chat({ model, stream });
    if (text === 'refuse') return expect(answer.status).toBe(418);
    expect(answer.status).toBe(500);
    expect(errorIn(answer).message).toContain('the upstream did not answer in time');
    expect((await lineOf(gateway, user, answer)).quota).toBe(0);
  });

  test('is unlimited once a stream has begun', async () => {
    const chunk = (content: string, finish_reason: string | null = null) =>
      `data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, delta: { content }, finish_reason }] })}\n\n`;
    const startedAt = performance.now();
    serve = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(chunk('first'));
      const timer = setInterval(() => {
        response.write(': still here\n\n');
        // Twice what it may take to begin.
        if (performance.now() - startedAt < 2000) return;
        clearInterval(timer);
        response.end(`${chunk(' last', 'stop')}data: [DONE]\n\n`);
      }, 50);
    };
    const answer = await caller.chat({ model, stream: true });
    expect(chunksIn(answer)).toHaveLength(2);
    expect(answer.text).toContain('[DONE]');
    expect(answer.text).not.toContain('"error"');
  });
});
