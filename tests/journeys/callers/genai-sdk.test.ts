import type { ServerResponse } from 'node:http';
import { ApiError, FunctionCallingConfigMode, GoogleGenAI, Type } from '@google/genai';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { until } from '../../support/until.js';
import {
  eventsOf,
  type GeminiUpstream,
  responseWith,
  startGeminiUpstream,
} from '../../support/upstreams/gemini-upstream.js';
import { startUpstream } from '../../support/upstreams/upstream.js';

/* Google's official client against upstreams of its own wire and of OpenAI's; OpenAI's against one of Gemini's. */

let gateway: TestGateway;
let gemini: GeminiUpstream;
let user: TestUser;
let apiKey: string;
let client: GoogleGenAI;

const quota = 10_000_000;
const native = 'gemini-2.5-flash';
const foreign = 'gpt-4o';
const channelKey = 'AIzaUpstreamKey0123456789';

const clientWith = (key: string) =>
  new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: gateway.url, timeout: 20_000 } });

beforeAll(async () => {
  [gateway, gemini] = await Promise.all([startTestGateway(), startGeminiUpstream()]);
  await gateway.addChannel();
  await gateway.addChannel({
    name: 'gemini',
    type: 24,
    models: [native, 'gemini-embedding-001'],
    baseUrl: gemini.url,
    key: channelKey,
  });
});
afterAll(async () => {
  await gateway?.stop();
  await gemini?.stop();
});
beforeEach(async () => {
  gateway.provider.reset();
  user = await gateway.addUser(quota);
  apiKey = await gateway.addApiKey(user);
  client = clientWith(apiKey);
});

const newestLine = () =>
  until(async () => {
    const lines = await gateway.application.queries.logBefore(user.actor, {}, { limit: 10 }, true);
    return lines.find(({ type }) => type === 2) ?? null;
  });

const weather = {
  name: 'weather',
  description: 'The weather of a city',
  parameters: { type: Type.OBJECT, properties: { location: { type: Type.STRING } }, required: ['location'] },
};

describe('Google’s client with an upstream of Gemini’s protocol', () => {
  test('gets an answer, charged by the upstream’s usage', async () => {
    gemini.respondWith(
      'generateContent',
      responseWith([{ text: 'Hm.', thought: true }, { text: 'A book.' }], { finishReason: 'STOP' }),
    );
    const answer = await client.models.generateContent({
      model: native,
      contents: 'What is a ledger?',
      config: { temperature: 0.3, systemInstruction: 'Be brief.', thinkingConfig: { includeThoughts: true } },
    });
    expect(answer.text).toBe('A book.');
    expect(answer.usageMetadata).toMatchObject({ promptTokenCount: 100, thoughtsTokenCount: 30 });
    const asked = gemini.calls.at(-1);
    expect(asked?.url).toBe(`/v1beta/models/${native}:generateContent`);
    expect(asked?.headers['x-goog-api-key']).toBe(channelKey);
    expect(JSON.parse(asked?.body ?? '')).toMatchObject({
      contents: [{ role: 'user', parts: [{ text: 'What is a ledger?' }] }],
      generationConfig: { temperature: 0.3, thinkingConfig: { includeThoughts: true } },
    });
    // 0.15 × (100 + 50 × 8.33…)
    expect(await newestLine()).toMatchObject({ prompt_tokens: 100, completion_tokens: 50, model: native, quota: 78 });
  });

  test('gets a stream whose last response arrives with the settlement', async () => {
    gemini.respondWith('streamGenerateContent', [
      responseWith([{ text: 'one ' }]),
      responseWith([{ text: 'two ' }]),
      responseWith([{ text: 'three' }], { finishReason: 'STOP' }),
    ]);
    const texts = [];
    const reasons = [];
    for await (const part of await client.models.generateContentStream({ model: native, contents: 'Count.' })) {
      texts.push(part.text);
      reasons.push(part.candidates?.[0]?.finishReason);
    }
    expect(texts).toEqual(['one ', 'two ', 'three']);
    expect(reasons).toEqual([undefined, undefined, 'STOP']);
    expect(gemini.calls.at(-1)?.url).toBe(`/v1beta/models/${native}:streamGenerateContent?alt=sse`);
    expect(await newestLine()).toMatchObject({ is_stream: true, usage_source: 'upstream' });
  });

  test('calls functions, including signatures', async () => {
    gemini.respondWith(
      'generateContent',
      responseWith([{ functionCall: { name: 'weather', args: { location: 'Vík' } }, thoughtSignature: 'c2ln' }], {
        finishReason: 'STOP',
      }),
    );
    const answer = await client.models.generateContent({
      model: native,
      contents: 'Weather?',
      config: { tools: [{ functionDeclarations: [weather] }] },
    });
    expect(answer.functionCalls).toEqual([{ name: 'weather', args: { location: 'Vík' } }]);
    expect(answer.candidates?.[0]?.content?.parts?.[0]?.thoughtSignature).toBe('c2ln');
  });

  test('gets embeddings of one text or many', async () => {
    gemini.respondWith('batchEmbedContents', { embeddings: [{ values: [0.5, 1] }, { values: [2, 3] }] });
    const many = await client.models.embedContent({
      model: 'gemini-embedding-001',
      contents: ['a', 'b'],
      config: { outputDimensionality: 2 },
    });
    expect(many.embeddings?.map(({ values }) => values)).toEqual([
      [0.5, 1],
      [2, 3],
    ]);
    expect(await newestLine()).toMatchObject({ usage_source: 'estimated' });
  });

  test('gets errors in its own dialect, without the key', async () => {
    gemini.respondWith(
      'generateContent',
      { error: { code: 400, message: `Unknown name with ${channelKey}`, status: 'INVALID_ARGUMENT' } },
      400,
    );
    const error = await client.models
      .generateContent({ model: native, contents: 'x' })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 400 });
    expect(String(error)).toContain('INVALID_ARGUMENT');
    expect(String(error)).not.toContain(channelKey);
    expect(await gateway.available(user)).toBe(quota);
  });
});

