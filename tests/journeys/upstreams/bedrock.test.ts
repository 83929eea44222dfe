import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { until } from '../../support/until.js';
import { messageOf } from '../../support/upstreams/anthropic-upstream.js';
import {
  apiKey as amazonKey,
  type BedrockUpstream,
  refuse,
  sendFrames,
  signer,
  startBedrockUpstream,
  streamOf,
} from '../../support/upstreams/bedrock-upstream.js';
import { exceptionFrame } from '../../support/upstreams/event-stream.js';

/* The official clients against Anthropic's models at Amazon's, which takes nothing that is not rightly signed. */

const claude = 'claude-sonnet-4-5-20250929';
const byKey = 'claude-3-haiku-20240307';
const dead = 'claude-opus-4-1-20250805';
const key = `${signer.accessKeyId}|${signer.secretAccessKey}|${signer.region}`;
const wrong = 'notTheSecret/9876543210fedcbaFEDCBA+zyx';
const address = `/model/eu.anthropic.${claude}-v1%3A0`;
/** Long enough for what is reported of caches to be believed. */
const instructions = 'Be brief. '.repeat(500);
const question = { role: 'user', content: 'What is the weather in Höfn?' } as const;

let gateway: TestGateway;
let upstream: BedrockUpstream;
let user: TestUser;
let anthropic: Anthropic;
let openai: OpenAI;
let google: GoogleGenAI;

beforeAll(async () => {
  [gateway, upstream] = await Promise.all([startTestGateway(), startBedrockUpstream()]);
  const channel = { type: 33, baseUrl: upstream.url };
  await gateway.addChannel({ ...channel, models: [claude], key });
  await gateway.addChannel({ ...channel, models: [byKey], key: `${amazonKey}|us-east-1` });
  await gateway.setOption('SelfUseModeEnabled', 'true');
});
afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
});
beforeEach(async () => {
  upstream.calls.length = 0;
  user = await gateway.addUser(100_000_000);
  const apiKey = await gateway.addApiKey(user);
  anthropic = new Anthropic({ apiKey, baseURL: gateway.url, maxRetries: 0, timeout: 20_000 });
  openai = new OpenAI({ apiKey, baseURL: `${gateway.url}/v1`, maxRetries: 0, timeout: 20_000 });
  google = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: gateway.url, timeout: 20_000 } });
});

const settledLine = () =>
  until(async () => {
    const lines = await gateway.application.queries.logBefore(user.actor, {}, { limit: 10 }, true);
    return lines.find(({ type }) => type === 2) ?? null;
  });

