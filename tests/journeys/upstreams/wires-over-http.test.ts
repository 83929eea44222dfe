import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Caller, type Callers, chunksIn, isWholeStream, openCallers } from '../../support/callers/callers.js';
import { lineOf } from '../../support/gateway/log-lines.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { bedrockAnswers } from '../../support/upstreams/bedrock-answers.js';
import { grantedToken, newerAnswers } from '../../support/upstreams/newer-answers.js';
import { startUpstream, type Upstream, type UpstreamCall } from '../../support/upstreams/upstream.js';
import { saidByAll, type WireAnswers, wireAnswers } from '../../support/upstreams/wire-answers.js';

/* Each wire of its own through a gateway: whole and streamed, well and with every fault, and what is charged for it. */

let gateway: TestGateway;
let upstream: Upstream;
let callers: Callers;
let user: TestUser;
let caller: Caller;

let asked: UpstreamCall[] = [];
let serve: (call: UpstreamCall, response: ServerResponse) => void;

const wires = [...wireAnswers, ...bedrockAnswers, ...newerAnswers];
const modelOf = ({ type, model }: WireAnswers): string => model ?? `wire-${type}`;
const table = (value: number): string =>
  JSON.stringify(Object.fromEntries(wires.map((wire) => [modelOf(wire), value])));
/** Enough for the tokens that are reported to be believed. */
const question = { role: 'user', content: 'What is a ledger? '.repeat(100) };

beforeAll(async () => {
  gateway = await startTestGateway({ RELAY_TIMEOUT: '2' });
  callers = openCallers(gateway.url);
  upstream = await startUpstream((call, response) => {
    if (call.url === '/token') return void response.end(grantedToken);
    asked.push(call);
    serve(call, response);
  });
  await gateway.setOption('ModelRatio', table(1));
  await gateway.setOption('CompletionRatio', table(3));
  await gateway.setOption('CacheRatio', table(0.5));
  for (const wire of wires) {
    const { type, key, keyAt, basePath = '', other = '', setting = null } = wire;
    const baseUrl = upstream.url + basePath;
    const settings = { type, key: keyAt?.(upstream.url) ?? key, models: [modelOf(wire)], baseUrl, other, setting };
    await gateway.addChannel(settings);
  }
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  await upstream?.stop();
});
beforeEach(async () => {
  asked = [];
  user = await gateway.addUser(10_000_000);
  caller = callers.with(await gateway.addApiKey(user));
});

const chargeOf = ({ cached, completion = 3 }: WireAnswers): number => 1_000 - cached + cached * 0.5 + 50 * completion;

const answerWhole =
  (wire: WireAnswers) =>
  (_call: UpstreamCall, response: ServerResponse): void =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(wire.whole));

const answerStreamed =
  (wire: WireAnswers, frames = wire.stream) =>
  (_call: UpstreamCall, response: ServerResponse): ServerResponse => {
    response.writeHead(200, { 'content-type': wire.streamType ?? 'text/event-stream' });
    for (const frame of frames) response.write(frame);
    return response;
  };

describe.each(wires.map((wire) => [wire.type, wire.path, wire] as const))(
  'a channel of type %i at %s',
  (_type, _path, wire) => {
    const shown = wire.shownKey ?? wire.key;
    const [header, value] = wire.shownIn ?? ['authorization', `Bearer ${shown}`];
    const body = { model: modelOf(wire), messages: [question], max_tokens: 500 };

    test('answers whole, is asked with its key, and charges what the formula says', async () => {
      serve = answerWhole(wire);
      const answer = await caller.chat(body);
      expect(JSON.parse(answer.text)).toMatchObject({
        object: 'chat.completion',
        choices: [{ message: { content: saidByAll }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 1_000, completion_tokens: 50, total_tokens: 1_050 },
      });
      expect(asked.map(({ url, headers }) => [url, headers[header]])).toEqual([[wire.path, value]]);
      expect(await lineOf(gateway, user, answer)).toMatchObject({ quota: chargeOf(wire), usage_source: 'upstream' });
      expect(await gateway.available(user)).toBe(10_000_000 - chargeOf(wire));
    });

    test('answers streamed, and charges the same', async () => {
      serve = (call, response) => answerStreamed(wire)(call, response).end();
      const answer = await caller.chat({ ...body, stream: true });
      expect(isWholeStream(answer)).toBe(true);
      const said = chunksIn(answer).flatMap(({ choices }) => (choices as { delta: { content?: string } }[]) ?? []);
      expect(said.map(({ delta }) => delta.content ?? '').join('')).toBe(saidByAll);
      expect(asked.map(({ url }) => url)).toEqual([wire.streamPath ?? wire.path]);
      expect(await lineOf(gateway, user, answer)).toMatchObject({ quota: chargeOf(wire), usage_source: 'upstream' });
    });

    test.each([
      [401, false],
      [401, true],
      [429, false],
      [429, true],
      [500, false],
      [500, true],
    ])('that refuses with %i costs nothing, and its words hold no key (streamed: %s)', async (status, stream) => {
      const words = JSON.stringify(wire.refusal(`refused: ${shown}`));
      serve = (_call, response) => response.writeHead(status, { 'content-type': 'application/json' }).end(words);
      const answer = await caller.chat({ ...body, stream });
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.text).not.toContain(shown);
      expect(await gateway.available(user)).toBe(10_000_000);
    });

    test('whose whole answer is cut off costs its user nothing', async () => {
      const half = JSON.stringify(wire.whole).slice(0, 60);
      serve = (_call, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '5000' });
        response.write(half, () => response.destroy());
      };
      expect((await caller.chat(body)).status).toBeGreaterThanOrEqual(500);
      expect(await gateway.available(user)).toBe(10_000_000);
    });

    test('with a stream that is cut off costs what has arrived, and ends without an end mark', async () => {
      serve = (call, response) => {
        const begun = answerStreamed(wire, wire.stream.slice(0, -(wire.endFrames ?? 1)))(call, response);
        setTimeout(() => begun.destroy(), 50);
      };
      const answer = await caller.chat({ ...body, stream: true });
      expect(isWholeStream(answer)).toBe(false);
      const line = await lineOf(gateway, user, answer);
      expect(line).toMatchObject({ usage_source: 'estimated' });
      expect(line.quota).toBeGreaterThan(0);
      expect(line.quota).toBeLessThan(chargeOf(wire));
    });
  },
);

test('upstreams that never answer are given up, and cost nothing, on each of these wires, streamed and whole', async () => {
  serve = () => undefined;
  const bodies = wires.flatMap((wire) => [false, true].map((stream) => ({ model: modelOf(wire), stream })));
  const answers = await Promise.all(bodies.map((body) => caller.chat({ ...body, messages: [question] })));
  for (const { status } of answers) expect(status).toBeGreaterThanOrEqual(500);
  expect(asked).toHaveLength(bodies.length);
  expect(await gateway.available(user)).toBe(10_000_000);
});
