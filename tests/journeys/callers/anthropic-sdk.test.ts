import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type JsonObject, objectsIn } from '../../../src/relay/json/json.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { until } from '../../support/until.js';
import {
  type AnthropicUpstream,
  eventsOf,
  eventText,
  messageOf,
  startAnthropicUpstream,
} from '../../support/upstreams/anthropic-upstream.js';

/* The official clients, unchanged, against an upstream of Anthropic's and one of OpenAI's. */

const claude = 'claude-sonnet-4-5-20250929';
const quota = 100_000_000;
const question = { role: 'user', content: 'What is the weather in Höfn and Vík?' } as const;

let gateway: TestGateway;
let upstream: AnthropicUpstream;
let user: TestUser;
let apiKey: string;
let anthropic: Anthropic;
let openai: OpenAI;

const anthropicWith = (key: string) =>
  new Anthropic({ apiKey: key, baseURL: gateway.url, maxRetries: 0, timeout: 20_000 });

const settledLine = () =>
  until(async () => {
    const lines = await gateway.application.queries.logBefore(user.actor, {}, { limit: 10 }, true);
    return lines.find(({ type }) => type === 2) ?? null;
  });

beforeAll(async () => {
  gateway = await startTestGateway({ CALLER_GONE_SECONDS: '1' });
  upstream = await startAnthropicUpstream();
  await gateway.addChannel();
  await gateway.addChannel({
    type: 14,
    models: [claude, `${claude}-thinking`],
    baseUrl: upstream.url,
    key: 'sk-ant-up',
  });
  await gateway.setOption('SelfUseModeEnabled', 'true');
});
afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
});
beforeEach(async () => {
  gateway.provider.reset();
  upstream.calls.length = 0;
  user = await gateway.addUser(quota);
  apiKey = await gateway.addApiKey(user);
  anthropic = anthropicWith(apiKey);
  openai = new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0, timeout: 20_000 });
});

