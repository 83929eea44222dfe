import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { chargeOf } from '../../../src/domain/pricing/pricing.js';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { until } from '../../support/until.js';
import {
  type AnthropicUpstream,
  eventsOf,
  eventText,
  messageOf,
  startAnthropicUpstream,
} from '../../support/upstreams/anthropic-upstream.js';
import { type GeminiUpstream, responseWith, startGeminiUpstream } from '../../support/upstreams/gemini-upstream.js';

/* What is sold by the piece, and pictures that are put out: from the official clients to the line of the log. */

const claude = 'claude-sonnet-4-5-20250929';
const google = 'gemini-3-pro-preview';
const drawing = 'gemini-2.5-flash-image';
const quota = 100_000_000;
const question = { role: 'user', content: 'What is new in Höfn?' } as const;
const web = { type: 'web_search_20250305', name: 'web_search' } as const;

let gateway: TestGateway;
let anthropicUpstream: AnthropicUpstream;
let geminiUpstream: GeminiUpstream;
let user: TestUser;
let anthropic: Anthropic;
let genai: GoogleGenAI;
let openai: OpenAI;

const settledLine = () =>
  until(async () => {
    const lines = await gateway.application.queries.logBefore(user.actor, {}, { limit: 10 }, true);
    return lines.find(({ type }) => type === 2) ?? null;
  });

beforeAll(async () => {
  gateway = await startTestGateway({ CALLER_GONE_SECONDS: '1' });
  anthropicUpstream = await startAnthropicUpstream();
  geminiUpstream = await startGeminiUpstream();
  await gateway.addChannel({ models: ['gpt-4o-search-preview', 'gpt-4o-mini'] });
  await gateway.addChannel({ type: 14, models: [claude], baseUrl: anthropicUpstream.url });
  await gateway.addChannel({ type: 24, models: [google, drawing], baseUrl: geminiUpstream.url });
});
afterAll(async () => {
  await gateway?.stop();
  await anthropicUpstream?.stop();
  await geminiUpstream?.stop();
});
beforeEach(async () => {
  anthropicUpstream.calls.length = 0;
  user = await gateway.addUser(quota);
  await as(user);
});

async function as(who: TestUser): Promise<void> {
  const apiKey = await gateway.addApiKey(who);
  anthropic = new Anthropic({ apiKey, baseURL: gateway.url, maxRetries: 0 });
  genai = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: gateway.url } });
  openai = new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
}

const searched = (count: number): JsonObject[] =>
  Array.from({ length: count }, (_, at) => [
    { type: 'server_tool_use', id: `srvtoolu_${at}`, name: 'web_search', input: { query: 'Höfn' } },
    { type: 'web_search_tool_result', tool_use_id: `srvtoolu_${at}`, content: [] },
  ]).flat();
const found = messageOf([...searched(2), { type: 'text', text: 'Rain.' }], {
  server_tool_use: { web_search_requests: 2, web_fetch_requests: 1 },
});

describe('a search by Anthropic', () => {
  test.each([false, true])('is charged beside the tokens (streamed: %s)', async (streamed) => {
    anthropicUpstream.respondWith(found);
    const asked = { model: claude, max_tokens: 100, messages: [question], tools: [{ ...web, max_uses: 5 }] };
    const message = streamed
      ? await anthropic.messages.stream(asked).finalMessage()
      : await anthropic.messages.create(asked);
    expect(message.usage.server_tool_use).toMatchObject({ web_search_requests: 2, web_fetch_requests: 1 });
    expect(anthropicUpstream.calls[0]?.json.tools).toEqual(asked.tools);
    const line = await settledLine();
    // 1.5 × (20 + 10 × 5) + 2 × 0.01 × 500000
    expect(line).toMatchObject({ quota: 10_105, usage: { 'calls:web_search': 2 }, usage_source: 'upstream' });
    if (line.price === null) throw new Error('a line without a price');
    expect(chargeOf(line.usage, line.price)).toBe(10_105);
    expect(await gateway.available(user)).toBe(quota - 10_105);
  });

  test('has a default limit where its caller sets none, which the balance must cover', async () => {
    anthropicUpstream.respondWith(found);
    const asked = { model: claude, max_tokens: 100, messages: [question], tools: [web] };
    await anthropic.messages.create(asked);
    expect(anthropicUpstream.calls[0]?.json.tools).toEqual([{ ...web, max_uses: 20 }]);
    await as(await gateway.addUser(99_000));
    await expect(anthropic.messages.create(asked)).rejects.toMatchObject({ status: 402 });
    await anthropic.messages.create({ ...asked, tools: [{ ...web, max_uses: 2 }] });
  });

  test('is charged to a caller that disconnects before it is reported', async () => {
    const events = eventsOf(found).slice(0, -2).map(eventText).join('');
    anthropicUpstream.respondWith((_call, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(events);
    });
    const abort = new AbortController();
    const stream = await anthropic.messages.create(
      { model: claude, max_tokens: 100, stream: true, messages: [question], tools: [web] },
      { signal: abort.signal },
    );
    for await (const { type } of stream) if (type === 'content_block_delta') abort.abort();
    const line = await settledLine();
    expect(line).toMatchObject({ usage_source: 'estimated', usage: { 'calls:web_search': 2 } });
    expect(line.quota).toBeGreaterThan(10_000);
  });
});

