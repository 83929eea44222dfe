import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { type Caller, type Callers, openCallers } from '../../support/callers/callers.js';
import { lineOf } from '../../support/gateway/log-lines.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { eventFrame } from '../../support/upstreams/event-stream.js';
import { startUpstream, type Upstream } from '../../support/upstreams/upstream.js';

/* Answers with nothing in them, and answers that are failures: another channel is asked, and nobody pays for them. */

let gateway: TestGateway;
let callers: Callers;
let user: TestUser;
let caller: Caller;
let faulty: Upstream;
let good: Upstream;
let serve: (response: ServerResponse) => void = () => {};

const key = 'sk-upstream-0123456789';
/** By wire: the type of its channels, their key, and two models, of which one has another channel to ask. */
const wires = {
  openai: { type: 1, key, twice: 'o-twice', once: 'o-once' },
  anthropic: { type: 14, key, twice: 'claude-3-haiku-twice', once: 'claude-3-haiku-once' },
  gemini: { type: 24, key, twice: 'gemini-1.5-twice', once: 'gemini-1.5-once' },
  bedrock: { type: 33, key: `${key}|eu-north-1`, twice: 'b-twice', once: 'b-once' },
} as const;
type Wire = keyof typeof wires;

const usage = { prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 };
const answered = {
  ...{ id: 'c1', object: 'chat.completion', model: 'm', usage },
  choices: [{ index: 0, message: { role: 'assistant', content: 'A list.' }, finish_reason: 'stop' }],
};

const json = (body: JsonObject | string) => (response: ServerResponse) =>
  void response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(typeof body === 'string' ? body : JSON.stringify(body));
const events =
  (...frames: (JsonObject | string)[]) =>
  (response: ServerResponse) =>
    void response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .end(frames.map((frame) => `data: ${typeof frame === 'string' ? frame : JSON.stringify(frame)}\n\n`).join(''));
const amazon =
  (...frames: JsonObject[]) =>
  (response: ServerResponse) =>
    void response
      .writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' })
      .end(Buffer.concat(frames.map((event) => eventFrame(JSON.stringify(event)))));

beforeAll(async () => {
  gateway = await startTestGateway({ STREAMING_TIMEOUT: '5', RELAY_TIMEOUT: '30' });
  callers = openCallers(gateway.url);
  faulty = await startUpstream((_, response) => serve(response));
  good = await startUpstream((_, response) => json(answered)(response));
  await gateway.setOption('SelfUseModeEnabled', 'true');
  await gateway.setOption('RetryTimes', '2');
  for (const { type, key: shown, twice, once } of Object.values(wires)) {
    const first = { type, key: shown, baseUrl: faulty.url, priority: 10, autoBan: false };
    await gateway.addChannel({ ...first, models: [twice, once] });
    await gateway.addChannel({ type: 1, baseUrl: good.url, models: [twice] });
  }
  await gateway.addChannel({ type: 1, baseUrl: faulty.url, priority: 10, models: ['e-twice', 'e-once'] });
  user = await gateway.addUser(100_000_000);
  caller = callers.with(await gateway.addApiKey(user));
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  await faulty?.stop();
  await good?.stop();
});

const headers = { 'content-type': 'application/json' };
const ask = (path: string, body: JsonObject) => caller.send(path, { method: 'POST', headers, body });
const messages = [{ role: 'user', content: 'What is a ledger?' }];
const contents = [{ role: 'user', parts: [{ text: 'What is a ledger?' }] }];

/** The question in each dialect, whole and streamed. */
const asked: readonly (readonly [string, (model: string, stream: boolean) => ReturnType<typeof ask>])[] = [
  ['OpenAI', (model, stream) => ask('/v1/chat/completions', { model, messages, stream, max_tokens: 9 })],
  ['Anthropic', (model, stream) => ask('/v1/messages', { model, messages, stream, max_tokens: 9 })],
  [
    'Gemini',
    (model, stream) =>
      ask(`/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`, { contents }),
  ],
];

const chunk = (delta: JsonObject, finish_reason: string | null = null) => ({
  ...{ id: 'c1', object: 'chat.completion.chunk' },
  choices: [{ index: 0, delta, finish_reason }],
});
const message = (content: JsonObject[], stop_reason: string | null): JsonObject => ({
  ...{ id: 'm1', type: 'message', role: 'assistant', model: 'm', content, stop_reason },
  usage: { input_tokens: 3, output_tokens: 0 },
});
const start = { type: 'message_start', message: message([], null) };
const stop = { type: 'message_stop' };
const block = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } };
const candidate = (parts: JsonObject[], finishReason?: string) => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...(finishReason && { finishReason }) }],
});