describe('Google’s client with an upstream of OpenAI’s protocol', () => {
  test('gets an answer', async () => {
    gateway.provider.script(foreign, { text: 'A book.', tokens: { prompt: 100, completion: 20 } });
    const answer = await client.models.generateContent({
      model: foreign,
      contents: [{ role: 'user', parts: [{ text: 'What is ' }, { text: 'a ledger?' }] }],
      config: { systemInstruction: 'Be brief.', maxOutputTokens: 100, temperature: 0.1, stopSequences: ['END'] },
    });
    expect(answer.text).toBe('A book.');
    expect(answer.candidates?.[0]?.finishReason).toBe('STOP');
    expect(answer.usageMetadata).toMatchObject({
      promptTokenCount: 100,
      candidatesTokenCount: 20,
      totalTokenCount: 120,
    });
    const [asked] = gateway.provider.tally().requests;
    expect(asked?.path).toBe('/v1/chat/completions');
    expect(asked?.body).toMatchObject({
      model: foreign,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'What is a ledger?' },
      ],
      max_tokens: 100,
      temperature: 0.1,
      stop: ['END'],
    });
    expect(asked?.headers).not.toHaveProperty('x-goog-api-key');
  });

  test('gets a stream', async () => {
    gateway.provider.script(foreign, { text: 'one two three', chunks: 3, tokens: { prompt: 7, completion: 3 } });
    const parts = [];
    for await (const part of await client.models.generateContentStream({ model: foreign, contents: 'Count.' }))
      parts.push(part);
    expect(parts.map(({ text }) => text ?? '').join('')).toBe('one two three');
    expect(parts.at(-1)?.candidates?.[0]?.finishReason).toBe('STOP');
    expect(parts.at(-1)?.usageMetadata).toMatchObject({ promptTokenCount: 7, candidatesTokenCount: 3 });
  });

  test('calls functions, whose results are returned', async () => {
    const config = {
      tools: [{ functionDeclarations: [weather] }],
      toolConfig: { functionCallingConfig: { mode: FunctionCallingConfigMode.ANY } },
    };
    const first = await client.models.generateContent({ model: foreign, contents: 'Weather?', config });
    const [called] = first.functionCalls ?? [];
    expect(called).toMatchObject({ name: 'weather', args: { location: 'Copenhagen' } });
    const streamed = [];
    for await (const part of await client.models.generateContentStream({
      model: foreign,
      contents: 'Weather?',
      config,
    }))
      streamed.push(...(part.functionCalls ?? []));
    expect(streamed).toEqual([called]);
    gateway.provider.script(foreign, { text: 'Seven degrees.' });
    const second = await client.models.generateContent({
      model: foreign,
      contents: [
        { role: 'user', parts: [{ text: 'Weather?' }] },
        first.candidates?.[0]?.content ?? {},
        { role: 'user', parts: [{ functionResponse: { name: 'weather', response: { celsius: 7 } } }] },
      ],
      config,
    });
    expect(second.text).toBe('Seven degrees.');
    const { messages, tool_choice: choice } = gateway.provider.tally().requests.at(-1)?.body ?? {};
    expect(messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', tool_calls: [{ function: { name: 'weather', arguments: '{"location":"Copenhagen"}' } }] },
      { role: 'tool', content: '{"celsius":7}' },
    ]);
    expect(choice).toBe('required');
  });

  test('gets embeddings', async () => {
    const one = await client.models.embedContent({ model: 'text-embedding-3-small', contents: 'a' });
    expect(one.embeddings?.[0]?.values?.length).toBeGreaterThan(0);
  });

  test('is refused what OpenAI’s protocol cannot express', async () => {
    const error = await client.models
      .generateContent({ model: foreign, contents: 'x', config: { tools: [{ googleSearch: {} }] } })
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ status: 400 });
    expect(String(error)).toContain('tools[0].googleSearch');
    expect(await gateway.available(user)).toBe(quota);
  });
});