describe('a search by Google', () => {
  const grounded = responseWith([{ text: 'Rain.' }], {
    finishReason: 'STOP',
    groundingMetadata: { webSearchQueries: ['Höfn', 'Höfn news', 'Höfn weather'], groundingChunks: [] },
  });

  test('is charged by the query, whole or streamed', async () => {
    geminiUpstream.respondWith('generateContent', grounded);
    geminiUpstream.respondWith('streamGenerateContent', [responseWith([{ text: 'Rain' }]), grounded]);
    const asked = { model: google, contents: 'x', config: { tools: [{ googleSearch: {} }], maxOutputTokens: 100 } };
    await genai.models.generateContent(asked);
    const whole = await settledLine();
    // 1 × (100 + 50 × 6) + 3 × 0.014 × 500000
    expect(whole).toMatchObject({ quota: 21_400, usage: { 'calls:google_search': 3 } });
    user = await gateway.addUser(quota);
    await as(user);
    for await (const _ of await genai.models.generateContentStream(asked));
    expect(await settledLine()).toMatchObject({ quota: 21_400, usage_source: 'upstream' });
  });

  test('costs OpenAI’s clients the same', async () => {
    geminiUpstream.respondWith('generateContent', grounded);
    await openai.chat.completions.create({
      model: google,
      messages: [question],
      tools: [{ type: 'function', function: { name: 'googleSearch' } }],
    });
    expect(await settledLine()).toMatchObject({ quota: 21_400 });
  });

  test('costs the same where an OpenAI client offers it as a legacy `functions` entry', async () => {
    geminiUpstream.respondWith('generateContent', grounded);
    await openai.chat.completions.create({
      model: google,
      messages: [question],
      functions: [{ name: 'googleSearch' }],
    });
    expect(JSON.parse(geminiUpstream.calls.at(-1)?.body ?? '')).toMatchObject({ tools: [{ googleSearch: {} }] });
    expect(await settledLine()).toMatchObject({ quota: 21_400, usage: { 'calls:google_search': 3 } });
  });

  test.each(['googleSearch', 'urlContext', 'codeExecution'])(
    'is not enabled by an Anthropic client’s own tool %s: it is an ordinary function, on a small balance too',
    async (name) => {
      await as(await gateway.addUser(20_000));
      geminiUpstream.respondWith(
        'generateContent',
        responseWith([{ functionCall: { name, args: { query: 'x' } } }], { finishReason: 'STOP' }),
      );
      const message = await anthropic.messages.create({
        model: google,
        max_tokens: 100,
        messages: [question],
        tools: [{ name, input_schema: { type: 'object', properties: { query: { type: 'string' } } } }],
      });
      expect(message.content).toMatchObject([{ type: 'tool_use', name, input: { query: 'x' } }]);
      const { tools } = JSON.parse(geminiUpstream.calls.at(-1)?.body ?? '');
      expect(tools).toEqual([{ functionDeclarations: [expect.objectContaining({ name })] }]);
    },
  );

  test('is not enabled by a function for another upstream than Google: a balance without cover for searches is enough', async () => {
    await as(await gateway.addUser(20_000));
    await openai.chat.completions.create({
      model: 'gpt-4o-mini',
      max_tokens: 10,
      messages: [question],
      tools: [{ type: 'function', function: { name: 'googleSearch' } }],
    });
  });
});