const thinkingAndTools = (): JsonObject[] => [
  { type: 'thinking', thinking: 'Two towns, so two calls.', signature: 'EqQBCkYIBxgC' },
  { type: 'redacted_thinking', data: 'EmwKAhgB' },
  { type: 'text', text: 'I look at\n"both".' },
  { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Höfn' } },
  { type: 'tool_use', id: 'toolu_2', name: 'weather', input: {} },
];
const weather = {
  name: 'weather',
  description: 'Weather now',
  input_schema: { type: 'object' as const, properties: { city: { type: 'string' } } },
};

describe("Anthropic's client and upstream", () => {
  test('a message arrives unchanged, with its ids and limits, and costs what its caches cost', async () => {
    const said = messageOf(thinkingAndTools(), {
      input_tokens: 40,
      cache_creation_input_tokens: 300,
      cache_read_input_tokens: 2_000,
      cache_creation: { ephemeral_5m_input_tokens: 200, ephemeral_1h_input_tokens: 100 },
      output_tokens: 90,
      service_tier: 'standard',
    });
    upstream.respondWith(said);
    const kept = {
      type: 'text' as const,
      text: 'Be brief. '.repeat(500),
      cache_control: { type: 'ephemeral' as const, ttl: '1h' as const },
    };
    const {
      data,
      response,
      request_id: id,
    } = await anthropic.messages
      .create({ model: claude, max_tokens: 500, system: [kept], messages: [question], tools: [weather] })
      .withResponse();
    expect(data).toMatchObject(said);
    expect(id).toBe(response.headers.get('x-request-id'));
    expect(response.headers.get('anthropic-ratelimit-requests-remaining')).toBeNull();
    expect(response.headers.get('x-upstream-request-id')).toBe('req_011UpstreamAbc');
    expect(response.headers.get('anthropic-organization-id')).toBeNull();

    const [call] = upstream.calls;
    expect(call?.url).toBe('/v1/messages');
    expect(call?.json).toEqual({
      model: claude,
      max_tokens: 500,
      system: [kept],
      messages: [question],
      tools: [weather],
    });
    expect(call?.headers).toMatchObject({
      'x-api-key': 'sk-ant-up',
      'anthropic-version': expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
    });
    expect(call?.headers.authorization).toBeUndefined();
    // 1.5 × (40 + 200 × 1.25 + 100 × 2 + 2000 × 0.1 + 90 × 5)
    expect(await settledLine()).toMatchObject({
      quota: 1_710,
      prompt_tokens: 2_340,
      completion_tokens: 90,
      model: claude,
    });
    expect(await gateway.available(user)).toBe(quota - 1_710);
  });

  test('a stream is assembled by its helper, whatever the network does to it', async () => {
    const said = messageOf(thinkingAndTools(), { output_tokens: 33 });
    upstream.respondWith(said);
    const stream = anthropic.messages.stream({
      model: claude,
      max_tokens: 500,
      messages: [question],
      tools: [weather],
    });
    const texts: string[] = [];
    stream.on('text', (text) => texts.push(text));
    expect(await stream.finalMessage()).toMatchObject({ content: said.content, stop_reason: 'tool_use', id: said.id });
    expect(texts.join('')).toBe('I look at\n"both".');
    // 1.5 × (20 + 33 × 5)
    expect(await settledLine()).toMatchObject({ quota: 278, is_stream: true, usage_source: 'upstream' });
  });

  test('bytes are the same, unknown blocks and spellings included', async () => {
    const events = eventsOf(
      messageOf([
        { type: 'brand_new', inner: [1, { a: null }] },
        { type: 'text', text: 'Hm.' },
      ]),
    );
    const text = events.map(eventText).join('').replaceAll('}\n\n', '}   \n\n');
    upstream.respondWith((_call, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text);
    });
    const answer = await fetch(`${gateway.url}/v1/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: claude, max_tokens: 50, stream: true, messages: [question] }),
    });
    expect(await answer.text()).toBe(text);
  });

  test('200 kB of context with cache control are forwarded byte for byte', async () => {
    upstream.respondWith(messageOf([{ type: 'text', text: 'Read.' }], { cache_creation_input_tokens: 50_000 }));
    const content = Array.from({ length: 4 }, (_, index) => ({
      type: 'text' as const,
      text: `${index} The ledger says ö 🜚. `.repeat(2_000),
      cache_control: { type: 'ephemeral' as const },
    }));
    await anthropic.messages.create({ model: claude, max_tokens: 50, messages: [{ role: 'user', content }] });
    expect(upstream.calls[0]?.json.messages).toEqual([{ role: 'user', content }]);
    // 1.5 × (20 + 50000 × 1.25 + 10 × 5)
    expect(await settledLine()).toMatchObject({ quota: 93_855 });
  });

  test('a model name that requests thinking enables it, and the requested name is charged for', async () => {
    upstream.respondWith(messageOf([{ type: 'text', text: 'Thought.' }]));
    await anthropic.messages.create({ model: `${claude}-thinking`, max_tokens: 100, messages: [question] });
    expect(upstream.calls[0]?.json).toMatchObject({
      model: claude,
      max_tokens: 1_280,
      thinking: { type: 'enabled', budget_tokens: 1_024 },
    });
    expect(await settledLine()).toMatchObject({ model: `${claude}-thinking` });
  });

  test('a caller that disconnects in the middle of a tool call pays for the output so far', async () => {
    const [begun, ...rest] = eventsOf(
      messageOf([{ type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'x'.repeat(4_000) } }]),
    );
    const reported = [begun, ...rest.slice(0, 300)].map((event) => eventText(event ?? {})).join('');
    upstream.respondWith((_call, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(reported);
    });
    const abort = new AbortController();
    const stream = await anthropic.messages.create(
      { model: claude, max_tokens: 4_000, stream: true, messages: [question], tools: [weather] },
      { signal: abort.signal },
    );
    let deltas = 0;
    for await (const { type } of stream) if (type === 'content_block_delta' && ++deltas === 290) abort.abort();
    const line = await settledLine();
    expect(line.usage_source).toBe('estimated');
    expect(line.completion_tokens).toBeGreaterThan(250);
    expect(line.prompt_tokens).toBe(20);
  });

  test('a stream that breaks off ends with an error, and is charged for the part that arrived', async () => {
    const events = eventsOf(messageOf([{ type: 'text', text: 'Reykjavík is the capital of Iceland. '.repeat(40) }]));
    let hear = (): void => {};
    const heard = new Promise<void>((resolve) => {
      hear = resolve;
    });
    upstream.respondWith((_call, response) => {
      const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(events.slice(0, 150).map(eventText).join(''));
      void heard.then(() => response.end(eventText(error)));
    });
    const stream = anthropic.messages.stream({ model: claude, max_tokens: 4_000, messages: [question] });
    stream.once('text', () => hear());
    await expect(stream.finalMessage()).rejects.toThrow(/Overloaded/);
    const line = await settledLine();
    expect(line).toMatchObject({ prompt_tokens: 20, usage_source: 'estimated' });
    expect(line.completion_tokens).toBeGreaterThan(100);
  });
});

describe('a failure for Anthropic’s client', () => {
  const create = (client = anthropic, body: Record<string, unknown> = {}) =>
    client.messages.create({ model: claude, max_tokens: 50, messages: [question], ...body }).then(
      () => null,
      (error: unknown) => error,
    );

  test('is of a class that the client knows', async () => {
    expect(await create(anthropicWith('sk-nobody'))).toBeInstanceOf(Anthropic.AuthenticationError);
    expect(await create(anthropic, { model: 'no-such-model' })).toBeInstanceOf(Anthropic.NotFoundError);
    const empty = await create(anthropic, { messages: [] });
    expect(empty).toBeInstanceOf(Anthropic.BadRequestError);
    expect(empty).toMatchObject({
      error: {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: expect.stringMatching(/^field messages is required \(request id: /),
        },
      },
    });
    const poor = anthropicWith(await gateway.addApiKey(await gateway.addUser(1)));
    expect(await create(poor)).toMatchObject({ status: 402, error: { error: { type: 'billing_error' } } });
  });

  test.each([
    [400, 'invalid_request_error', 'BadRequestError'],
    [429, 'rate_limit_error', 'RateLimitError'],
    [529, 'overloaded_error', 'InternalServerError'],
  ] as const)('of the upstream keeps its type: %s', async (status, type, name) => {
    upstream.respondWith((_call, response) => {
      const body = { type: 'error', error: { type, message: 'No, says sk-ant-up.' }, request_id: 'req_1' };
      response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '7' }).end(JSON.stringify(body));
    });
    const error = await create();
    expect(error).toBeInstanceOf(Anthropic[name]);
    expect(error).toMatchObject({ status, error: { error: { type } } });
    expect(JSON.stringify(error)).not.toContain('sk-ant-up');
    expect(await gateway.available(user)).toBe(quota);
  });
});

describe("Anthropic's client with an upstream of OpenAI's protocol", () => {
  test('is answered in its own dialect', async () => {
    gateway.provider.script('gpt-4o', { text: 'A book of accounts.', tokens: { prompt: 1_000, completion: 200 } });
    const answer = await anthropic.messages.create({
      model: 'gpt-4o',
      max_tokens: 500,
      system: 'Be brief.',
      messages: [question],
    });
    expect(answer).toMatchObject({
      type: 'message',
      role: 'assistant',
      content: [{ type: 'text', text: 'A book of accounts.' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 1_000, output_tokens: 200 },
    });
    expect(gateway.provider.tally().requests.at(-1)?.body).toMatchObject({
      max_tokens: 500,
      messages: [{ role: 'system', content: 'Be brief.' }, question],
    });
  });

  test('receives a stream, which the helper assembles', async () => {
    gateway.provider.script('gpt-4o', { text: 'one two three', chunks: 3, tokens: { prompt: 100, completion: 20 } });
    const stream = anthropic.messages.stream({ model: 'gpt-4o', max_tokens: 500, messages: [question] });
    const message = await stream.finalMessage();
    expect(message.content).toMatchObject([{ type: 'text', text: 'one two three' }]);
    expect(message).toMatchObject({ stop_reason: 'end_turn', usage: { input_tokens: 100, output_tokens: 20 } });
    expect(await settledLine()).toMatchObject({ prompt_tokens: 100, completion_tokens: 20 });
  });

  test('carries tools in both directions, twenty of them at once', async () => {
    const called = await anthropic.messages.create({
      model: 'gpt-4o',
      max_tokens: 500,
      messages: [question],
      tools: [weather],
    });
    expect(called.stop_reason).toBe('tool_use');
    expect(called.content.at(-1)).toMatchObject({ type: 'tool_use', name: 'weather' });

    const ids = Array.from({ length: 20 }, (_, index) => `toolu_${index}`);
    const uses = ids.map((id, index) => ({
      type: 'tool_use' as const,
      id,
      name: 'weather',
      input: { city: `${index}` },
    }));
    const results = ids.map((id) => ({ type: 'tool_result' as const, tool_use_id: id, content: `Rain at ${id}` }));
    await anthropic.messages.create({
      model: 'gpt-4o',
      max_tokens: 500,
      messages: [question, { role: 'assistant', content: uses }, { role: 'user', content: results }],
    });
    const sent = objectsIn(gateway.provider.tally().requests.at(-1)?.body.messages);
    expect(sent).toHaveLength(22);
    expect(objectsIn(sent[1]?.tool_calls).map(({ id }) => id)).toEqual(ids);
    expect(sent.slice(2).map(({ role, tool_call_id: id }) => [role, id])).toEqual(ids.map((id) => ['tool', id]));
  });

  test('gets an error that names what cannot be converted', async () => {
    const file = { type: 'image', source: { type: 'file', file_id: 'file_1' } } as unknown as Anthropic.ImageBlockParam;
    const refused = anthropic.messages.create({
      model: 'gpt-4o',
      max_tokens: 50,
      messages: [{ role: 'user', content: [file] }],
    });
    await expect(refused).rejects.toThrow(/messages\[0\]\.content\[0\]\.source\.file_id/);
  });
});

describe("OpenAI's client with an upstream of Anthropic's protocol", () => {
  const tools = [{ type: 'function' as const, function: { name: 'weather', parameters: weather.input_schema } }];

  test('is answered in its own dialect', async () => {
    upstream.respondWith(
      messageOf(thinkingAndTools(), { input_tokens: 40, cache_read_input_tokens: 60, output_tokens: 90 }),
    );
    const answer = await openai.chat.completions.create({ model: claude, messages: [question], tools });
    const [choice] = answer.choices;
    expect(choice).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: 'I look at\n"both".', reasoning_content: 'Two towns, so two calls.' },
    });
    expect(choice?.message.tool_calls).toMatchObject([
      { id: 'toolu_1', function: { name: 'weather', arguments: '{"city":"Höfn"}' } },
      { id: 'toolu_2', function: { name: 'weather', arguments: '{}' } },
    ]);
    expect(answer.usage).toMatchObject({
      prompt_tokens: 100,
      completion_tokens: 90,
      prompt_tokens_details: { cached_tokens: 60 },
    });
    // 1.5 × (40 + 60 × 0.1 + 90 × 5)
    expect(await settledLine()).toMatchObject({ quota: 744 });
  });

  test('receives the same as a stream, with usage last', async () => {
    upstream.respondWith(messageOf(thinkingAndTools(), { output_tokens: 90 }));
    const stream = openai.chat.completions.stream({
      model: claude,
      messages: [question],
      tools,
      stream_options: { include_usage: true },
    });
    const { choices, usage } = await stream.finalChatCompletion();
    expect(choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: 'I look at\n"both".' } });
    expect(choices[0]?.message.tool_calls).toMatchObject([
      { id: 'toolu_1', function: { name: 'weather', arguments: '{"city":"Höfn"}' } },
      { id: 'toolu_2', function: { name: 'weather', arguments: '{}' } },
    ]);
    expect(usage).toMatchObject({ prompt_tokens: 20, completion_tokens: 90 });
  });

  test('gets a failure in its own dialect', async () => {
    upstream.respondWith((_call, response) => {
      const body = { type: 'error', error: { type: 'invalid_request_error', message: 'max_tokens: 1 > 0' } };
      response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    const refused = openai.chat.completions.create({ model: claude, messages: [question] });
    await expect(refused).rejects.toMatchObject({ status: 400, type: 'invalid_request_error' });
  });
});

test("models are listed as Anthropic's client reads them", async () => {
  const names = [];
  for await (const { id, type } of anthropic.models.list()) names.push([id, type]);
  expect(names).toContainEqual([claude, 'model']);
});

test("a single model is described, and refused, as Anthropic's client reads it", async () => {
  expect(await anthropic.models.retrieve(claude)).toMatchObject({ id: claude, type: 'model', display_name: claude });
  const unknown: unknown = await anthropic.models.retrieve('no-such-model').catch((error: unknown) => error);
  expect(unknown).toBeInstanceOf(Anthropic.NotFoundError);
  expect(unknown).toMatchObject({ error: { type: 'error', error: { type: 'not_found_error' } } });
  expect((unknown as { requestID: string }).requestID).toMatch(/^\d{17}\w{8}$/);
});

describe('tokens are counted without charge', () => {
  test('by an upstream that offers it', async () => {
    upstream.respondWith((_call, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"input_tokens":4711}');
    });
    const asked = { model: `${claude}-thinking`, messages: [question], tools: [weather] };
    const { data, response } = await anthropic.messages.countTokens(asked).withResponse();
    expect(data.input_tokens).toBe(4_711);
    expect(response.headers.get('x-token-count')).toBe('upstream');
    expect(upstream.calls.map(({ url, json }) => [url, json])).toEqual([
      ['/v1/messages/count_tokens', { ...asked, model: claude }],
    ]);
    expect(await gateway.available(user)).toBe(quota);
  });

  test('by the gateway where no upstream does, or one fails, and the answer says so', async () => {
    upstream.respondWith((_call, response) => void response.writeHead(500).end());
    for (const model of ['gpt-4o', claude]) {
      const { data, response } = await anthropic.messages.countTokens({ model, messages: [question] }).withResponse();
      expect(data.input_tokens).toBeGreaterThan(5);
      expect(response.headers.get('x-token-count')).toBe('estimated');
    }
    expect(await gateway.available(user)).toBe(quota);
  });
});
