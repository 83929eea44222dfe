import OpenAI from 'openai';
import { request } from 'undici';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type SimulatedProvider, startSimulatedProvider } from '../../src/demo/simulated-provider.js';

let provider: SimulatedProvider;
let client: OpenAI;

beforeAll(async () => {
  provider = await startSimulatedProvider({ models: ['gpt-4o-mini'] });
  client = new OpenAI({ apiKey: 'sk-simulated', baseURL: `${provider.url}/v1`, maxRetries: 0, timeout: 5000 });
});
afterEach(() => provider.reset());
afterAll(() => provider.stop());

const messages = [{ role: 'user' as const, content: 'Say something of forty characters, please' }];
const chat = { model: 'gpt-4o-mini', messages };

const post = (body: object, path = '/v1/chat/completions', signal?: AbortSignal) =>
  request(provider.url + path, { method: 'POST', body: JSON.stringify(body), ...(signal && { signal }) });

async function collect(options: { usage?: boolean; model?: string } = {}) {
  const { usage = false, model = chat.model } = options;
  const stream = await client.chat.completions.create({
    ...chat,
    model,
    stream: true,
    ...(usage && { stream_options: { include_usage: true } }),
  });
  const chunks: OpenAI.ChatCompletionChunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

const textOf = (chunks: readonly OpenAI.ChatCompletionChunk[]): string =>
  chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('');

const eventually = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
};

describe('the simulated provider', () => {
  test('lists its models', async () => {
    const { data } = await client.models.list();
    expect(data.map(({ id }) => id)).toEqual(['gpt-4o-mini']);
    expect(provider.tally().calls).toBe(0);
  });

  test('answers a chat and reports usage', async () => {
    const { choices, usage } = await client.chat.completions.create(chat);
    expect(choices[0]).toMatchObject({ finish_reason: 'stop', message: { role: 'assistant' } });
    expect(usage).toMatchObject({ prompt_tokens: 11, completion_tokens: 8, total_tokens: 19 });
  });

  test('streams the same text in several chunks, with usage on request', async () => {
    const whole = await client.chat.completions.create(chat);
    const plain = await collect();
    expect(textOf(plain)).toBe(whole.choices[0]?.message.content);
    expect(plain.filter((chunk) => chunk.choices[0]?.delta.content)).toHaveLength(8);
    expect(plain.some(({ usage }) => usage)).toBe(false);
    expect((await collect({ usage: true })).at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 19 } });
  });

  test('returns its reasoning under a model name for it', async () => {
    const answer = await client.chat.completions.create({ ...chat, model: 'simulated-reasoner' });
    expect(answer.choices[0]?.message).toHaveProperty('reasoning_content');
    expect(answer.usage?.completion_tokens_details?.reasoning_tokens).toBeGreaterThan(0);
  });

  test('calls the first tool that it is offered, and answers once it has the result', async () => {
    const tools = [{ type: 'function' as const, function: { name: 'weather', parameters: {} } }];
    const runner = client.chat.completions.stream({ ...chat, tools });
    const asked = await runner.finalChatCompletion();
    const call = asked.choices[0]?.message.tool_calls?.[0];
    expect(call).toMatchObject({ function: { name: 'weather', arguments: '{"location":"Copenhagen"}' } });
    const turns = [...messages, { role: 'tool' as const, tool_call_id: 'x', content: 'rain' }];
    const spoken = await client.chat.completions.create({ ...chat, messages: turns, tools });
    expect(spoken.choices[0]?.finish_reason).toBe('stop');
  });

  test('completes texts', async () => {
    const stream = await client.completions.create({ model: 'm', prompt: 'Once', stream: true });
    let text = '';
    for await (const chunk of stream) text += chunk.choices[0]?.text ?? '';
    const whole = await client.completions.create({ model: 'm', prompt: 'Once' });
    expect(text).toBe(whole.choices[0]?.text);
  });

  test('embeds, the same vector for the same text, in either encoding', async () => {
    const input = ['one', 'two', 'one'];
    const float = await client.embeddings.create({ model: 'm', input, encoding_format: 'float' });
    const base64 = await client.embeddings.create({ model: 'm', input });
    const [first, second, third] = float.data.map(({ embedding }) => embedding);
    expect(first).toEqual(third);
    expect(first).not.toEqual(second);
    expect(base64.data[0]?.embedding[0]).toBeCloseTo(first?.[0] ?? Number.NaN, 6);
  });

  test('counts the calls it served and keeps the newest requests under their ids', async () => {
    const { response } = await client.chat.completions.create(chat).withResponse();
    await collect({ model: 'gpt-4o' });
    const tally = provider.tally();
    expect(tally).toMatchObject({
      calls: 2,
      completed: 2,
      byModel: { 'gpt-4o-mini': 1, 'gpt-4o': 1 },
      promptTokens: 22,
      completionTokens: 16,
      abandoned: 0,
    });
    expect(tally.requests[0]).toMatchObject({
      id: response.headers.get('x-request-id'),
      path: '/v1/chat/completions',
      headers: { authorization: 'Bearer sk-simulated' },
      body: { model: 'gpt-4o-mini' },
    });
  });
});