const said: JsonObject[] = [
  { type: 'thinking', thinking: 'One town.', signature: 'EqQBCkYIBxgC' },
  { type: 'text', text: 'I look.' },
  { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Höfn' } },
];
const cached = { cache_creation_input_tokens: 300, cache_read_input_tokens: 2_000, output_tokens: 90 };
/** 1.5 × (20 + 300 × 1.25 + 2000 × 0.1 + 90 × 5) */
const charge = 1_568;

describe("Anthropic's client with a Bedrock channel", () => {
  test('gets a message unchanged, and pays as at Anthropic itself', async () => {
    const message = messageOf(said, cached);
    upstream.respondWith(message);
    const answer = await anthropic.beta.messages.create({
      model: claude,
      max_tokens: 500,
      system: instructions,
      messages: [question],
      betas: ['interleaved-thinking-2025-05-14'],
    });
    expect(answer).toMatchObject(message);
    const [call] = upstream.calls;
    expect(call?.url).toBe(`${address}/invoke`);
    expect(call?.json).toEqual({
      max_tokens: 500,
      system: instructions,
      messages: [question],
      anthropic_version: 'bedrock-2023-05-31',
      anthropic_beta: ['interleaved-thinking-2025-05-14'],
    });
    expect(call?.headers['x-api-key']).toBeUndefined();
    expect(await settledLine()).toMatchObject({ quota: charge, model: claude, usage_source: 'upstream' });
  });

  test('assembles a stream, and pays the same', async () => {
    const message = messageOf(said, cached);
    upstream.respondWith(message);
    const stream = anthropic.messages.stream({
      model: claude,
      max_tokens: 500,
      system: instructions,
      messages: [question],
    });
    expect(await stream.finalMessage()).toMatchObject({ content: said, stop_reason: 'tool_use', id: message.id });
    expect(upstream.calls[0]?.url).toBe(`${address}/invoke-with-response-stream`);
    expect(upstream.calls[0]?.headers.accept).toBe('application/vnd.amazon.eventstream');
    expect(await settledLine()).toMatchObject({ quota: charge, is_stream: true, usage_source: 'upstream' });
  });

  test('gets a stream where a whole answer arrived', async () => {
    upstream.respondWith((_call, response) =>
      response.end(JSON.stringify(messageOf([{ type: 'text', text: 'Rain.' }]))),
    );
    const stream = anthropic.messages.stream({ model: claude, max_tokens: 500, messages: [question] });
    expect(await stream.finalText()).toBe('Rain.');
  });

  test('gets an error where an unrequested stream arrived', async () => {
    upstream.respondWith((_call, response) => sendFrames(response, streamOf(messageOf(said))));
    await expect(anthropic.messages.create({ model: claude, max_tokens: 500, messages: [question] })).rejects.toThrow(
      'a stream that was not asked for',
    );
  });

  test('gets a count of tokens from Amazon, or an estimate', async () => {
    upstream.respondWith({ inputTokens: 27 });
    const asked = { model: claude, messages: [question] };
    const counted = await anthropic.messages.countTokens(asked).withResponse();
    expect(counted.data).toEqual({ input_tokens: 27 });
    expect(counted.response.headers.get('x-token-count')).toBe('upstream');
    expect(upstream.calls[0]?.url).toBe(`/model/anthropic.${claude}-v1%3A0/count-tokens`);
    upstream.respondWith((_call, response) => refuse(response, 400, 'ValidationException', 'not supported'));
    const { response } = await anthropic.messages.countTokens(asked).withResponse();
    expect(response.headers.get('x-token-count')).toBe('estimated');
  });

  test.each([
    [429, 'ThrottlingException', 429, Anthropic.RateLimitError],
    [400, 'ServiceQuotaExceededException', 429, Anthropic.RateLimitError],
    [400, 'ValidationException', 400, Anthropic.BadRequestError],
    [403, 'AccessDeniedException', 403, Anthropic.PermissionDeniedError],
    [404, 'ResourceNotFoundException', 404, Anthropic.NotFoundError],
    [503, 'ServiceUnavailableException', 503, Anthropic.InternalServerError],
  ])('maps status %i called %s to its class', async (status, name, answered, kind) => {
    upstream.respondWith((_call, response) => refuse(response, status, name, `Not for ${signer.accessKeyId}.`));
    const failure = await anthropic.messages
      .create({ model: claude, max_tokens: 5, messages: [question] })
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(kind);
    expect(failure).toMatchObject({ status: answered });
    expect(String(failure)).not.toContain(signer.accessKeyId);
  });

  test('gets an error for a stream that broke in the middle, and pays for the part that arrived', async () => {
    const frames = streamOf(messageOf([{ type: 'text', text: 'Rain is on its way to you now.' }]));
    let hear = (): void => {};
    const heard = new Promise<void>((resolve) => {
      hear = resolve;
    });
    upstream.respondWith((_call, response) => {
      response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' });
      response.write(Buffer.concat(frames.slice(0, 5)));
      void heard.then(() => response.end(exceptionFrame('modelStreamErrorException', 'The model broke')));
    });
    const stream = anthropic.messages.stream({ model: claude, max_tokens: 500, messages: [question] });
    stream.once('text', () => hear());
    await expect(stream.finalMessage()).rejects.toThrow('The model broke');
    expect(await settledLine()).toMatchObject({ is_stream: true });
  });

  test('gets an error status where the first frame is a refusal', async () => {
    upstream.respondWith((_call, response) =>
      sendFrames(response, [exceptionFrame('throttlingException', 'Too many requests')]),
    );
    const stream = anthropic.messages.stream({ model: claude, max_tokens: 500, messages: [question] });
    await expect(stream.finalMessage()).rejects.toMatchObject({ status: 429 });
    expect(await gateway.available(user)).toBe(100_000_000);
  });

  test('does not wait for a frame that announces more than the limit', async () => {
    upstream.respondWith((_call, response) => {
      const beginning = Buffer.alloc(4);
      beginning.writeUInt32BE(0x00ff_ffff);
      response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' });
      response.write(beginning);
    });
    const stream = anthropic.messages.stream({ model: claude, max_tokens: 500, messages: [question] });
    await expect(stream.finalMessage()).rejects.toMatchObject({ status: 502 });
  });
});

describe("OpenAI's client with a Bedrock channel", () => {
  test('gets an answer, and pays the same', async () => {
    upstream.respondWith(messageOf(said, cached));
    const { choices, usage } = await openai.chat.completions.create({
      model: claude,
      messages: [{ role: 'system', content: instructions }, question],
    });
    expect(choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: 'I look.', tool_calls: [{ function: { name: 'weather', arguments: '{"city":"Höfn"}' } }] },
    });
    expect(usage).toMatchObject({ prompt_tokens: 2_320, completion_tokens: 90 });
    expect(await settledLine()).toMatchObject({ quota: charge });
  });

  test('gets a stream, with an API key', async () => {
    upstream.respondWith(messageOf([{ type: 'text', text: 'Rain in Höfn.' }]));
    const stream = await openai.chat.completions.create({ model: byKey, messages: [question], stream: true });
    let text = '';
    for await (const { choices } of stream) text += choices[0]?.delta.content ?? '';
    expect(text).toBe('Rain in Höfn.');
    expect(upstream.calls[0]?.url).toBe(`/model/us.anthropic.${byKey}-v1%3A0/invoke-with-response-stream`);
    expect(upstream.calls[0]?.headers.authorization).toBe(`Bearer ${amazonKey}`);
  });
});

