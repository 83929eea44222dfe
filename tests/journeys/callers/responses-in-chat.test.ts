import OpenAI from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import type { ResponseInput, ResponseInputItem } from 'openai/resources/responses/responses';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { type Caller, type Callers, errorIn, openCallers } from '../../support/callers/callers.js';
import { responseEventsFault } from '../../support/callers/response-events.js';
import { lineOf } from '../../support/gateway/log-lines.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import {
  type DialectUpstream,
  protocols,
  signature,
  startDialectUpstream,
  streamOf,
  used,
} from '../../support/upstreams/dialect-upstreams.js';
import { messageItem, reportedUsage, responseOf } from '../../support/upstreams/responses-answers.js';
import { startUpstream, type Upstream } from '../../support/upstreams/upstream.js';

/* Callers of the Responses interface at upstreams that have chat alone, over real HTTP, by the official SDK. */

let gateway: TestGateway;
let callers: Callers;
let user: TestUser;
let caller: Caller;
let client: OpenAI;
const upstreams = new Map<string, DialectUpstream>();
/** Breaks its streams off in the middle. */
let cut: Upstream;
/** Has Responses, and is busy until set otherwise. */
let native: Upstream;
let nativeIsBusy = true;

const upstreamOf = (wire: string): DialectUpstream => {
  const upstream = upstreams.get(wire);
  if (upstream === undefined) throw new Error(`no upstream of ${wire}`);
  return upstream;
};

const weather = {
  type: 'function',
  name: 'weather',
  description: 'Weather now',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  strict: false,
} as const;

const ask = (body: JsonObject) =>
  caller.send('/v1/responses', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: { input: 'What is a ledger?', ...body },
  });

const eventsIn = (text: string): JsonObject[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)) as JsonObject);

beforeAll(async () => {
  gateway = await startTestGateway();
  callers = openCallers(gateway.url);
  await gateway.setOption('RetryTimes', '1');
  const ratios = JSON.stringify({ ...Object.fromEntries(protocols.map((wire) => [wire, 1])), both: 1, cut: 1, set: 1 });
  for (const option of ['ModelRatio', 'CompletionRatio']) await gateway.setOption(option, ratios);
  await gateway.setOption('CacheRatio', ratios.replaceAll(':1', ':0.5'));
  for (const wire of protocols) {
    const upstream = await startDialectUpstream(wire);
    upstreams.set(wire, upstream);
    // One type of OpenAI's wire that has chat alone.
    const type = wire === 'openai' ? 25 : upstream.type;
    const modelMapping = JSON.stringify({ [wire]: upstream.model, both: upstream.model });
    const models = wire === 'anthropic' ? [wire, 'both'] : [wire];
    await gateway.addChannel({ type, models, baseUrl: upstream.url, modelMapping });
  }
  cut = await startUpstream((_call, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const half = streamOf('anthropic', { text: 'Half of an answer that never ends.' }).split('\n\n').slice(0, 5);
    response.write(`${half.join('\n\n')}\n\n`, () => response.destroy());
  });
  await gateway.addChannel({
    type: 14,
    models: ['cut'],
    baseUrl: cut.url,
    modelMapping: '{"cut":"claude-sonnet-4-5"}',
  });
  await gateway.addChannel({
    type: 1,
    models: ['set'],
    baseUrl: upstreamOf('openai').url,
    setting: '{"chat_only":true}',
    modelMapping: '{"set":"gpt-4o"}',
  });
  native = await startUpstream((_call, response) => {
    response.writeHead(nativeIsBusy ? 500 : 200, { 'content-type': 'application/json' });
    const error = { error: { message: 'overloaded', type: 'server_error', code: null } };
    response.end(
      JSON.stringify(nativeIsBusy ? error : responseOf([messageItem('Own.')], { usage: reportedUsage(1, 1) })),
    );
  });
  await gateway.addChannel({ type: 1, models: ['both'], baseUrl: native.url, priority: 10 });
  user = await gateway.addUser(100_000_000);
  const apiKey = await gateway.addApiKey(user);
  caller = callers.with(apiKey);
  client = new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  for (const upstream of upstreams.values()) await upstream.stop();
  await native?.stop();
  await cut?.stop();
});

const charge = used.input - used.cached + used.cached / 2 + used.output;

