import type { ServerResponse } from 'node:http';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ChannelId } from '../../../src/domain/kernel/ids.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { until } from '../../support/until.js';
import { eventText, eventsOf as messageEvents, messageOf } from '../../support/upstreams/anthropic-upstream.js';
import { eventsOf, responseWith } from '../../support/upstreams/gemini-upstream.js';
import {
  json,
  serviceAccountDocument,
  startVertexUpstream,
  type VertexUpstream,
} from '../../support/upstreams/vertex-upstream.js';

/* Official clients through a channel of Google's cloud: tokens are granted by this machine, which checks what is signed. */

const gemini = 'gemini-2.5-flash';
const claude = 'claude-sonnet-4-5-20250929';
const llama = 'meta/llama-4-scout-17b-16e-instruct-maas';
const embedding = 'text-embedding-005';
const imagen = 'imagen-3.0-generate-002';

let gateway: TestGateway;
let vertex: VertexUpstream;
let channel: ChannelId;
let user: TestUser;
let apiKey: string;
let openai: OpenAI;

const path = '/v1/projects/proj-test-1/locations';
const geminiAnswer = responseWith([{ text: 'A book.' }], { finishReason: 'STOP' });

/** Each wire at its address. */
function answerAll(): void {
  vertex.respondWith(({ url, body }, response) => {
    const events = (text: string): void =>
      void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text);
    if (url.endsWith(':generateContent')) return json(response, 200, geminiAnswer);
    if (url.endsWith(':streamGenerateContent?alt=sse')) return events(eventsOf([geminiAnswer]));
    const message = messageOf([{ type: 'text', text: 'A book.' }]);
    if (url.endsWith(':rawPredict')) return json(response, 200, message);
    if (url.endsWith(':streamRawPredict')) return events(messageEvents(message).map(eventText).join(''));
    if (url.endsWith(`/${imagen}:predict`))
      return json(response, 200, { predictions: [{ bytesBase64Encoded: 'iVBORw0KGgo=', mimeType: 'image/png' }] });
    if (url.endsWith(':predict'))
      return json(response, 200, {
        predictions: JSON.parse(body).instances.map(() => ({
          embeddings: { values: [0.25, 0.5], statistics: { token_count: 3, truncated: false } },
        })),
      });
    return json(response, 200, {
      id: 'c1',
      object: 'chat.completion',
      created: 1,
      model: llama,
      choices: [{ index: 0, message: { role: 'assistant', content: 'A book.' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
    });
  });
}

const addChannel = (rest: { key?: string; name?: string; models?: readonly string[] } = {}): Promise<ChannelId> =>
  gateway.addChannel({
    name: 'vertex',
    type: 41,
    models: [gemini, claude, llama, embedding, imagen],
    baseUrl: vertex.url,
    other: JSON.stringify({ default: 'us-central1', [claude]: 'eu' }),
    key: serviceAccountDocument(vertex.tokenUri),
    ...rest,
  });

beforeAll(async () => {
  [gateway, vertex] = await Promise.all([startTestGateway(), startVertexUpstream()]);
  await gateway.setOption('SelfUseModeEnabled', 'true');
  await gateway.setOption('RetryTimes', '0');
  await gateway.setOption('AutomaticDisableChannelEnabled', 'true');
});
afterAll(async () => {
  await gateway?.stop();
  await vertex?.stop();
});
beforeEach(async () => {
  vertex.reset();
  answerAll();
  // A key of its own has no token yet.
  const key = serviceAccountDocument(vertex.tokenUri, { note: String(Math.random()) });
  channel = await addChannel({ key });
  user = await gateway.addUser(100_000_000);
  apiKey = await gateway.addApiKey(user);
  openai = new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0, timeout: 30_000 });
});
afterEach(async () => {
  await gateway.application.visible(await gateway.application.channels.remove(gateway.root, [channel]));
});

const ask = (model = gemini) =>
  openai.chat.completions.create({ model, messages: [{ role: 'user', content: 'What is a ledger?' }] });

const settledLine = () =>
  until(async () => {
    const lines = await gateway.application.queries.logBefore(user.actor, {}, { limit: 10 }, true);
    return lines.find(({ type }) => type === 2) ?? null;
  });

