import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isObject, type JsonObject, parseJson } from '../../../src/relay/json/json.js';
import { type Answer, type Caller, type Callers, openCallers } from '../../support/callers/callers.js';
import { lineOf } from '../../support/gateway/log-lines.js';
import { receiptsOfAll } from '../../support/gateway/receipts.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { startUpstream, type Upstream } from '../../support/upstreams/upstream.js';

/*
 * A tier of service in every dialect: what is asked for, what goes upstream, and what is charged by what is reported.
 */

let gateway: TestGateway;
let callers: Callers;
let user: TestUser;
let caller: Caller;
const upstreams: Upstream[] = [];

/** What upstream is asked, and what it reports of tiers. */
let sent: JsonObject = {};
let reported: JsonObject = {};

const data = (response: JsonObject): string => `data: ${JSON.stringify(response)}\n\n`;
const event = (type: string, rest: JsonObject): string => `event: ${type}\n${data({ type, ...rest })}`;
const words = 'A ledger is a record.';

function openAiAnswer(stream: boolean): string {
  const head = { id: 'c', created: 1, model: 'm', ...reported };
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  const [message, finish_reason] = [{ role: 'assistant', content: words }, 'stop'];
  if (!stream)
    return JSON.stringify({
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason }],
      usage,
    });
  const chunk = { ...head, object: 'chat.completion.chunk' };
  return [
    data({ ...chunk, choices: [{ index: 0, delta: message }] }),
    data({ ...chunk, choices: [{ index: 0, delta: {}, finish_reason }] }),
    data({ ...chunk, choices: [], usage }),
    'data: [DONE]\n\n',
  ].join('');
}

function anthropicAnswer(stream: boolean): string {
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm' };
  const usage = { input_tokens: 10, output_tokens: 5, ...reported };
  if (!stream)
    return JSON.stringify({ ...message, content: [{ type: 'text', text: words }], stop_reason: 'end_turn', usage });
  return [
    event('message_start', { message: { ...message, content: [], stop_reason: null, usage } }),
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: words } }),
    event('content_block_stop', { index: 0 }),
    event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } }),
    event('message_stop', {}),
  ].join('');
}

function geminiAnswer(stream: boolean): string {
  const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15, ...reported };
  const content = { role: 'model', parts: [{ text: words }] };
  const response = { candidates: [{ content, index: 0, finishReason: 'STOP' }], usageMetadata };
  return stream ? data(response) : JSON.stringify(response);
}

beforeAll(async () => {
  gateway = await startTestGateway();
  callers = openCallers(gateway.url);
  const answering = async (answer: (stream: boolean) => string): Promise<string> => {
    const upstream = await startUpstream(({ url, body }, response) => {
      const asked = parseJson(body);
      sent = isObject(asked) ? asked : {};
      const stream = sent.stream === true || url.includes('streamGenerate');
      response.setHeader('content-type', stream ? 'text/event-stream' : 'application/json');
      response.end(answer(stream));
    });
    upstreams.push(upstream);
    return upstream.url;
  };
  const openAi = await answering(openAiAnswer);
  await gateway.setOption('ModelRatio', '{"o":100,"own":100,"a":100,"g":100}');
  await gateway.setOption('CompletionRatio', '{"o":1,"own":1,"a":1,"g":1}');
  const tiers = { flex: 0.5, priority: 2 };
  await gateway.setOption('ServiceTiers', JSON.stringify({ o: tiers, own: tiers, g: tiers, a: { fast: 2, us: 1.1 } }));
  await gateway.addChannel({ type: 1, models: ['o'], baseUrl: openAi });
  await gateway.addChannel({ type: 1, models: ['own'], baseUrl: openAi, paramOverride: '{"service_tier":"flex"}' });
  await gateway.addChannel({ type: 14, models: ['a'], baseUrl: await answering(anthropicAnswer) });
  await gateway.addChannel({ type: 24, models: ['g'], baseUrl: await answering(geminiAnswer) });
  user = await gateway.addUser(100_000_000);
  caller = callers.with(await gateway.addApiKey(user));
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  for (const upstream of upstreams) await upstream.stop();
});

