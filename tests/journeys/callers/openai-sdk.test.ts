import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { until } from '../../support/until.js';

let gateway: TestGateway;
let user: TestUser;
let apiKey: string;
let client: OpenAI;

const quota = 10_000_000;
const question = { role: 'user', content: 'What is a ledger?' } as const;

const clientWith = (key: string) =>
  new OpenAI({ apiKey: key, baseURL: `${gateway.url}/v1`, maxRetries: 0, timeout: 20_000 });

/** The user's newest lines of usage, as the usage log shows them. */
const lines = () => gateway.application.queries.logBefore(user.actor, {}, { limit: 10 }, true);
const settledLine = (count = 1) =>
  until(async () => {
    const found = (await lines()).filter(({ type }) => type === 2);
    return found.length >= count ? found : null;
  });

beforeAll(async () => {
  gateway = await startTestGateway({ STREAMING_TIMEOUT: '2', RELAY_TIMEOUT: '2' });
  await gateway.addChannel();
});
afterAll(() => gateway?.stop());

beforeEach(async () => {
  gateway.provider.reset();
  user = await gateway.addUser(quota);
  apiKey = await gateway.addApiKey(user);
  client = clientWith(apiKey);
});

const refused = async (call: Promise<unknown>) => {
  const error = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(OpenAI.APIError);
  return error as InstanceType<typeof OpenAI.APIError>;
};

describe('OpenAI’s client and models', () => {
  test('lists those that the group serves, by name', async () => {
    const { data } = await client.models.list();
    expect(data.map(({ id }) => id)).toEqual(['gpt-4o', 'gpt-4o-mini', 'text-embedding-3-small']);
  });
  test('reads one model; an unknown one is a 404', async () => {
    expect(await client.models.retrieve('gpt-4o')).toMatchObject({ id: 'gpt-4o', object: 'model' });
    expect(await refused(client.models.retrieve('no-such-model'))).toMatchObject({
      status: 404,
      code: 'model_not_found',
    });
  });
  test('lists only the permitted models for a key with limits', async () => {
    const limited = clientWith(await gateway.addApiKey(user, { models: ['gpt-4o'] }));
    expect((await limited.models.list()).data.map(({ id }) => id)).toEqual(['gpt-4o']);
    expect(
      await refused(limited.chat.completions.create({ model: 'gpt-4o-mini', messages: [question] })),
    ).toMatchObject({ status: 403 });
  });
});

describe('a chat call', () => {
  test('is answered, charged by the upstream’s usage and logged', async () => {
    gateway.provider.script('gpt-4o-mini', { text: 'A book of accounts.', tokens: { prompt: 1000, completion: 200 } });
    const answer = await client.chat.completions.create({ model: 'gpt-4o-mini', messages: [question] });
    expect(answer.choices[0]?.message.content).toBe('A book of accounts.');

    const [line] = await settledLine();
    // 0.075 × (1000 + 200 × 4)
    expect(line).toMatchObject({ quota: 135, prompt_tokens: 1000, completion_tokens: 200, model: 'gpt-4o-mini' });
    expect(await gateway.available(user)).toBe(quota - 135);
  });

  test('is streamed, with usage only for callers that request it', async () => {
    gateway.provider.script('gpt-4o', { text: 'one two three', chunks: 3, usage: 'asked' });
    const plain = await client.chat.completions.create({ model: 'gpt-4o', messages: [question], stream: true });
    let text = '';
    for await (const chunk of plain) {
      text += chunk.choices[0]?.delta.content ?? '';
      expect(chunk.usage ?? null).toBeNull();
    }
    expect(text).toBe('one two three');

    const sent = await client.chat.completions.create({
      model: 'gpt-4o',
      messages: [question],
      stream: true,
      stream_options: { include_usage: true },
    });
    const usages = [];
    for await (const chunk of sent) if (chunk.usage) usages.push(chunk.usage);
    expect(usages).toHaveLength(1);
    const [line] = await settledLine(2);
    expect(line).toMatchObject({ is_stream: true, usage_source: 'upstream' });
  });

  test('carries tools in both directions', async () => {
    const answer = await client.chat.completions.create({
      model: 'gpt-4o',
      messages: [question],
      tools: [{ type: 'function', function: { name: 'look_up', parameters: { type: 'object', properties: {} } } }],
    });
    expect(answer.choices[0]?.finish_reason).toBe('tool_calls');
    expect(answer.choices[0]?.message.tool_calls?.[0]).toMatchObject({
      type: 'function',
      function: { name: 'look_up' },
    });
  });

  test('without upstream usage is counted by the gateway', async () => {
    gateway.provider.script('gpt-4o', { text: 'Nobody counts but us.', usage: 'never' });
    await client.chat.completions.create({ model: 'gpt-4o', messages: [question] });
    const [line] = await settledLine();
    expect(line).toMatchObject({ usage_source: 'estimated' });
    expect(line?.completion_tokens).toBeGreaterThan(3);
    expect(line?.prompt_tokens).toBeGreaterThan(5);
  });
});