describe('a per-call tool of Google’s without a price', () => {
  const unpriced = [
    ...['enterpriseWebSearch', 'enterprise_web_search', 'exaAiSearch', 'parallelAiSearch', 'fileSearch', 'retrieval'],
    ...['mcpServers', 'somethingNew'],
  ];

  test.each(unpriced)('%s is refused by name, and no request is sent', async (name) => {
    const before = geminiUpstream.calls.length;
    const answer = await fetch(`${gateway.url}/v1beta/models/${google}:generateContent`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-goog-api-key': await gateway.addApiKey(user) },
      body: JSON.stringify({ contents: [{ parts: [{ text: 'x' }] }], tools: [{ googleSearch: {} }, { [name]: {} }] }),
    });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      error: { code: 400, message: expect.stringContaining(`tools[1].${name} has no price here`) },
    });
    expect(geminiUpstream.calls.length).toBe(before);
  });

  test('is refused to OpenAI’s clients, whose upstreams may accept it too', async () => {
    const asked = { model: 'gpt-4o-mini', messages: [question], tools: [{ exaAiSearch: {} }] };
    const refused = await openai.chat.completions.create(asked as never).catch((error: unknown) => error);
    expect(refused).toMatchObject({ status: 400, param: 'tools[0].exaAiSearch' });
  });
});