const post = (path: string, body: JsonObject): Promise<Answer> =>
  caller.send(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
const messages = [{ role: 'user', content: 'What is a ledger?' }];

const ways = {
  openai: (model: string, stream: boolean, more: JsonObject) =>
    post('/v1/chat/completions', { model, stream, messages, ...more }),
  anthropic: (model: string, stream: boolean, more: JsonObject) =>
    post('/v1/messages', { model, stream, messages, max_tokens: 100, ...more }),
  gemini: (model: string, stream: boolean, more: JsonObject) =>
    post(`/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`, {
      contents: [{ role: 'user', parts: [{ text: 'What is a ledger?' }] }],
      ...more,
    }),
};

/** 15 tokens at a ratio of 100. */
const usual = 1_500;

const cases = [
  ['openai', 'o', { service_tier: 'priority' }, { service_tier: 'priority' }, { service_tier: 'priority' }, 2],
  ['openai', 'o', { service_tier: 'priority' }, { service_tier: 'default' }, { service_tier: 'priority' }, 1],
  ['openai', 'o', { service_tier: 'fast' }, { service_tier: 'priority' }, { service_tier: 'fast' }, 2],
  ['openai', 'o', { service_tier: 'priority' }, {}, { service_tier: 'priority' }, 2],
  ['openai', 'o', { service_tier: 'flex' }, { service_tier: 'flex' }, { service_tier: 'flex' }, 0.5],
  ['openai', 'o', { service_tier: 'flex' }, {}, { service_tier: 'flex' }, 1],
  ['openai', 'o', { service_tier: 'auto' }, { service_tier: 'priority' }, { service_tier: 'auto' }, 1],
  ['openai', 'o', {}, { service_tier: 'priority' }, {}, 1],
  // The operator's own tier is what the model is priced for.
  ['openai', 'own', {}, { service_tier: 'flex' }, { service_tier: 'flex' }, 1],
  ['anthropic', 'a', { speed: 'fast' }, { speed: 'fast' }, { speed: 'fast' }, 2],
  ['anthropic', 'a', { speed: 'fast' }, { speed: 'standard', inference_geo: 'global' }, { speed: 'fast' }, 1],
  ['anthropic', 'a', { inference_geo: 'us' }, { inference_geo: 'us' }, { inference_geo: 'us' }, 1.1],
  [
    'anthropic',
    'a',
    { speed: 'fast', inference_geo: 'us' },
    { speed: 'fast', inference_geo: 'us' },
    { speed: 'fast' },
    2.2,
  ],
  ['anthropic', 'a', { service_tier: 'auto' }, { service_tier: 'priority' }, { service_tier: 'auto' }, 1],
  ['gemini', 'g', { serviceTier: 'priority' }, { serviceTier: 'priority' }, { serviceTier: 'priority' }, 2],
  ['gemini', 'g', { serviceTier: 'priority' }, { trafficType: 'ON_DEMAND' }, { serviceTier: 'priority' }, 1],
  ['gemini', 'g', { service_tier: 'flex' }, { trafficType: 'ON_DEMAND_FLEX' }, { serviceTier: 'flex' }, 0.5],
  // Across dialects.
  ['openai', 'a', { service_tier: 'priority' }, { speed: 'fast' }, { speed: 'fast' }, 2],
  ['openai', 'g', { service_tier: 'priority' }, { serviceTier: 'priority' }, { serviceTier: 'priority' }, 2],
  ['anthropic', 'o', { speed: 'fast' }, { service_tier: 'priority' }, { service_tier: 'priority' }, 2],
  ['gemini', 'o', { serviceTier: 'priority' }, { service_tier: 'default' }, { service_tier: 'priority' }, 1],
] as const;

describe.each([
  ['a whole answer', false],
  ['a stream', true],
])('in %s a service tier is charged as served', (_, stream) => {
  test.each(cases)(
    'where %s requests %s for %j, receives %j, sends %j upstream and pays %d times',
    async (...given) => {
      const [dialect, model, asked, answered, upstream, factor] = given;
      reported = answered;
      const answer = await ways[dialect](model, stream, asked);
      expect(answer.status).toBe(200);
      expect(sent).toMatchObject(upstream);
      const line = await lineOf(gateway, user, answer);
      expect(line.quota).toBe(Math.round(usual * factor));
    },
  );
});

test.each([
  ['openai', 'o', { service_tier: 'ultrafast' }, 'service_tier', 'flex, priority'],
  ['openai', 'o', { service_tier: 7 }, 'service_tier', 'flex, priority'],
  ['anthropic', 'o', { inference_geo: 'us' }, 'inference_geo', 'flex, priority'],
  ['anthropic', 'a', { inference_geo: 'eu' }, 'inference_geo', 'fast, us'],
  ['gemini', 'g', { serviceTier: 'scale' }, 'serviceTier', 'flex, priority'],
] as const)('%s that requests %s for %j without a price is refused by name, free of charge', async (...given) => {
  const [dialect, model, asked, param, priced] = given;
  const before = await gateway.available(user);
  const answer = await ways[dialect](model, false, asked);
  expect(answer.status).toBe(400);
  expect(answer.text).toContain(`${param} asks for a tier of service that has no price`);
  expect(answer.text).toContain(priced);
  expect(await gateway.available(user)).toBe(before);
});

test('each of these calls has a receipt that gives its charge', async () => {
  const { served, wrong } = await receiptsOfAll(gateway);
  expect(served).toBeGreaterThan(3);
  expect(wrong).toEqual([]);
});
