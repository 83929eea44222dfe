import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { type Caller, type Callers, errorIn, openCallers } from '../../support/callers/callers.js';
import { lineOf } from '../../support/gateway/log-lines.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import {
  eventsOf,
  messageItem,
  reportedUsage,
  responseOf,
  searchItem,
  streamOf,
} from '../../support/upstreams/responses-answers.js';
import { startUpstream, type Upstream } from '../../support/upstreams/upstream.js';

/* The Responses interface over real HTTP, by the official SDK and by plain callers, and what it is charged. */

let gateway: TestGateway;
let callers: Callers;
let upstream: Upstream;
let user: TestUser;
let caller: Caller;
let client: OpenAI;

interface Scripted {
  readonly status?: number;
  readonly type?: string;
  readonly text: string;
  /** The connection is cut behind the text. */
  readonly cut?: boolean;
}

let scripted: Scripted[] = [];
let received: { readonly url: string; readonly body: JsonObject }[] = [];

const answer = 'Every charge can be proved.';
const reported = responseOf([messageItem(answer)], { usage: reportedUsage(20, 10, { cached: 8, reasoning: 4 }) });
const charge = 12 + 4 + 10;
const json = (body: JsonObject, status = 200): Scripted => ({
  status,
  type: 'application/json',
  text: JSON.stringify(body),
});
const events = (text: string, cut = false): Scripted => ({ type: 'text/event-stream', text, cut });

const ask = (body: JsonObject) =>
  caller.send('/v1/responses', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: { model: 'm', input: 'What is a ledger?', ...body },
  });

beforeAll(async () => {
  gateway = await startTestGateway();
  callers = openCallers(gateway.url);
  upstream = await startUpstream(({ url, body }, response) => {
    received.push({ url, body: JSON.parse(body) as JsonObject });
    const { status = 200, type = 'text/event-stream', text, cut = false } = scripted.shift() ?? json({}, 500);
    response.writeHead(status, { 'content-type': type });
    if (cut) response.write(text, () => response.destroy());
    else response.end(text);
  });
  await gateway.setOption('RetryTimes', '1');
  for (const option of ['ModelRatio', 'CompletionRatio'])
    await gateway.setOption(option, '{"m":1,"embeddings-only":1}');
  await gateway.setOption('CacheRatio', '{"m":0.5}');
  for (const name of ['first', 'second'])
    await gateway.addChannel({ name, type: 1, models: ['m'], baseUrl: upstream.url });
  await gateway.addChannel({ type: 38, models: ['embeddings-only'], baseUrl: upstream.url });
  user = await gateway.addUser(100_000_000);
  const apiKey = await gateway.addApiKey(user);
  caller = callers.with(apiKey);
  client = new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  await upstream?.stop();
});
beforeEach(() => {
  scripted = [];
  received = [];
});

describe('a whole response', () => {
  test('reaches the SDK unchanged, is requested as it was, and is charged by its usage', async () => {
    scripted = [json(reported)];
    const { data, response } = await client.responses.create({ model: 'm', input: 'What is a ledger?' }).withResponse();
    expect(data).toMatchObject({ ...reported, output_text: answer });
    expect(received).toEqual([{ url: '/v1/responses', body: { model: 'm', input: 'What is a ledger?' } }]);
    const line = await lineOf(gateway, user, { requestId: response.headers.get('x-request-id') ?? '' });
    expect(line).toMatchObject({ usage_source: 'upstream', prompt_tokens: 20, completion_tokens: 10, quota: charge });
  });

  test('is requested from the next channel after a failure', async () => {
    const failure = { error: { message: 'overloaded', type: 'server_error', code: null } };
    scripted = [json(failure, 500), json(reported)];
    expect(await ask({})).toMatchObject({ status: 200, text: JSON.stringify(reported) });
    expect(received).toHaveLength(2);
  });

  test('without usage is counted by the gateway, and reports that usage', async () => {
    scripted = [json({ ...reported, usage: null })];
    const got = await ask({});
    const { usage } = JSON.parse(got.text) as { usage: JsonObject };
    const line = await lineOf(gateway, user, got);
    expect(line.usage_source).toBe('estimated');
    expect(usage).toMatchObject({ input_tokens: line.prompt_tokens, output_tokens: line.completion_tokens });
  });
});