describe('a tool that runs at its provider is charged per use', () => {
  const code = { type: 'code_execution_20250825', name: 'code_execution' } as const;
  const ran = messageOf([
    { type: 'server_tool_use', id: 'srvtoolu_1', name: 'bash_code_execution', input: { command: 'ls' } },
    { type: 'bash_code_execution_tool_result', tool_use_id: 'srvtoolu_1', content: {} },
    { type: 'server_tool_use', id: 'srvtoolu_2', name: 'text_editor_code_execution', input: {} },
    { type: 'text', text: 'Done.' },
  ]);

  test.each([false, true])('for code at Anthropic: a container for each call (streamed: %s)', async (streamed) => {
    anthropicUpstream.respondWith(ran);
    const asked = { model: claude, max_tokens: 100, messages: [question], tools: [code] } as never;
    await (streamed ? anthropic.messages.stream(asked).finalMessage() : anthropic.messages.create(asked));
    // 1.5 × (20 + 10 × 5) + 0.05 × 500000
    expect(await settledLine()).toMatchObject({ quota: 25_105, usage: { 'calls:code_execution': 1 } });
  });

  test('for code at Anthropic only if it was run', async () => {
    anthropicUpstream.respondWith(messageOf([{ type: 'text', text: 'Hm.' }], {}));
    await anthropic.messages.create({ model: claude, max_tokens: 100, messages: [question], tools: [code] } as never);
    expect(await settledLine()).toMatchObject({ quota: 105 });
  });

  test.each(['googleMaps', 'google_maps'])('for %s: by the query, whole or streamed', async (name) => {
    const grounded = responseWith([{ text: 'Here.' }], {
      finishReason: 'STOP',
      groundingMetadata: {
        webSearchQueries: ['cafes', 'cafes in Höfn'],
        groundingChunks: [{ maps: { uri: 'https://maps.example/1', title: 'Café' } }],
      },
    });
    geminiUpstream.respondWith('generateContent', grounded);
    geminiUpstream.respondWith('streamGenerateContent', [responseWith([{ text: 'He' }]), grounded]);
    for (const method of ['generateContent', 'streamGenerateContent?alt=sse']) {
      user = await gateway.addUser(quota);
      const answer = await fetch(`${gateway.url}/v1beta/models/${google}:${method}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-goog-api-key': await gateway.addApiKey(user) },
        body: JSON.stringify({ contents: [{ parts: [{ text: 'x' }] }], tools: [{ [name]: {} }] }),
      });
      expect(answer.status).toBe(200);
      await answer.text();
      // 1 × (100 + 50 × 6) + 2 × 0.014 × 500000
      expect(await settledLine()).toMatchObject({ quota: 14_400, usage: { 'calls:google_maps': 2 } });
    }
  });

  test.each([false, true])(
    'for an upstream of OpenAI’s protocol that reports nothing: one for each answer (streamed: %s)',
    async (stream) => {
      gateway.provider.script('gpt-4o-mini', { text: 'Rain.', tokens: { prompt: 100, completion: 10 } });
      const tools = [{ type: 'web_search' }, { type: 'code_interpreter', container: { type: 'auto' } }];
      const asked = { model: 'gpt-4o-mini', max_tokens: 100, messages: [question], tools, stream } as const;
      const answer = await openai.chat.completions.create(asked as never);
      if (stream) for await (const _ of answer as unknown as AsyncIterable<unknown>);
      // 0.075 × (100 + 10 × 4) + (0.025 + 0.03) × 500000
      expect(await settledLine()).toMatchObject({
        quota: 27_511,
        usage: { 'calls:web_search': 1, 'calls:code_interpreter': 1 },
      });
    },
  );
});

test('a conversation stored at Anthropic cannot be continued: its content is not in the request, and cannot be counted', async () => {
  const before = anthropicUpstream.calls.length;
  const asked = { model: claude, max_tokens: 100, messages: [question], thread: { id: 'thread_1' } };
  for (const model of [claude, google])
    await expect(anthropic.messages.create({ ...asked, model } as never)).rejects.toThrow(/thread/);
  await expect(anthropic.messages.countTokens({ ...asked } as never)).rejects.toThrow(/thread/);
  expect(anthropicUpstream.calls.length).toBe(before);
});

test('a model of OpenAI’s that always searches is charged a search for each answer', async () => {
  gateway.provider.script('gpt-4o-search-preview', { text: 'Rain.', tokens: { prompt: 100, completion: 10 } });
  await openai.chat.completions.create({ model: 'gpt-4o-search-preview', messages: [question] });
  // 1.25 × (100 + 10 × 4) + 0.025 × 500000
  expect(await settledLine()).toMatchObject({ quota: 12_675, usage: { 'calls:web_search': 1 } });
});

test('a generated picture is charged for its own tokens at their own ratio', async () => {
  geminiUpstream.respondWith('generateContent', {
    ...responseWith([{ inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }], { finishReason: 'STOP' }),
    usageMetadata: {
      promptTokenCount: 10,
      candidatesTokenCount: 1_300,
      totalTokenCount: 1_310,
      candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1_290 }],
    },
  });
  await genai.models.generateContent({ model: drawing, contents: 'A cat.' });
  // 0.15 × (10 + 10 × 8.3333 + 1290 × 100)
  expect(await settledLine()).toMatchObject({ quota: 19_364, usage: { imageOutput: 1_290, output: 10 } });
});

test('OpenAI’s clients receive the count of cache writes', async () => {
  anthropicUpstream.respondWith(
    messageOf([{ type: 'text', text: 'Hm.' }], { cache_read_input_tokens: 60, cache_creation_input_tokens: 300 }),
  );
  const { usage } = await openai.chat.completions.create({ model: claude, messages: [question] });
  expect(usage).toMatchObject({
    prompt_tokens: 380,
    prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 300 },
  });
});

test('a tool whose price was removed is refused by name in every dialect until it has one, and 0 is a price', async () => {
  const asked = { model: claude, max_tokens: 100, messages: [question], tools: [{ ...web, max_uses: 1 }] };
  anthropicUpstream.respondWith(found);
  await gateway.setOption('ToolPrice', '{"google_search":14}');
  const unpriced = { status: 400, message: expect.stringContaining('tool web_search has no price') };
  await expect(anthropic.messages.create(asked)).rejects.toMatchObject(unpriced);
  await expect(
    openai.chat.completions.create({ model: 'gpt-4o-mini', messages: [question], web_search_options: {} }),
  ).rejects.toMatchObject({ ...unpriced, code: 'model_price_error' });
  await expect(
    genai.models.generateContent({ model: google, contents: 'x', config: { tools: [{ googleMaps: {} }] } }),
  ).rejects.toMatchObject({ status: 400, message: expect.stringContaining('tool google_maps has no price') });
  expect(anthropicUpstream.calls.length).toBe(0);
  await gateway.setOption('SelfUseModeEnabled', 'true');
  await anthropic.messages.create(asked);
  await gateway.setOption('SelfUseModeEnabled', 'false');
  await expect(anthropic.messages.create(asked)).rejects.toMatchObject(unpriced);
  await gateway.setOption('ToolPrice', '{"web_search":0}');
  await anthropic.messages.create(asked);
  expect(await settledLine()).toMatchObject({ quota: 105 });
});