describe('a token count for Google’s client', () => {
  test('is the provider’s own where it offers one, and is free', async () => {
    gemini.respondWith('countTokens', { totalTokens: 31, promptTokensDetails: [{ modality: 'TEXT', tokenCount: 31 }] });
    const counted = await client.models.countTokens({ model: native, contents: 'What is a ledger?' });
    expect(counted.totalTokens).toBe(31);
    expect(gemini.calls.at(-1)?.url).toBe(`/v1beta/models/${native}:countTokens`);
    expect(gemini.calls.at(-1)?.headers['x-goog-api-key']).toBe(channelKey);
    expect(await gateway.available(user)).toBe(quota);
  });

  test('is an estimate elsewhere, and where the provider does not answer, and says so', async () => {
    gemini.respondWith('countTokens', { error: { code: 500, message: 'x', status: 'INTERNAL' } }, 500);
    for (const model of [foreign, native]) {
      const answer = await fetch(`${gateway.url}/v1beta/models/${model}:countTokens`, {
        method: 'POST',
        headers: { 'x-goog-api-key': apiKey },
        body: JSON.stringify({ generateContentRequest: { contents: [{ parts: [{ text: 'What is a ledger?' }] }] } }),
      });
      expect(answer.headers.get('x-token-count')).toBe('estimated');
      expect(await answer.json()).toEqual({ totalTokens: expect.any(Number) });
    }
    expect(gateway.provider.tally().calls).toBe(0);
    expect(await gateway.available(user)).toBe(quota);
  });

  test('is for callers that may use the model', async () => {
    const limited = clientWith(await gateway.addApiKey(user, { models: [foreign] }));
    const error = await limited.models.countTokens({ model: native, contents: 'x' }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ status: 403 });
  });
});

describe('the gateway for Google’s client', () => {
  test('lists the models that the key may use', async () => {
    const names = [];
    for await (const { name } of await client.models.list()) names.push(name);
    expect(names).toEqual(
      [native, 'gemini-embedding-001', 'gpt-4o', 'gpt-4o-mini', 'text-embedding-3-small'].map(
        (name) => `models/${name}`,
      ),
    );
    expect(await client.models.get({ model: native })).toMatchObject({ name: `models/${native}` });
  });

  test.each<[string, number, string, () => Promise<unknown>]>([
    [
      'an unknown key',
      401,
      'UNAUTHENTICATED',
      () => clientWith('sk-nobody').models.generateContent({ model: native, contents: 'x' }),
    ],
    ['an unknown model', 404, 'NOT_FOUND', () => client.models.generateContent({ model: 'nothing', contents: 'x' })],
    [
      'no contents',
      400,
      'contents',
      () => client.models.generateContent({ model: native, contents: [{ role: 'user', parts: [] }] }),
    ],
    [
      'contents cached at the provider',
      400,
      'cachedContent',
      () =>
        client.models.generateContent({
          model: native,
          contents: 'x',
          config: { cachedContent: 'cachedContents/abc' },
        }),
    ],
    [
      'a file in the channel’s account',
      400,
      'contents[0].parts[0].fileData.fileUri',
      () =>
        client.models.generateContent({
          model: native,
          contents: [
            {
              role: 'user',
              parts: [{ fileData: { fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/abc' } }],
            },
          ],
        }),
    ],
  ])('refuses %s', async (_what, status, words, call) => {
    const before = gemini.calls.length;
    const error = await call().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status });
    expect(String(error)).toContain(words);
    expect(gemini.calls.length).toBe(before);
  });
});

describe('OpenAI’s client with an upstream of Gemini’s protocol', () => {
  test('is answered under both prefixes', async () => {
    gemini.respondWith('generateContent', responseWith([{ text: 'A book.' }], { finishReason: 'STOP' }));
    for (const prefix of ['/v1', '/v1beta/openai']) {
      const openai = new OpenAI({ apiKey, baseURL: gateway.url + prefix, maxRetries: 0 });
      const answer = await openai.chat.completions.create({
        model: native,
        messages: [{ role: 'user', content: 'x' }],
      });
      expect(answer.choices[0]?.message.content).toBe('A book.');
      expect(answer.usage).toMatchObject({ prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 });
      expect((await openai.models.list()).data.map(({ id }) => id)).toContain(native);
    }
  });

  test('may send pictures by URL, but none from private addresses', async () => {
    const openai = new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
    const before = gemini.calls.length;
    const picture = { type: 'image_url' as const, image_url: { url: `${gemini.url}/cat.png` } };
    const error = await openai.chat.completions
      .create({ model: native, messages: [{ role: 'user', content: [picture] }] })
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ status: 400, code: 'convert_request_failed' });
    expect(String(error)).toContain('image_url.url');
    expect(gemini.calls.length).toBe(before);
    expect(await gateway.available(user)).toBe(quota);
  });

  test('receives streamed tool calls', async () => {
    gemini.respondWith('streamGenerateContent', [
      responseWith([{ text: 'Hm.', thought: true }]),
      responseWith([{ functionCall: { name: 'weather', args: { location: 'Vík' } }, thoughtSignature: 'c2ln' }], {
        finishReason: 'STOP',
      }),
    ]);
    const openai = new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
    const stream = openai.chat.completions.stream({
      model: native,
      messages: [{ role: 'user', content: 'x' }],
      tools: [{ type: 'function', function: { name: 'weather', parameters: { type: 'object', properties: {} } } }],
    });
    const message = await stream.finalMessage();
    expect(message.tool_calls?.[0]).toMatchObject({ function: { name: 'weather', arguments: '{"location":"Vík"}' } });
  });
});