describe.each(protocols)('at an upstream of the wire %s', (wire) => {
  test('a whole answer is a response, and is charged by its usage', async () => {
    upstreamOf(wire).answerWith({ text: 'Every charge can be proved.' });
    const { data, response } = await client.responses
      .create({ model: wire, input: 'What is a ledger?', instructions: 'Be short.', max_output_tokens: 100 })
      .withResponse();
    expect(data).toMatchObject({
      object: 'response',
      status: 'completed',
      output_text: 'Every charge can be proved.',
      usage: {
        input_tokens: used.input,
        input_tokens_details: { cached_tokens: used.cached },
        output_tokens: used.output,
      },
    });
    expect(upstreamOf(wire).received()).toMatchObject({
      system: 'Be short.',
      messages: [{ role: 'user', text: 'What is a ledger?' }],
      limit: 100,
    });
    const line = await lineOf(gateway, user, { requestId: response.headers.get('x-request-id') ?? '' });
    expect(line).toMatchObject({ usage_source: 'upstream', quota: charge });
  });

  test('a stream is the events of a response, which the SDK puts together, and is charged by its usage', async () => {
    upstreamOf(wire).answerWith({ thinking: 'Think of it.', text: 'Every charge can be proved.' });
    let words = '';
    const stream = client.responses.stream({ model: wire, input: 'What is a ledger?' });
    stream.on('response.output_text.delta', ({ delta }) => {
      words += delta;
    });
    const final = await stream.finalResponse();
    expect(final).toMatchObject({ status: 'completed', output_text: 'Every charge can be proved.' });
    expect(final.output[0]).toMatchObject({
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 'Think of it.' }],
    });
    expect(words).toBe('Every charge can be proved.');
    const got = await ask({ model: wire, stream: true });
    expect(responseEventsFault(eventsIn(got.text))).toBeNull();
    expect(await lineOf(gateway, user, got)).toMatchObject({ usage_source: 'upstream', quota: charge });
  });

  test.each([false, true])('a round of tools keeps calls, results and signatures (streamed: %s)', async (stream) => {
    const calls = [
      { name: 'weather', args: { city: 'Vík' } },
      { name: 'query', args: { input: 'SELECT 1' } },
    ];
    upstreamOf(wire).answerWith({ thinking: 'Two calls.', calls });
    const tools: OpenAI.Responses.Tool[] = [
      weather,
      { type: 'custom', name: 'query', format: { type: 'grammar', syntax: 'lark', definition: 'start: "SELECT" INT' } },
    ];
    const input: ResponseInput = [{ role: 'user', content: 'Weather and one?' }];
    const asked = { model: wire, input, tools };
    const first = stream ? await client.responses.stream(asked).finalResponse() : await client.responses.create(asked);
    const called = first.output.filter(({ type }) => type.endsWith('_call'));
    expect(called).toMatchObject([
      { type: 'function_call', name: 'weather', arguments: '{"city":"Vík"}' },
      { type: 'custom_tool_call', name: 'query', input: 'SELECT 1' },
    ]);
    upstreamOf(wire).answerWith({ text: 'Rain, and 1.' });
    const outputs = called.map((call): ResponseInputItem => {
      if (call.type === 'function_call') return { type: 'function_call_output', call_id: call.call_id, output: 'Rain' };
      if (call.type !== 'custom_tool_call') throw new Error(call.type);
      return { type: 'custom_tool_call_output', call_id: call.call_id, output: '1' };
    });
    const second = await client.responses.create({
      model: wire,
      tools,
      input: [...input, ...(first.output as ResponseInputItem[]), ...outputs],
    });
    expect(second.output_text).toBe('Rain, and 1.');
    expect(upstreamOf(wire).received()).toMatchObject({
      calls,
      results: ['Rain', '1'],
      tools: ['weather', 'query'],
      signatures: wire === 'openai' ? [] : [signature],
    });
  });

  test('an answer by a schema is parsed by the SDK', async () => {
    upstreamOf(wire).answerWith({ text: '{"town":"Vík"}' });
    const parsed = await client.responses.parse({
      model: wire,
      input: 'A town?',
      text: { format: zodTextFormat(z.object({ town: z.string() }), 'town') },
    });
    expect(parsed.output_parsed).toEqual({ town: 'Vík' });
    expect(upstreamOf(wire).received().schema).toEqual(['town']);
  });

  test('an answer that is cut by its limit is incomplete', async () => {
    upstreamOf(wire).answerWith({ text: 'Every', cut: true });
    for (const stream of [false, true]) {
      const got = await ask({ model: wire, stream });
      const response = stream ? eventsIn(got.text).at(-1)?.response : JSON.parse(got.text);
      expect(response).toMatchObject({
        status: 'incomplete',
        incomplete_details: { reason: 'max_output_tokens' },
        output: [{ status: 'incomplete' }],
      });
    }
  });

  test.each([400, 401, 429, 500])('a refusal with %i comes in the caller’s form and costs nothing', async (status) => {
    upstreamOf(wire).refuses(status);
    const got = await ask({ model: wire, stream: true });
    expect(got.status).toBeGreaterThanOrEqual(400);
    expect(errorIn(got).message).toBeTypeOf('string');
  });
});

test('a channel whose settings say so is asked by chat, whatever its type has', async () => {
  upstreamOf('openai').answerWith({ text: 'By chat.' });
  const { output_text: said } = await client.responses.create({ model: 'set', input: 'What is a ledger?' });
  expect(said).toBe('By chat.');
  expect(upstreamOf('openai').received().messages).toEqual([{ role: 'user', text: 'What is a ledger?' }]);
});