test("Google's client gets a stream from a Bedrock channel", async () => {
  upstream.respondWith(messageOf(said));
  const stream = await google.models.generateContentStream({ model: claude, contents: 'What is the weather?' });
  const parts = [];
  for await (const { candidates } of stream) parts.push(...(candidates?.[0]?.content?.parts ?? []));
  expect(parts.find(({ functionCall }) => functionCall)?.functionCall).toMatchObject({
    name: 'weather',
    args: { city: 'Höfn' },
  });
});

test('a channel whose credentials are refused is disabled, and they are not disclosed', async () => {
  await gateway.setOption('AutomaticDisableChannelEnabled', 'true');
  const id = await gateway.addChannel({
    type: 33,
    baseUrl: upstream.url,
    models: [dead],
    key: `${signer.accessKeyId}|${wrong}|${signer.region}`,
  });
  const failure = await anthropic.messages
    .create({ model: dead, max_tokens: 5, messages: [question] })
    .catch((error: unknown) => error);
  // Not the caller's key: nothing of theirs is wrong.
  expect(failure).toMatchObject({ status: 502, error: { error: { type: 'api_error' } } });
  const row = await until(async () => {
    const found = await gateway.application.queries.channel(gateway.root, id);
    return found.status === 'auto-disabled' ? found : null;
  });
  expect(row.status_reason).toContain('InvalidSignatureException');
  for (const text of [String(failure), String(row.status_reason), gateway.logged.join('\n')])
    expect(text).not.toContain(wrong);
});