test('a legacy completion and embeddings are metered too', async () => {
  const completion = await client.completions.create({ model: 'gpt-4o-mini', prompt: 'Once upon a time' });
  expect(completion.choices[0]?.text).not.toBe('');
  const embedded = await client.embeddings.create({ model: 'text-embedding-3-small', input: ['one', 'two'] });
  expect(embedded.data).toHaveLength(2);
  const found = await settledLine(2);
  expect(found.every((line) => line.quota >= 1)).toBe(true);
});

describe('an error for OpenAI’s client', () => {
  const chat = (with_ = client, model = 'gpt-4o-mini') =>
    with_.chat.completions.create({ model, messages: [question], max_tokens: 10 });

  test('names a wrong key', async () => {
    expect(await refused(chat(clientWith(`sk-${'x'.repeat(48)}`)))).toMatchObject({
      status: 401,
      code: 'invalid_api_key',
    });
    expect(await refused(chat(clientWith('sk-short')))).toMatchObject({ status: 401, code: 'invalid_api_key' });
  });
  test('says that the quota is spent', async () => {
    const poor = await gateway.addUser(0);
    const error = await refused(chat(clientWith(await gateway.addApiKey(poor))));
    expect(error).toMatchObject({ status: 403, code: 'insufficient_user_quota', type: 'gateway_error' });
    expect(error.message).toMatch(/\(request id: \d{17}\w{8}\)/);
    expect(gateway.provider.tally().calls).toBe(0);
  });
  test('says that the key has less quota than the call may cost', async () => {
    const small = clientWith(await gateway.addApiKey(user, { quota: 1 }));
    expect(await refused(chat(small, 'gpt-4o'))).toMatchObject({ status: 403, code: 'pre_consume_token_quota_failed' });
  });
  test('says that no channel has the model, and is not retried', async () => {
    let requests = 0;
    const counting: typeof fetch = (...asked) => {
      requests++;
      return fetch(...asked);
    };
    const patient = new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 2, fetch: counting });
    const error = await refused(chat(patient, 'gpt-9'));
    expect(error).toBeInstanceOf(OpenAI.NotFoundError);
    expect(error).toMatchObject({ status: 404, code: 'model_not_found', param: 'model' });
    expect(requests).toBe(1);
  });
  test('names the field of an invalid request', async () => {
    const error = await refused(client.chat.completions.create({ model: 'gpt-4o', messages: [] }));
    expect(error).toMatchObject({ status: 400, code: 'invalid_text_request' });
    expect(error.message).toContain('messages');
  });
});