describe('a script of the simulated provider', () => {
  test('sets text, chunks, reasoning and tokens', async () => {
    provider.script(chat.model, { text: 'abcdef', chunks: 3, reasoning: 'hm', tokens: { prompt: 100, cached: 40 } });
    const chunks = await collect({ usage: true });
    expect(chunks.flatMap((chunk) => chunk.choices[0]?.delta.content || [])).toEqual(['ab', 'cd', 'ef']);
    expect(chunks.at(-1)?.usage).toMatchObject({ prompt_tokens: 100, prompt_tokens_details: { cached_tokens: 40 } });
  });

  test('sets the size of chunks', async () => {
    provider.script(chat.model, { chunks: 5, chunkSize: 40 });
    expect(textOf(await collect())).toHaveLength(200);
  });

  test('runs in order, and its last step is repeated', async () => {
    provider.script(chat.model, [{ kind: 'refuse', status: 500 }, { text: 'second' }]);
    await expect(client.chat.completions.create(chat)).rejects.toMatchObject({ status: 500 });
    for (const _ of [1, 2])
      expect((await client.chat.completions.create(chat)).choices[0]?.message.content).toBe('second');
  });

  test('refuses with a status, a body and a retry time', async () => {
    const error = { message: 'slow down', type: 'rate_limit_error', code: 'rate_limit_exceeded', param: null };
    provider.script(chat.model, { kind: 'refuse', status: 429, body: { error }, retryAfter: '7' });
    await expect(client.chat.completions.create(chat)).rejects.toMatchObject({ status: 429, error });
    const { headers } = await post(chat);
    expect(headers['retry-after']).toBe('7');
  });

  test('refuses with a page, or with an error dressed as an answer', async () => {
    provider.script(chat.model, [
      { kind: 'refuse', status: 502, body: '<html>no</html>' },
      { kind: 'refuse', status: 200, body: { error: { message: 'no' } } },
    ]);
    const page = await post(chat);
    expect([page.statusCode, page.headers['content-type'], await page.body.text()]).toEqual([
      502,
      'text/html',
      '<html>no</html>',
    ]);
    const dressed = await post(chat);
    expect([dressed.statusCode, await dressed.body.json()]).toEqual([200, { error: { message: 'no' } }]);
  });

  test('reports usage never, or always', async () => {
    provider.script(chat.model, { usage: 'never' });
    expect((await client.chat.completions.create(chat)).usage).toBeUndefined();
    expect((await collect({ usage: true })).some(({ usage }) => usage)).toBe(false);
    provider.script(chat.model, { usage: 'always' });
    expect((await collect()).at(-1)?.usage).toBeTruthy();
  });

  test('hangs until the caller disconnects', async () => {
    provider.script(chat.model, { kind: 'hang' });
    const leaving = new AbortController();
    const answer = post(chat, undefined, leaving.signal);
    await eventually(() => provider.tally().calls === 1);
    leaving.abort();
    await expect(answer).rejects.toThrow();
    await eventually(() => provider.tally().abandoned === 1);
  });

  test('drops the connection before the first byte', async () => {
    provider.script(chat.model, { kind: 'reset' });
    await expect(post(chat)).rejects.toThrow();
    expect(provider.tally()).toMatchObject({ calls: 1, completed: 0, abandoned: 0 });
  });

  test('drops the connection after some frames', async () => {
    provider.script(chat.model, { after: { frames: 3, then: 'reset' } });
    const { body } = await post({ ...chat, stream: true });
    let text = '';
    await expect(
      (async () => {
        for await (const part of body) text += part;
      })(),
    ).rejects.toThrow();
    expect(text.match(/data: \{/g)).toHaveLength(3);
  });

  test.each([
    ['error', true],
    ['close', false],
  ] as const)('ends with %s after some frames', async (then, reportsError) => {
    provider.script(chat.model, { after: { frames: 2, then } });
    const { body } = await post({ ...chat, stream: true });
    const text = await body.text();
    expect(text.match(/"choices"/g)).toHaveLength(2);
    expect(text.includes('"error"')).toBe(reportsError);
    expect(text.includes('[DONE]')).toBe(false);
    expect(provider.tally().completed).toBe(0);
  });

  test('continues until the caller disconnects', async () => {
    provider.script(chat.model, { endless: true });
    const leaving = new AbortController();
    const { body } = await post({ ...chat, stream: true }, undefined, leaving.signal);
    let bytes = 0;
    await expect(
      (async () => {
        for await (const part of body) {
          bytes += part.length;
          if (bytes > 1_000_000) leaving.abort();
        }
      })(),
    ).rejects.toThrow();
    await eventually(() => provider.tally().abandoned === 1);
    expect(bytes).toBeGreaterThan(1_000_000);
  });

  test('waits before the first byte and between chunks', async () => {
    provider.script(chat.model, { firstByteDelayMs: 30, chunkDelayMs: 10, text: 'ab', chunks: 2 });
    const start = performance.now();
    await collect();
    // Role, two pieces and the finish: three pauses between four frames. Timers may fire a millisecond early.
    expect(performance.now() - start).toBeGreaterThanOrEqual(30 + 3 * 10 - 4);
  });
});