describe('a call that may go to channels of both kinds', () => {
  test('goes from a channel with Responses that fails to one that has chat', async () => {
    nativeIsBusy = true;
    upstreamOf('anthropic').answerWith({ text: 'By chat.' });
    for (const stream of [false, true]) {
      const got = await ask({ model: 'both', stream });
      expect(got.status).toBe(200);
      expect(got.text).toContain('By chat.');
    }
  });

  test('is refused at chat what only the other has, by its name', async () => {
    const tools = [{ type: 'code_interpreter', container: { type: 'auto' } }];
    nativeIsBusy = true;
    const got = await ask({ model: 'both', tools });
    expect(got.status).toBeGreaterThanOrEqual(400);
    nativeIsBusy = false;
    expect((await ask({ model: 'both', tools })).text).toContain('Own.');
  });
});

describe('an answer that goes wrong', () => {
  test('ends a stream that breaks off with an error and a failed response, and what came is charged', async () => {
    const got = await ask({ model: 'cut', stream: true });
    const events = eventsIn(got.text);
    expect(events.slice(-2).map(({ type }) => type)).toEqual(['error', 'response.failed']);
    expect(events.map(({ sequence_number: number }) => number)).toEqual([...events.keys()]);
    expect(got.text).toContain('"delta":"Half ');
    const line = await lineOf(gateway, user, got);
    expect(line.completion_tokens).toBeGreaterThan(0);
    const stream = await client.responses.create({ model: 'cut', input: 'x', stream: true });
    await expect(
      (async () => {
        for await (const _event of stream);
      })(),
    ).rejects.toThrow('broke off');
  });

  test('with more items than a response has is refused as unreadable', async () => {
    const calls = Array.from({ length: 5_000 }, () => ({ name: 'weather', args: {} }));
    upstreamOf('anthropic').answerWith({ calls });
    const got = await ask({ model: 'anthropic' });
    expect([got.status, errorIn(got).code]).toEqual([502, 'bad_response_body']);
  });
});

test('forty calls at once on a small balance never cost more than it holds', async () => {
  upstreamOf('anthropic').answerWith({ text: 'Every charge can be proved.' });
  const poor = await gateway.addUser(charge * 10);
  const poorCaller = callers.with(await gateway.addApiKey(poor));
  const statuses = await Promise.all(
    Array.from({ length: 40 }, async () => {
      const body = { model: 'anthropic', input: 'What is a ledger?', max_output_tokens: used.output, stream: true };
      const headers = { 'content-type': 'application/json' };
      return (await poorCaller.send('/v1/responses', { method: 'POST', headers, body })).status;
    }),
  );
  expect(statuses.every((status) => status === 200 || status === 402 || status === 403)).toBe(true);
  expect(await gateway.available(poor)).toBeGreaterThanOrEqual(0);
});

describe('what chat has no words for', () => {
  test.each<[string, JsonObject, string]>([
    [
      'code that the provider runs',
      { tools: [weather, { type: 'code_interpreter', container: { type: 'auto' } }] },
      'tools[1].type',
    ],
    ['two tools of one name', { tools: [weather, { type: 'custom', name: 'weather' }] }, 'tools[1]'],
    ['a summary of the conversation', { context_management: [{ type: 'compaction' }] }, 'context_management'],
    [
      'a call without its output',
      { input: [{ type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{}' }] },
      'input[0].call_id',
    ],
    [
      'an output without its call',
      {
        input: [
          { role: 'user', content: 'Hi' },
          { type: 'function_call_output', call_id: 'call_1', output: 'x' },
        ],
      },
      'input[1].call_id',
    ],
    ['an item of another type', { input: [{ type: 'compaction', encrypted_content: 'x' }] }, 'input[0].type'],
    ['a choice of a hosted tool', { tools: [weather], tool_choice: { type: 'web_search' } }, 'tool_choice'],
  ])('%s is refused with 400 by its name', async (_what, body, name) => {
    upstreamOf('anthropic').answerWith({ text: 'Never.' });
    const got = await ask({ model: 'anthropic', ...body });
    expect([got.status, errorIn(got).code]).toEqual([400, 'convert_request_failed']);
    expect(errorIn(got).message).toContain(name);
  });

  test('and OpenAI’s chat has no search for is refused with 400 by its name', async () => {
    upstreamOf('openai').answerWith({ text: 'Never.' });
    const got = await ask({ model: 'openai', tools: [{ type: 'web_search' }] });
    expect([got.status, errorIn(got).code]).toEqual([400, 'convert_request_failed']);
    expect(errorIn(got).message).toContain('web_search');
  });

  test('and only hints has no effect', async () => {
    upstreamOf('openai').answerWith({ text: 'Fine.' });
    const got = await ask({
      model: 'openai',
      metadata: { a: 'b' },
      truncation: 'auto',
      max_tool_calls: 3,
      include: ['web_search_call.action.sources'],
      prompt_cache_key: 'thread-1',
      safety_identifier: 'someone',
      text: { verbosity: 'low' },
      tools: [{ type: 'web_search', external_web_access: false }],
      client_metadata: { turn_id: '1' },
    });
    expect([got.status, JSON.parse(got.text).metadata]).toEqual([200, { a: 'b' }]);
  });
});