describe('Gemini’s dialect over HTTP', () => {
  const ask = (path: string, headers: Record<string, string> = { 'x-goog-api-key': apiKey }) =>
    fetch(gateway.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ contents: [{ parts: [{ text: 'Count.' }] }] }),
    });
  const responses = [responseWith([{ text: 'one ' }]), responseWith([{ text: 'two' }], { finishReason: 'STOP' })];

  test('returns an array to a caller that does not request events, from either protocol', async () => {
    gemini.respondWith('streamGenerateContent', responses);
    const answer = await ask(`/v1beta/models/${native}:streamGenerateContent`);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(await answer.json()).toEqual(responses);
    gateway.provider.script(foreign, { text: 'one two', chunks: 2 });
    const reported = (await (await ask(`/v1beta/models/${foreign}:streamGenerateContent`)).json()) as typeof responses;
    expect(reported.at(-1)).toMatchObject({ candidates: [{ finishReason: 'STOP' }], usageMetadata: {} });
  });

  test('accepts the key in the address, and does not forward it', async () => {
    gemini.respondWith('generateContent', responseWith([{ text: 'x' }], { finishReason: 'STOP' }));
    const answer = await ask(`/v1/models/${native}:generateContent?key=${apiKey}`, {});
    expect(answer.status).toBe(200);
    expect(gemini.calls.at(-1)?.url).not.toContain('key=');
    expect(gateway.logged.join('')).not.toContain(apiKey.slice(3));
  });

  test('returns a blocked prompt as an answer', async () => {
    const blocked = {
      promptFeedback: { blockReason: 'SAFETY' },
      usageMetadata: { promptTokenCount: 5, totalTokenCount: 5 },
    };
    gemini.respondWith('streamGenerateContent', [blocked]);
    const answer = await ask(`/v1beta/models/${native}:streamGenerateContent?alt=sse`);
    expect(await answer.text()).toBe(`data: ${JSON.stringify(blocked)}\n\n`);
    expect(await newestLine()).toMatchObject({ prompt_tokens: 5, completion_tokens: 0 });
  });

  test('reports a failure in mid-stream in its form, events or members', async () => {
    const begun: ServerResponse[] = [];
    const breaking = await startUpstream((_call, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(eventsOf([responseWith([{ text: 'one ' }])]));
      begun.push(response);
    });
    await gateway.addChannel({ name: 'breaking', type: 24, models: ['gemini-2.0-flash'], baseUrl: breaking.url });
    const failing = async (query: string): Promise<string> => {
      const answer = await ask(`/v1beta/models/gemini-2.0-flash:streamGenerateContent${query}`);
      begun.pop()?.end(eventsOf([{ error: { code: 503, message: 'overloaded', status: 'UNAVAILABLE' } }]));
      return answer.text();
    };
    const failure = { error: { code: 503, status: 'UNAVAILABLE' } };
    const events = (await failing('?alt=sse')).trim().split('\n\n');
    expect(events.map((event) => JSON.parse(event.slice('data: '.length)))).toMatchObject([
      { candidates: [{}] },
      failure,
    ]);
    expect(JSON.parse(await failing(''))).toMatchObject([{ candidates: [{}] }, failure]);
    await breaking.stop();
  });

  test('reports an unknown path in Google’s form', async () => {
    for (const path of [`/v1beta/models/${native}:paint`, '/v1beta/nothing', `/v1/models/${native}:paint`]) {
      const answer = await ask(path);
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({ error: { code: 404, status: 'NOT_FOUND' } });
    }
  });
});