describe('a streamed response', () => {
  test('reaches the SDK event by event, and its last one when it is charged', async () => {
    // Its helper throws at types of events that it does not know.
    const known = streamOf(reported).replace(/event: response\.someday\n.*\n\n/, '');
    scripted = [events(known)];
    let words = '';
    const stream = client.responses.stream({ model: 'm', input: 'What is a ledger?' });
    stream.on('response.output_text.delta', ({ delta }) => {
      words += delta;
    });
    expect(await stream.finalResponse()).toMatchObject({ status: 'completed', usage: { input_tokens: 20 } });
    expect(words).toBe(answer);
  });

  test('is byte for byte what upstream sent, and charged by its usage', async () => {
    scripted = [events(streamOf(reported))];
    const got = await ask({ stream: true });
    expect(got.text).toBe(streamOf(reported));
    expect(await lineOf(gateway, user, got)).toMatchObject({ quota: charge, usage_source: 'upstream' });
  });

  test('that breaks off ends with an error that the SDK throws', async () => {
    scripted = [events(eventsOf(reported).slice(0, 6).join(''), true)];
    const stream = await client.responses.create({ model: 'm', input: 'What is a ledger?', stream: true });
    await expect(
      (async () => {
        for await (const _event of stream);
      })(),
    ).rejects.toThrow('broke off');
  });

  test('that upstream answers as a whole is sent as events', async () => {
    scripted = [json(reported)];
    let words = '';
    const stream = client.responses.stream({ model: 'm', input: 'What is a ledger?' });
    stream.on('response.output_text.delta', ({ delta }) => {
      words += delta;
    });
    expect(await stream.finalResponse()).toMatchObject({ id: reported.id, output_text: answer });
    expect(words).toBe(answer);
  });
});

test('each search of a response is charged by the piece', async () => {
  await gateway.setOption('ToolPrice', '{"web_search":10}');
  const items = [searchItem(), searchItem(), searchItem('open_page'), messageItem(answer)];
  const searched = responseOf(items, { usage: reportedUsage(200, 40) });
  scripted = [json(searched)];
  const got = await ask({ tools: [{ type: 'web_search' }] });
  // 0.01 dollars for each of two searches, at 500,000 a dollar.
  expect(await lineOf(gateway, user, got)).toMatchObject({ quota: 200 + 40 + 2 * 5_000 });
});

describe('a request', () => {
  test.each<[string, JsonObject, string]>([
    ['nothing to answer', { input: '' }, 'input'],
    ['an answer that is kept somehow', { store: 'yes' }, 'store'],
    ['an answer in the background or not', { background: 'yes' }, 'background'],
    ['a stored prompt', { prompt: { id: 'pmpt_1' } }, 'prompt'],
    [
      'a file by its id',
      { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-1' }] }] },
      'input[0].content[0].file_id',
    ],
    ['files that are searched', { tools: [{ type: 'file_search' }] }, 'tools[0].type'],
    ['pictures', { tools: [{ type: 'image_generation' }] }, 'tools[0].type'],
    [
      'a larger container',
      { tools: [{ type: 'code_interpreter', container: { type: 'auto', memory_limit: '64g' } }] },
      'tools[0].container.memory_limit',
    ],
    [
      'a shell of the provider’s',
      { tools: [{ type: 'shell', environment: { type: 'container_auto' } }] },
      'tools[0].environment',
    ],
    [
      'a tool without a price in a namespace',
      { tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'image_generation' }] }] },
      'tools[0].tools[0].type',
    ],
    [
      'a tool without a price in its input',
      { input: [{ type: 'additional_tools', role: 'developer', tools: [{ type: 'x_search' }] }] },
      'input[0].tools[0].type',
    ],
    ['a search by a member of chat', { web_search_options: {} }, 'web_search_options'],
    ['no output', { max_output_tokens: 0 }, 'max_output_tokens'],
    ['a misspelled limit', { Max_Output_Tokens: 5 }, 'Max_Output_Tokens'],
  ])('for %s is refused by the name of the member, and no upstream is called', async (_what, body, param) => {
    const got = await ask(body);
    expect([got.status, errorIn(got).param]).toEqual([400, param]);
    expect(received).toEqual([]);
  });

  test('for a model of a provider with neither Responses nor chat is refused', async () => {
    const got = await ask({ model: 'embeddings-only' });
    expect([got.status, errorIn(got).code]).toEqual([400, 'convert_request_failed']);
  });
});