type Case = readonly [wire: Wire, what: string, streams: boolean | null, serves: (response: ServerResponse) => void];
const cases: readonly Case[] = [
  ['openai', 'no choices', null, json({ choices: [] })],
  ['openai', 'no choices but a usage', null, json({ choices: [], usage })],
  ['openai', 'an empty body', null, json('')],
  ['openai', 'a choice without words or reason', null, json({ choices: [{ index: 0, message: { content: '' } }] })],
  ['openai', 'the end mark alone', true, events('[DONE]')],
  ['openai', 'nothing at all', true, events()],
  ['openai', 'a role and an empty delta', true, events(chunk({ role: 'assistant' }), chunk({ content: '' }), '[DONE]')],
  ['openai', 'a role, and then its end', true, events(chunk({ role: 'assistant', content: '' }))],
  ['openai', 'usage alone', true, events({ choices: [], usage }, '[DONE]')],
  ['openai', 'a finish reason that is a failure', true, events(chunk({}, 'error'), '[DONE]')],
  [
    'openai',
    'words that end by a failure',
    null,
    json({ choices: [{ message: { content: 'A' }, finish_reason: 'network_error' }] }),
  ],
  ['anthropic', 'a message without blocks', null, json(message([], null))],
  ['anthropic', 'a message that begins and ends', true, events(start, block, { type: 'ping' }, stop)],
  ['anthropic', 'a stop reason that is a failure', null, json(message([{ type: 'text', text: 'A' }], 'model_error'))],
  ['gemini', 'no candidates', null, json({ usageMetadata: { promptTokenCount: 3, totalTokenCount: 3 } })],
  ['gemini', 'a candidate with nothing in it', null, json(candidate([{ text: '' }]))],
  ['gemini', 'responses without candidates', true, events({ responseId: 'r' }, candidate([{ text: '' }]))],
  ['gemini', 'a call that makes no sense', null, json(candidate([], 'MALFORMED_FUNCTION_CALL'))],
  ['gemini', 'a signature that was missed', true, events(candidate([], 'MISSING_THOUGHT_SIGNATURE'))],
  ['gemini', 'a reason that nobody knows', null, json(candidate([], 'OTHER'))],
  ['bedrock', 'a message that begins and ends', true, amazon(start, block, stop)],
  ['bedrock', 'a message without blocks', false, json(message([], null))],
];

describe.each(cases)('an empty answer of %s: %s', (wire, _, streams, serves) => {
  const both = streams === null ? [true, false] : [streams];

  test('is a failure: the next channel is tried, in every dialect', async () => {
    serve = serves;
    for (const [dialect, question] of asked)
      for (const stream of both) {
        const answer = await question(wires[wire].twice, stream);
        expect([dialect, answer.status]).toEqual([dialect, 200]);
        expect(answer.text, dialect).toContain('A list.');
      }
  });

  test('of the last channel is reported as an error, and costs nothing', async () => {
    serve = serves;
    const before = await gateway.available(user);
    for (const [dialect, question] of asked)
      for (const stream of both) {
        const answer = await question(wires[wire].once, stream);
        expect(answer.status, `${dialect} ${answer.text}`).toBeGreaterThanOrEqual(500);
        expect(JSON.parse(answer.text), dialect).toHaveProperty('error');
      }
    expect(await gateway.available(user)).toBe(before);
  });
});

test('an empty list of vectors is a failure of the upstream', async () => {
  serve = json({ object: 'list', data: [], usage: { prompt_tokens: 3, total_tokens: 3 } });
  expect((await ask('/v1/embeddings', { model: 'e-once', input: 'hi' })).status).toBe(502);
  serve = json({ object: 'list', data: [{ embedding: [] }] });
  expect((await ask('/v1/embeddings', { model: 'e-once', input: 'hi' })).status).toBe(502);
});

describe('an answer without text is valid', () => {
  const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } };
  const blocked = { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 3 } };

  test.each<[string, Wire, number, boolean, (response: ServerResponse) => void, string]>([
    [
      'that has a finish reason',
      'openai',
      0,
      true,
      events(chunk({ role: 'assistant' }), chunk({}, 'length')),
      '[DONE]',
    ],
    ['that has a finish reason', 'openai', 1, true, events(chunk({}, 'stop'), '[DONE]'), 'message_stop'],
    [
      'that is only a tool call',
      'openai',
      0,
      true,
      events(chunk({ tool_calls: [call] }), chunk({}, 'tool_calls')),
      'call_1',
    ],
    ['that is a refusal', 'openai', 0, true, events(chunk({ refusal: 'No.' }), chunk({}, 'stop'), '[DONE]'), 'No.'],
    ['that is only thinking', 'openai', 0, true, events(chunk({ reasoning_content: 'Hm.' }), '[DONE]'), 'Hm.'],
    ['that has ended its turn', 'anthropic', 1, false, json(message([], 'end_turn')), 'end_turn'],
    ['that reports a blocked prompt to its own client', 'gemini', 2, true, events(blocked), 'SAFETY'],
  ])('for %s: %s, dialect %i', async (_what, wire, dialect, stream, serves, holds) => {
    serve = serves;
    const [, question] = asked[dialect] as (typeof asked)[number];
    const answer = await question(wires[wire].once, stream);
    expect([answer.status, answer.text.includes(holds)]).toEqual([200, true]);
    expect((await lineOf(gateway, user, answer)).outcome).toBe('completed');
  });
});