describe('a Vertex channel', () => {
  test.each([
    [gemini, `${path}/us-central1/publishers/google/models/${gemini}:generateContent`],
    [claude, `${path}/eu/publishers/anthropic/models/claude-sonnet-4-5@20250929:rawPredict`],
    [llama, `${path}/us-central1/endpoints/openapi/chat/completions`],
  ])('requests %s in the protocol of its vendor', async (model, url) => {
    const answer = await ask(model);
    expect(answer.choices[0]?.message.content).toBe('A book.');
    expect(vertex.calls.map((call) => call.url)).toEqual([url]);
    expect(await settledLine()).toMatchObject({ model });
  });

  test('streams to OpenAI’s client from each protocol', async () => {
    for (const model of [gemini, claude]) {
      const stream = await openai.chat.completions.create({
        model,
        stream: true,
        messages: [{ role: 'user', content: 'What is a ledger?' }],
      });
      let said = '';
      for await (const chunk of stream) said += chunk.choices[0]?.delta.content ?? '';
      expect(said).toBe('A book.');
    }
  });

  test('answers Google’s own client, whole and in events, and omits the ids of tool calls', async () => {
    const client = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: gateway.url, timeout: 20_000 } });
    const contents = [
      { role: 'user', parts: [{ text: 'What is a ledger?' }] },
      { role: 'model', parts: [{ functionCall: { id: 'f1', name: 'look', args: {} } }] },
      { role: 'user', parts: [{ functionResponse: { id: 'f1', name: 'look', response: { found: 'a book' } } }] },
    ];
    expect((await client.models.generateContent({ model: gemini, contents })).text).toBe('A book.');
    const sent = JSON.parse(vertex.calls[0]?.body ?? '');
    expect(sent.contents[1].parts).toEqual([{ functionCall: { name: 'look', args: {} } }]);
    expect(sent.contents[2].parts).toEqual([{ functionResponse: { name: 'look', response: { found: 'a book' } } }]);
    let said = '';
    for await (const one of await client.models.generateContentStream({ model: gemini, contents: 'What?' }))
      said += one.text ?? '';
    expect(said).toBe('A book.');
    const embedded = await client.models.embedContent({
      model: embedding,
      contents: ['one', 'two'],
      config: { taskType: 'RETRIEVAL_QUERY', outputDimensionality: 2 },
    });
    expect(embedded.embeddings?.map(({ values }) => values)).toEqual([
      [0.25, 0.5],
      [0.25, 0.5],
    ]);
    expect(JSON.parse(vertex.calls.at(-1)?.body ?? '')).toEqual({
      instances: [
        { content: 'one', task_type: 'RETRIEVAL_QUERY' },
        { content: 'two', task_type: 'RETRIEVAL_QUERY' },
      ],
      parameters: { outputDimensionality: 2 },
    });
  });

  test('answers Anthropic’s own client, whole and in events, with its betas in a header', async () => {
    const client = new Anthropic({ apiKey, baseURL: gateway.url, maxRetries: 0, timeout: 20_000 });
    const asked = {
      model: claude,
      max_tokens: 100,
      messages: [{ role: 'user', content: 'What is a ledger?' }],
    } as const;
    const whole = await client.messages.create(
      { ...asked, messages: [...asked.messages] },
      { headers: { 'anthropic-beta': 'interleaved-thinking-2025-05-14' } },
    );
    expect(whole.content).toEqual([{ type: 'text', text: 'A book.' }]);
    const [call] = vertex.calls;
    expect(call?.headers['anthropic-beta']).toBe('interleaved-thinking-2025-05-14');
    expect(call?.headers['anthropic-version']).toBeUndefined();
    expect(JSON.parse(call?.body ?? '')).toEqual({
      max_tokens: 100,
      messages: [{ role: 'user', content: 'What is a ledger?' }],
      anthropic_version: 'vertex-2023-10-16',
    });
    const streamed = await client.messages.stream({ ...asked, messages: [...asked.messages] }).finalMessage();
    expect(streamed.content).toMatchObject([{ type: 'text', text: 'A book.' }]);
    expect(JSON.parse(vertex.calls.at(-1)?.body ?? '').stream).toBe(true);
  });
});