describe('an upstream failure', () => {
  const create = () => client.chat.completions.create({ model: 'gpt-4o', messages: [question], max_tokens: 20 });
  const untouched = () => until(async () => ((await gateway.available(user)) === quota ? true : null));

  test.each([
    [429, 'rate_limit_exceeded'],
    [500, 'server_error'],
  ])('with status %i is passed on and costs nothing', async (status, code) => {
    gateway.provider.script('gpt-4o', {
      kind: 'refuse',
      status,
      body: { error: { message: 'not now', type: 'upstream_trouble', code } },
      retryAfter: '7',
    });
    const error = await refused(create());
    expect(error).toMatchObject({ status, code });
    if (status === 429) expect(error.headers?.get('retry-after')).toBe('7');
    await untouched();
  });

  test('by silence ends in an error, not in an endless wait', async () => {
    gateway.provider.script('gpt-4o', { kind: 'hang' });
    expect(await refused(create())).toMatchObject({ status: 500, code: 'do_request_failed' });
    await untouched();
  });

  test('by a reset before the first byte discloses no address', async () => {
    gateway.provider.script('gpt-4o', { kind: 'reset' });
    const error = await refused(create());
    expect(error).toMatchObject({ status: 500, code: 'do_request_failed' });
    expect(error.message).not.toMatch(/127\.0\.0\.1|ECONN/);
    await untouched();
  });

  test('after the first byte ends the stream with an error and charges the delivered part', async () => {
    gateway.provider.script('gpt-4o', { chunks: 50, after: { frames: 10, then: 'reset' } });
    const stream = await client.chat.completions.create({ model: 'gpt-4o', messages: [question], stream: true });
    let received = 0;
    const error = await refused(
      (async () => {
        for await (const chunk of stream) if (chunk.choices[0]?.delta.content) received++;
      })(),
    );
    expect(error.message).toContain('broke off');
    expect(received).toBeGreaterThan(3);
    const [line] = await settledLine();
    expect(line).toMatchObject({ outcome: 'upstream-broke', usage_source: 'estimated' });
    expect(line?.quota).toBeGreaterThan(0);
  });

  test('is retried on another channel when the operator allows it, as one call with one charge', async () => {
    const spare = await gateway.addChannel({
      name: 'spare',
      models: ['retried'],
      modelMapping: '{"retried":"gpt-4o"}',
    });
    const first = await gateway.addChannel({ name: 'first', models: ['retried'], priority: 5 });
    await gateway.setOption('ModelRatio', JSON.stringify({ retried: 1, 'gpt-4o': 1.25, 'gpt-4o-mini': 0.075 }));
    await gateway.setOption('RetryTimes', '1');
    gateway.provider.script('retried', { kind: 'refuse', status: 500 });
    const answer = await client.chat.completions.create({ model: 'retried', messages: [question] });
    expect(answer.choices[0]?.message.content).not.toBe('');
    const found = await settledLine();
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ model: 'retried', upstream_model: 'gpt-4o', attempts: [first, spare] });
    await gateway.setOption('RetryTimes', '0');
  });
});

test('a caller that disconnects aborts the upstream request and pays for the received part', async () => {
  gateway.provider.script('gpt-4o', { endless: true, chunkDelayMs: 5 });
  const stream = await client.chat.completions.create({ model: 'gpt-4o', messages: [question], stream: true });
  let received = 0;
  for await (const chunk of stream) {
    if (chunk.choices[0]?.delta.content) received++;
    if (received === 10) break;
  }
  const [line] = await settledLine();
  expect(line).toMatchObject({ outcome: 'caller-left', usage_source: 'estimated' });
  expect(line?.quota).toBeGreaterThan(0);
  await until(async () => (gateway.provider.tally().abandoned === 1 ? true : null));
});

test('a stream that outgrows its reservation extends it, and ends with an error when it cannot', async () => {
  const small = await gateway.addUser(3000);
  gateway.provider.script('gpt-4o', { endless: true, chunkSize: 200 });
  const stream = await clientWith(await gateway.addApiKey(small)).chat.completions.create({
    model: 'gpt-4o',
    messages: [question],
    stream: true,
  });
  const error = await refused(
    (async () => {
      for await (const _ of stream);
    })(),
  );
  expect(error).toMatchObject({ code: 'insufficient_user_quota' });
  const charged = await until(async () => {
    const [line] = await gateway.application.queries.logBefore(small.actor, { type: 2 }, { limit: 1 }, true);
    return line ?? null;
  });
  expect(charged).toMatchObject({ outcome: 'quota-ran-out' });
  // It was let in for 500 tokens (625) and paid for most of what it had.
  expect(charged.quota).toBeGreaterThan(1500);
});
