import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { type Caller, type Callers, openCallers } from '../../support/callers/callers.js';
import { type StreamResult, streamCallers } from '../../support/callers/stream-callers.js';
import { lineOf } from '../../support/gateway/log-lines.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { startUpstream, type Upstream } from '../../support/upstreams/upstream.js';

/* Upstreams that answer, do not end their answer and stay connected, whatever they call what they send. */

let gateway: TestGateway;
let callers: Callers;
let upstream: Upstream;

type Play = (response: ServerResponse) => void;
/** By the model that is asked for. */
const plays = new Map<string, Play>();
let models = 0;

const pulseMs = 50;
/** From now on, and for as long as somebody listens. */
function repeat(response: ServerResponse, bytes: string): void {
  const pulsing = setInterval(() => response.write(bytes), pulseMs);
  response.once('close', () => clearInterval(pulsing));
}

const sending =
  (type: string | null, status: number, body: string, then: Play = () => undefined): Play =>
  (response) => {
    response.writeHead(status, type === null ? {} : { 'content-type': type });
    response.write(body);
    then(response);
  };

const text = 'Half of an answer';
const usage = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 };
const head = { id: 'c1', created: 1, model: 'm' };
const whole = JSON.stringify({
  ...{ ...head, object: 'chat.completion', usage },
  choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
});
const frame = (delta: JsonObject, finish_reason: string | null = null): string =>
  `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const words = `${frame({ content: 'Half of ' })}${frame({ content: 'an answer' })}`;

beforeAll(async () => {
  gateway = await startTestGateway({ STREAMING_TIMEOUT: '1', RELAY_TIMEOUT: '60' });
  callers = openCallers(gateway.url);
  upstream = await startUpstream(({ body }, response) => {
    const { model } = JSON.parse(body) as { model: string };
    plays.get(model)?.(response);
  });
  await gateway.setOption('SelfUseModeEnabled', 'true');
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  await upstream?.stop();
});

async function modelThat(play: Play): Promise<string> {
  const model = `model-${++models}`;
  plays.set(model, play);
  await gateway.addChannel({ models: [model], baseUrl: upstream.url, autoBan: false });
  return model;
}

const balance = 100_000_000;

async function newCaller(): Promise<{ readonly user: TestUser; readonly caller: Caller }> {
  const user = await gateway.addUser(balance);
  return { user, caller: callers.with(await gateway.addApiKey(user)) };
}

/** What a caller of each dialect gets. */
async function streamed(play: Play): Promise<{ readonly user: TestUser; readonly heard: [string, StreamResult][] }> {
  const model = await modelThat(play);
  const { user, caller } = await newCaller();
  const heard = streamCallers.map(
    async ({ dialect, stream }): Promise<[string, StreamResult]> => [dialect, await stream(caller, model)],
  );
  return { user, heard: await Promise.all(heard) };
}

const types = [
  ['application/json', 'application/json'],
  ['text/plain', 'text/plain; charset=utf-8'],
  ['application/x-ndjson', 'application/x-ndjson'],
  ['application/octet-stream', 'application/octet-stream'],
  ['no type', null],
  ['text/event-stream', 'text/event-stream'],
] as const;

async function expectWhole(play: Play): Promise<void> {
  const { user, heard } = await streamed(play);
  for (const [dialect, received] of heard) {
    expect(received, dialect).toMatchObject({ status: 200, words: text, error: null, marked: true });
    expect(received.finish, dialect).not.toBeNull();
    expect(await lineOf(gateway, user, received)).toMatchObject({ outcome: 'completed', completion_tokens: 4 });
  }
}

async function expectNothing(play: Play): Promise<void> {
  const { user, heard } = await streamed(play);
  for (const [dialect, received] of heard) {
    expect(received.status, dialect).toBe(500);
    expect(received.error?.message, dialect).toContain('it fell silent');
  }
  expect(await gateway.available(user)).toBe(balance);
}

const half = whole.slice(0, -9);

describe.concurrent.each(types)(
  'a caller of a stream that its upstream sends as %s and does not end',
  (_name, type) => {
    test('learns that a stream of events was broken off, and pays for the part that arrived', async () => {
      const { user, heard } = await streamed(sending(type, 200, words));
      for (const [dialect, received] of heard) {
        expect(received, dialect).toMatchObject({ status: 200, words: text, finish: null });
        expect(received.error?.message, dialect).toContain('it fell silent');
        const line = await lineOf(gateway, user, received);
        expect(line, dialect).toMatchObject({ outcome: 'upstream-broke', completion_tokens: 4 });
      }
    });

    test('gets all of a completed stream of events, and pays for it once', () =>
      expectWhole(sending(type, 200, words + frame({}, 'stop'))));

    test('gets all of a whole JSON answer, and pays for it once', () => expectWhole(sending(type, 200, whole)));

    test('learns that half a JSON answer was broken off, and pays nothing', () =>
      expectNothing(sending(type, 200, half)));
  },
);

describe.concurrent.each([
  ['comments', '\n: keep-alive\n\n'],
  ['blanks', '\n'],
])('a caller of a stream whose upstream continues with %s', (_what, bytes) => {
  const pulse: Play = (response) => repeat(response, bytes);

  test('gets all of a whole JSON answer, and pays for it once', () =>
    expectWhole(sending('application/json', 200, whole, pulse)));
});

test.concurrent('half a JSON answer followed by blanks is not waited for', () =>
  expectNothing(sending('application/json', 200, half, (response) => repeat(response, '\n'))));

describe.concurrent('a caller without streaming whose upstream does not end its answer', () => {
  test.each([
    ['with silence', sending('application/json', 200, whole)],
    ['with blanks', sending('application/json', 200, whole, (response) => repeat(response, ' \n'))],
    [
      'with a declared length that is too large',
      ((response) => response.writeHead(200, { 'content-length': whole.length + 7 }).write(whole)) as Play,
    ],
    [
      'with a broken connection',
      sending('application/json', 200, whole, (response) => response.write(' ', () => response.destroy())),
    ],
  ])('gets it, and pays for it once: %s', async (_how, play) => {
    const { user, caller } = await newCaller();
    const answer = await caller.chat({ model: await modelThat(play) });
    expect([answer.status, JSON.parse(answer.text)]).toMatchObject([200, { usage }]);
    expect(await lineOf(gateway, user, answer)).toMatchObject({ outcome: 'completed', completion_tokens: 4 });
  });

  test.each([
    ['JSON', JSON.stringify({ error: { message: 'No such thing', code: 'odd' } })],
    ['a page', '<html>No such thing'],
  ])('gets a refusal that is %s soon, and pays nothing', async (_what, body) => {
    const { user, caller } = await newCaller();
    const answer = await caller.chat({ model: await modelThat(sending('text/html', 404, body)) });
    expect(answer.status).toBe(404);
    expect(await gateway.available(user)).toBe(balance);
  });
});