describe('a picture model on Vertex', () => {
  /** Google's newer clients ask for it at Google's cloud only. */
  const predict = async (model: string, parameters: Record<string, unknown>) => {
    const response = await fetch(`${gateway.url}/v1beta/models/${model}:predict`, {
      method: 'POST',
      headers: { 'x-goog-api-key': apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ instances: [{ prompt: 'A book.' }], parameters }),
    });
    return { status: response.status, text: await response.text() };
  };

  test('is requested for one picture in its own protocol, which is charged as such', async () => {
    const { status, text } = await predict(imagen, { aspectRatio: '16:9' });
    const predictions = [{ bytesBase64Encoded: 'iVBORw0KGgo=', mimeType: 'image/png' }];
    expect([status, JSON.parse(text)]).toEqual([200, { predictions }]);
    const [call] = vertex.calls;
    expect(call?.url).toBe(`${path}/us-central1/publishers/google/models/${imagen}:predict`);
    expect(JSON.parse(call?.body ?? '')).toEqual({
      instances: [{ prompt: 'A book.' }],
      parameters: { aspectRatio: '16:9', sampleCount: 1 },
    });
    // 0.03 USD.
    expect(await settledLine()).toMatchObject({ model: imagen, completion_tokens: 258, quota: 15_000 });
  });

  test('draws for OpenAI’s client from the last message, in a stream too', async () => {
    const whole = await ask(imagen);
    expect(whole.choices[0]?.message.content).toBe('![image](data:image/png;base64,iVBORw0KGgo=)');
    const stream = await openai.chat.completions.create({
      model: imagen,
      stream: true,
      messages: [{ role: 'user', content: 'A book.' }],
    });
    let said = '';
    for await (const chunk of stream) said += chunk.choices[0]?.delta.content ?? '';
    expect(said).toBe('![image](data:image/png;base64,iVBORw0KGgo=)');
  });

  test('writes to no bucket that a caller names', async () => {
    const { status, text } = await predict(imagen, { storageUri: 'gs://somebody/else' });
    expect([status, text]).toEqual([400, expect.stringContaining('parameters.storageUri')]);
    expect(vertex.calls).toEqual([]);
  });

  test('draws one picture a call, and the error names the member that requests more', async () => {
    const several = await predict(imagen, { sampleCount: 2 });
    expect([several.status, several.text]).toEqual([400, expect.stringContaining('parameters.sampleCount')]);
    await expect(
      openai.chat.completions.create({ model: imagen, n: 2, messages: [{ role: 'user', content: 'A book.' }] }),
    ).rejects.toThrow('n: one picture');
    const others = await predict(gemini, {});
    expect([others.status, others.text]).toEqual([400, expect.stringContaining('instances')]);
    expect(vertex.calls).toEqual([]);
    expect(await gateway.available(user)).toBe(100_000_000);
  });
});

describe('the access token of a Vertex channel', () => {
  test('is fetched once for fifty concurrent calls, and none of its parts is disclosed', async () => {
    await Promise.all(Array.from({ length: 50 }, () => ask()));
    expect([vertex.granted.length, vertex.calls.length]).toEqual([1, 50]);
    expect(vertex.granted[0]).toMatchObject({
      iss: 'calls@proj-test-1.iam.gserviceaccount.com',
      scope: 'https://www.googleapis.com/auth/cloud-platform',
    });
    const log = gateway.logged.join('\n');
    for (const secret of ['PRIVATE KEY', 'ya29.token', 'assertion=']) expect(log).not.toContain(secret);
  });

  test('that was revoked is fetched again, without an effect on the caller', async () => {
    await ask();
    vertex.withdraw();
    await ask();
    expect([vertex.granted.length, vertex.calls.length]).toEqual([2, 2]);
  });

  test('that is always rejected is renewed once, and the channel is disabled', async () => {
    vertex.grants((_, response) => json(response, 200, { access_token: 'ya29.no', expires_in: 3599 }));
    await expect(ask()).rejects.toMatchObject({ status: 502 });
    await until(async () => (await gateway.application.directory.channel(channel)?.status) !== 'enabled');
  });

  test('that is refused disables the channel', async () => {
    vertex.grants((_, response) =>
      json(response, 400, { error: 'invalid_grant', error_description: 'Invalid grant: account not found' }),
    );
    await expect(ask()).rejects.toMatchObject({ status: 502, code: 'upstream_account_unavailable' });
    await until(async () => (await gateway.application.directory.channel(channel)?.status) !== 'enabled');
    expect(vertex.calls).toEqual([]);
  });

  test.each([
    ['unavailable', 503, (response) => json(response, 503, {})],
    ['endless', 500, (response) => void response.writeHead(200).write('x'.repeat(100_000))],
    ['elsewhere', 502, (response) => void response.writeHead(302, { location: '/token' }).end()],
    ['cut short', 500, (response) => void response.destroy()],
  ] satisfies [string, number, (response: ServerResponse) => void][])(
    'that is %s fails the call, which costs nothing, and the next call requests it again',
    async (_how, status, answering) => {
      vertex.grants((_, response) => answering(response));
      await expect(ask()).rejects.toMatchObject({ status });
      expect(gateway.application.directory.channel(channel)?.status).toBe('enabled');
      expect(await gateway.available(user)).toBe(100_000_000);
      vertex.grants(null);
      await ask();
      expect(vertex.granted).toHaveLength(1);
    },
  );
});

describe('saving a Vertex channel', () => {
  test('without a part of its key is refused, with the name of the part', async () => {
    const key = serviceAccountDocument(vertex.tokenUri, { private_key: '' });
    await expect(addChannel({ key })).rejects.toMatchObject({
      code: 'invalid-field',
      details: { field: 'key', allowed: expect.stringContaining('private_key') },
    });
  });

  test('with a region that would be another host is refused', async () => {
    const settings = { type: 41, other: 'evil.example/x', key: serviceAccountDocument(vertex.tokenUri) };
    await expect(gateway.addChannel(settings)).rejects.toMatchObject({ details: { field: 'other' } });
  });
});
