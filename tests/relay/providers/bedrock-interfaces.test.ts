import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { AuthorisationPorts } from '../../../src/relay/contracts/authorisation.js';
import {
  type CallerRequest,
  NotConvertible,
  type RequestOptions,
  type UpstreamChannel,
  type UpstreamRequest,
} from '../../../src/relay/contracts/protocol.js';
import { messages } from '../../../src/relay/dialects/anthropic/endpoints/messages.js';
import { isObject, type JsonObject, objectsIn } from '../../../src/relay/json/json.js';
import { neutralOf } from '../../../src/relay/protocols/neutral-of.js';
import { awsClaude } from '../../../src/relay/providers/aws-claude.js';
import { wordsOf } from '../../../src/relay/upstream/request-content.js';
import { authorizationFor } from '../../support/upstreams/amazon-signature.js';
import { converseFramesOf, exceptionFrame, frameOf } from '../../support/upstreams/event-stream.js';
import { callerOf, cutEverywhere, plainChannel, usualOptions } from './golden.js';

/* The interfaces of Amazon Bedrock beside InvokeModel: Converse, and those of OpenAI's and Anthropic's form. */

const signer = {
  accessKeyId: 'AKIDTESTTESTTEST0001',
  secretAccessKey: 'testSecretKey/0123456789abcdefABCDEF+xyz',
  region: 'us-east-1',
};
const key = `${signer.accessKeyId}|${signer.secretAccessKey}|${signer.region}`;
const runtime = 'https://bedrock-runtime.us-east-1.amazonaws.com';
const mantle = 'https://bedrock-mantle.us-east-1.api.aws';
const llama = 'meta.llama3-3-70b-instruct-v1:0';
const nova = 'amazon.nova-2-lite-v1:0';

const channelWith = (given: Partial<UpstreamChannel> = {}): UpstreamChannel => ({ ...plainChannel, key, ...given });

const own = (body: JsonObject): CallerRequest => ({
  ...callerOf('chat', body),
  dialect: messages.dialect,
  neutral: neutralOf(messages, body),
});

const question = { role: 'user', content: 'hi' };
const asking = (more: JsonObject = {}): JsonObject => ({ model: 'm', messages: [question], ...more });

const asked = (
  caller: CallerRequest,
  model = llama,
  channel: Partial<UpstreamChannel> = {},
  options: Partial<RequestOptions> = {},
): UpstreamRequest =>
  awsClaude.protocol.request({
    provider: awsClaude,
    channel: channelWith(channel),
    caller,
    model,
    options: { ...usualOptions, ...options },
  });

const bodyOf = (request: UpstreamRequest): JsonObject => JSON.parse(wordsOf(request.content));
const sent = (...call: Parameters<typeof asked>): JsonObject => bodyOf(asked(...call));

describe('the interface of Bedrock', () => {
  test.each([
    ['claude-sonnet-5', '', '/model/us.anthropic.claude-sonnet-5/invoke'],
    ['global.anthropic.claude-sonnet-5', '', '/model/global.anthropic.claude-sonnet-5/invoke'],
    ['arn:aws:bedrock:us-east-1:1:provisioned-model/x', '', '/invoke'],
    [llama, '', `/model/us.${llama.replace(':', '%3A')}/converse`],
    ['eu.amazon.nova-pro-v1:0', '', '/model/eu.amazon.nova-pro-v1%3A0/converse'],
    ['mistral.mistral-large-2402-v1:0', '', '/model/mistral.mistral-large-2402-v1%3A0/converse'],
    [llama, `${runtime}/openai/v1`, '/openai/v1/chat/completions'],
    [llama, `${mantle}/v1`, '/v1/chat/completions'],
    ['claude-sonnet-5', `${runtime}/anthropic`, '/anthropic/v1/messages'],
    ['claude-sonnet-5', `${mantle}/anthropic/v1/`, '/anthropic/v1/messages'],
  ])('is chosen for %s by its name and by the base URL %s', (model, baseUrl, path) => {
    expect(asked(callerOf('chat', asking()), model, { baseUrl }).url.endsWith(path)).toBe(true);
  });

  test('has Responses at the base URL of OpenAI’s form alone', () => {
    for (const baseUrl of [`${runtime}/openai/v1`, `${mantle}/v1`, `${mantle}/openai/v1/`]) {
      expect(awsClaude.lacks?.('responses', baseUrl)).toBe(false);
      const caller = callerOf('responses', { model: 'm', input: 'hi' });
      expect(asked(caller, 'openai.gpt-5.5', { baseUrl }).url).toBe(`${baseUrl.replace(/\/$/, '')}/responses`);
    }
    for (const baseUrl of ['', runtime, `${runtime}/anthropic`])
      expect(awsClaude.lacks?.('responses', baseUrl)).toBe(true);
  });

  test('is sent models by the names that it has for them', () => {
    const named = (baseUrl: string) => sent(callerOf('chat', asking()), 'claude-sonnet-4-6', { baseUrl }).model;
    expect(named(`${runtime}/anthropic`)).toBe('us.anthropic.claude-sonnet-4-6-v1');
    expect(named(`${mantle}/anthropic`)).toBe('anthropic.claude-sonnet-4-6-v1');
  });

  test('of OpenAI’s form is asked by the rules of its models, with the maker before the name', () => {
    const baseUrl = `${runtime}/openai/v1`;
    const body = asking({ max_tokens: 9, temperature: 0.3 });
    for (const model of ['openai.gpt-5.5', 'us.openai.gpt-5.5']) {
      const put = sent(callerOf('chat', body), model, { baseUrl });
      expect(put).toMatchObject({ model, max_completion_tokens: 9 });
      expect(put).not.toHaveProperty('temperature');
    }
    expect(sent(callerOf('chat', body), 'deepseek.v3-v1:0', { baseUrl })).toMatchObject({
      ...{ model: 'deepseek.v3-v1:0', max_tokens: 9, temperature: 0.3 },
    });
  });

  test('is explained where a base URL finds nothing', () => {
    expect(awsClaude.baseHint?.(mantle)).toMatch(/ends in \/v1/);
    for (const baseUrl of [runtime, `${mantle}/v1`]) expect(awsClaude.baseHint?.(baseUrl)).toBeNull();
  });

  test.each([
    [`${runtime}/openai/v1`, 'bedrock'],
    [`${mantle}/v1`, 'bedrock-mantle'],
  ])('at %s takes requests that are signed for the service %s', async (baseUrl, service) => {
    const ports = { clock: { now: () => Date.UTC(2026, 0, 2, 3, 4, 5) } } as AuthorisationPorts;
    const channel = channelWith({ baseUrl });
    for (const method of ['POST', 'GET'] as const) {
      const made = asked(callerOf('chat', asking()), llama, { baseUrl });
      const { 'content-type': _, ...untyped } = made.headers;
      const request: UpstreamRequest =
        method === 'POST' ? made : { ...made, method, headers: untyped, content: { kind: 'none' } };
      const shown = await awsClaude.authorisation?.authorise(request, { provider: awsClaude, channel }, ports);
      if (!shown?.ok) throw new Error('not authorised');
      const { host, pathname } = new URL(baseUrl);
      const call = {
        ...{ method, url: `${pathname}/chat/completions` },
        headers: { ...shown.request.headers, host },
        body: method === 'POST' ? wordsOf(request.content) : '',
      };
      expect(shown.request.headers.authorization).toBe(authorizationFor(call, { ...signer, service }));
    }
  });
});

describe('a request by Converse', () => {
  test('has a limit only if the caller, the operator or the balance sets one', () => {
    expect(sent(callerOf('chat', asking()))).not.toHaveProperty('inferenceConfig');
    expect(sent(callerOf('chat', asking({ max_tokens: 7 })))).toMatchObject({ inferenceConfig: { maxTokens: 7 } });
    expect(sent(callerOf('chat', asking(), '', null, 9))).toMatchObject({ inferenceConfig: { maxTokens: 9 } });
    const bounded = { ...callerOf('chat', asking({ max_tokens: 50 })), maxOutput: 30 };
    expect(sent(bounded, llama, { paramOverride: { max_tokens: 1000 } })).toMatchObject({
      inferenceConfig: { maxTokens: 30 },
    });
  });

  test('keeps names that end in -thinking', () => {
    expect(asked(callerOf('chat', asking()), 'moonshot.kimi-k2-thinking').url).toContain('/moonshot.kimi-k2-thinking/');
  });

  test('puts structured output as a schema, and refuses JSON without one', () => {
    const schema = { type: 'object', properties: { town: { type: 'string' } } };
    const format = { type: 'json_schema', json_schema: { name: 'x', schema } };
    expect(sent(callerOf('chat', asking({ response_format: format })))).toMatchObject({
      outputConfig: {
        textFormat: {
          type: 'json_schema',
          structure: { jsonSchema: { name: 'answer', schema: JSON.stringify(schema) } },
        },
      },
    });
    expect(() => sent(callerOf('chat', asking({ response_format: { type: 'json_object' } })))).toThrow(
      expect.objectContaining({ message: expect.stringContaining('response_format'), fault: 'caller' }),
    );
  });

  test.each([
    ['high', {}, { type: 'enabled', maxReasoningEffort: 'high' }],
    ['high', { max_tokens: 100 }, { type: 'enabled', maxReasoningEffort: 'medium' }],
    ['low', { max_tokens: 100 }, { type: 'enabled', maxReasoningEffort: 'low' }],
    ['none', {}, { type: 'disabled' }],
  ])('asks Amazon’s models for effort %s with %j, but never for one that takes no limit', (effort, more, config) => {
    const body = sent(callerOf('chat', asking({ reasoning_effort: effort, ...more })), nova);
    expect(body).toMatchObject({ additionalModelRequestFields: { reasoningConfig: config } });
  });

  test('asks Amazon’s models for the highest effort only where all that they may put out then is reserved', () => {
    const held = { ...callerOf('chat', asking({ reasoning_effort: 'high' })), maxOutput: 65_536 };
    expect(sent(held, nova)).toMatchObject({
      additionalModelRequestFields: { reasoningConfig: { maxReasoningEffort: 'medium' } },
    });
  });

  test.each([
    ['inference_geo', 'us'],
    ['service_tier', 'priority'],
    ['speed', 'fast'],
  ])('refuses %s: %s, which it has no word for, though it has a price', (name, tier) => {
    const priced = { ...own({ ...asking(), max_tokens: 5, [name]: tier }), tiers: [tier] };
    expect(() => sent(priced)).toThrow(new RegExp(`^${name} cannot`));
  });

  test('takes tiers of service that are the usual one', () => {
    const usual = { inference_geo: 'global', service_tier: 'standard_only', speed: 'standard' };
    expect(sent(own({ ...asking(), max_tokens: 5, ...usual }))).toEqual({
      messages: [{ role: 'user', content: [{ text: 'hi' }] }],
      inferenceConfig: { maxTokens: 5 },
    });
  });

  const kept = { cache_control: { type: 'ephemeral', ttl: '1h' } };
  const cached = {
    max_tokens: 5,
    cache_control: kept.cache_control,
    system: [{ type: 'text', text: 'Be brief.', ...kept }],
    tools: [{ name: 'look', input_schema: { type: 'object' }, ...kept }],
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'hi', ...kept }] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'look', input: {}, ...kept }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'x', ...kept }] },
    ],
  };
  const point = { cachePoint: { type: 'default' } };

  test.each([llama, 'deepseek.r1-v1:0', 'us.meta.llama4-scout-17b-instruct-v1:0', 'openai.gpt-oss-120b-1:0'])(
    'marks nothing for the cache of %s, which has none',
    (model) => expect(JSON.stringify(sent(own(cached), model))).not.toContain('cachePoint'),
  );

  test('marks texts for the cache of Amazon’s models, without a lifetime, and nothing of tools', () => {
    const { system, messages: turns, toolConfig } = sent(own(cached), 'eu.amazon.nova-lite-v1:0');
    expect(system).toEqual([{ text: 'Be brief.' }, point]);
    expect(objectsIn(turns)[0]?.content).toEqual([{ text: 'hi' }, point]);
    expect(JSON.stringify([objectsIn(turns).slice(1), toolConfig])).not.toContain('cachePoint');
  });

  test('says nothing of thinking to models whose word for it is unknown', () => {
    expect(sent(callerOf('chat', asking({ reasoning_effort: 'high' })))).not.toHaveProperty(
      'additionalModelRequestFields',
    );
  });

  const tool = { name: 'look', input_schema: { type: 'object' } };
  const calling = [
    question,
    { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'look', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'x' }] },
  ];

  test('puts each choice of tools, but none where tools have been called', () => {
    const choosing = (choice: JsonObject, more: JsonObject = {}) =>
      sent(own({ ...asking(), max_tokens: 5, tools: [tool], tool_choice: choice, ...more })).toolConfig;
    expect(choosing({ type: 'any' })).toMatchObject({ toolChoice: { any: {} } });
    expect(choosing({ type: 'tool', name: 'look' })).toMatchObject({ toolChoice: { tool: { name: 'look' } } });
    expect(choosing({ type: 'auto' })).not.toHaveProperty('toolChoice');
    expect(choosing({ type: 'none' })).toBeUndefined();
    expect(() => choosing({ type: 'none' }, { messages: calling })).toThrow(/tool_choice none/);
  });

  test.each([
    ['tools[0].type', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
    ['mcp_servers', { mcp_servers: [{ type: 'url', url: 'https://m.example', name: 'm' }] }],
    [
      'messages[0].content[0].source',
      { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'file', file_id: 'f' } }] }] },
    ],
    [
      'messages[0].content[0].type',
      { messages: [{ role: 'user', content: [{ type: 'search_result', source: 's', title: 't', content: [] }] }] },
    ],
  ])('refuses %s by its name', (name, more) => {
    const refused = () => sent(own({ ...asking(), max_tokens: 5, ...more }));
    expect(refused).toThrow(expect.objectContaining({ name: NotConvertible.name, fault: 'caller' }));
    expect(refused).toThrow(name);
  });

  test('omits what coding agents send to every provider', () => {
    const more = { context_management: { edits: [] }, metadata: { user_id: 'u' } };
    expect(sent(own({ ...asking(), max_tokens: 5, ...more }))).toEqual({
      messages: [{ role: 'user', content: [{ text: 'hi' }] }],
      inferenceConfig: { maxTokens: 5 },
    });
  });

  test('has the operator’s parameters of inference, with a limit of at most what is reserved', () => {
    const bounded = { ...callerOf('chat', asking({ max_tokens: 20, temperature: 1 })), maxOutput: 30 };
    const config = (inferenceConfig: JsonObject) =>
      sent(bounded, llama, { paramOverride: { inferenceConfig } }).inferenceConfig;
    expect(config({ maxTokens: 1000, topP: 0.5 })).toEqual({ maxTokens: 30, temperature: 1, topP: 0.5 });
    expect(config({ temperature: 0.2, maxTokens: null })).toEqual({ maxTokens: 20, temperature: 0.2 });
  });

  test('takes the operator’s members of Converse, and merges fields of the model', () => {
    const paramOverride = {
      guardrailConfig: { guardrailIdentifier: 'g', guardrailVersion: '1' },
      additionalModelRequestFields: { extra: 1 },
    };
    const body = sent(callerOf('chat', asking({ reasoning_effort: 'low' })), nova, { paramOverride });
    expect(body).toMatchObject({
      guardrailConfig: paramOverride.guardrailConfig,
      additionalModelRequestFields: { extra: 1, reasoningConfig: { type: 'enabled', maxReasoningEffort: 'low' } },
    });
  });

  test('is not sent where tokens are to be counted', () => {
    expect(() => asked({ ...own(asking()), mode: 'counting' })).toThrow('counting');
  });
});

const info = { callId: 'call-1', model: llama, createdAt: 0 };
const opened = (dialect: CallerRequest = callerOf('chat', asking({ stream: true }))) =>
  awsClaude.protocol.stream({ provider: awsClaude, channel: channelWith(), caller: dialect, info });
const events = (...list: object[]): Buffer =>
  Buffer.concat(converseFramesOf(list.map((event) => `data: ${JSON.stringify(event)}\n`).join('\n')));
const word = { contentBlockDelta: { contentBlockIndex: 0, delta: { text: 'Rain.' } } };

describe('a stream of Converse', () => {
  test('without usage has ended, and has its finish reason', () => {
    const stream = opened();
    stream.push(events({ messageStart: { role: 'assistant' } }, word, { messageStop: { stopReason: 'end_turn' } }));
    const { error } = stream.end();
    expect([error, stream.usage, stream.generated.finishReason]).toEqual([null, null, 'stop']);
  });

  test('that breaks off before why it ended is incomplete', () => {
    const stream = opened();
    stream.push(events({ messageStart: { role: 'assistant' } }, word));
    expect(stream.end()).toMatchObject({ finished: false, error: null });
    expect(stream.generated.finishReason).toBeNull();
  });

  test.each([
    ['throttlingException', 429],
    ['modelStreamErrorException', 424],
    ['internalServerException', 500],
  ])('fails by an exception %s with status %i, after what came before it', (name, status) => {
    const stream = opened();
    const step = stream.push(Buffer.concat([events(word), exceptionFrame(name, `not with ${key}`)]));
    expect(step.bytes?.toString()).toContain('Rain.');
    expect(step.error).toMatchObject({ status, code: name });
    expect(step.error?.message).not.toContain(signer.secretAccessKey);
  });

  test.each(['malformed_model_output', 'malformed_tool_use'])('that ends by %s has failed', (stopReason) => {
    const stream = opened();
    expect(stream.push(events(word, { messageStop: { stopReason } })).error).toMatchObject({ status: 502 });
  });

  test('ignores events without a meaning, and parts of a call that never began', () => {
    const stream = opened();
    const stray = { contentBlockDelta: { contentBlockIndex: 3, delta: { toolUse: { input: '{}' } } } };
    const empty = frameOf({ ':message-type': 'event', ':event-type': 'contentBlockDelta' }, 'null');
    const { error } = stream.push(Buffer.concat([events({ later: {} }, stray, word), empty]));
    expect([error, stream.generated.toolCalls, stream.generated.said.toString()]).toEqual([null, 0, 'Rain.']);
  });
});

describe('a whole answer of Converse', () => {
  const answered = (body: JsonObject, status = 200, headers: Record<string, string> = {}) =>
    awsClaude.protocol.answer({
      ...{ provider: awsClaude, channel: channelWith(), caller: callerOf('chat', asking()) },
      ...{ status, headers, body: Buffer.from(JSON.stringify(body)), info },
    });

  test.each([
    ['an error in place of an answer', { error: { message: 'no', type: 'server_error' } }],
    ['a message alone', { message: 'The model is not ready' }],
    ['an answer without a message', { output: {}, usage: { inputTokens: 1, outputTokens: 1 } }],
    ['a message without content', { output: { message: { role: 'assistant' } } }],
    ['content of nothing', { output: { message: { content: [] } }, usage: { inputTokens: 1, outputTokens: 0 } }],
  ])('that is %s is a failure', (_what, body) => {
    expect(answered(body)).toMatchObject({ ok: false });
  });

  test('that was refused has Amazon’s name for it', () => {
    const headers = { 'x-amzn-errortype': 'ThrottlingException:http://x/' };
    expect(answered({ message: 'Too many' }, 400, headers)).toMatchObject({ ok: false, error: { status: 429 } });
  });

  test('ignores counts that are not numbers', () => {
    for (const inputTokens of [-1, '7', null, {}]) {
      const usage = { inputTokens, outputTokens: -3 } as JsonObject;
      const answer = answered({ output: { message: { content: [{ text: 'Hi.' }] } }, stopReason: 'end_turn', usage });
      expect(answer).toMatchObject({ ok: true, usage: null });
    }
  });
});

test('refusals at the interfaces of other houses are read in Amazon’s words and in theirs', () => {
  const refusal = (baseUrl: string, body: JsonObject, headers: Record<string, string> = {}) =>
    awsClaude.protocol.answer({
      ...{ provider: awsClaude, channel: channelWith({ baseUrl }), caller: callerOf('chat', asking()) },
      ...{ status: 400, headers, body: Buffer.from(JSON.stringify(body)), info },
    });
  for (const baseUrl of [`${runtime}/openai/v1`, `${runtime}/anthropic`]) {
    const headers = { 'x-amzn-errortype': 'ThrottlingException' };
    expect(refusal(baseUrl, { message: 'slow' }, headers)).toMatchObject({ ok: false, error: { status: 429 } });
    expect(refusal(baseUrl, { Message: 'no such' })).toMatchObject({ error: { status: 400, message: 'no such' } });
    const theirs = { error: { message: `not with ${key}`, type: 'invalid_request_error' } };
    const { error } = refusal(baseUrl, theirs) as { error: { type: string; message: string } };
    expect(error).toMatchObject({ type: 'invalid_request_error' });
    expect(error.message).not.toContain(signer.secretAccessKey);
  }
});

const folder = join(process.env.WIRE_FIXTURES ?? '', 'amazon-bedrock');
const recordings =
  process.env.WIRE_FIXTURES === undefined || !existsSync(folder)
    ? []
    : readdirSync(folder)
        .filter((file) => /\.(json|chunks\.txt)$/.test(file))
        .map((file) => ({ file, raw: readFileSync(join(folder, file), 'utf8') }));

/** Every value of a member of this name, wherever it stands. */
function valuesOf(name: string, value: unknown): unknown[] {
  if (Array.isArray(value)) return value.flatMap((item) => valuesOf(name, item));
  if (!isObject(value as JsonObject)) return [];
  return Object.entries(value as JsonObject).flatMap(([member, inner]) => [
    ...(member === name ? [inner] : []),
    ...valuesOf(name, inner),
  ]);
}

describe.runIf(recordings.length > 0)('a recorded answer of Converse', () => {
  const wholes = recordings.filter(({ file }) => file.endsWith('.json'));
  const streams = recordings.filter(({ file }) => file.endsWith('.txt'));

  test.each(wholes)('$file is read with its words, its calls and its usage', ({ raw }) => {
    const reported = JSON.parse(raw) as JsonObject;
    const answer = awsClaude.protocol.answer({
      ...{ provider: awsClaude, channel: channelWith(), caller: callerOf('chat', asking()) },
      ...{ status: 200, headers: {}, body: Buffer.from(raw), info },
    });
    if (!answer.ok) throw new Error(answer.error.message);
    const { message } = objectsIn(answer.body.choices)[0] as { message: JsonObject };
    const calls = objectsIn(message.tool_calls).map(({ function: called }) =>
      JSON.parse(String((called as JsonObject).arguments)),
    );
    expect([message.content ?? '', calls]).toEqual([valuesOf('text', reported).join(''), valuesOf('input', reported)]);
    const [usage] = valuesOf('usage', reported) as [JsonObject];
    expect(answer.usage).toMatchObject({ input: usage.inputTokens, output: usage.outputTokens });
  });

  test.each(streams)('$file is the same cut at every byte, with its words, calls and usage', ({ raw }) => {
    const lines = raw.split('\n').filter((line) => line.trim() !== '');
    const chunks = lines.map((line) => JSON.parse(line) as JsonObject);
    const bytes = Buffer.concat(converseFramesOf(lines.map((line) => `data: ${line}\n`).join('\n')));
    const heard = (parts: readonly Buffer[]) => {
      const stream = opened();
      const sent = parts.map((part) => stream.push(part).bytes?.toString('latin1') ?? '').join('');
      const { error, bytes: last } = stream.end();
      const { said, toolCalls, finishReason } = stream.generated;
      const text = sent + (last?.toString('latin1') ?? '');
      return JSON.stringify([text, error, stream.usage, said.toString(), toolCalls, finishReason]);
    };
    const whole = heard([bytes]);
    for (const { at, pieces } of cutEverywhere(bytes)) if (heard(pieces) !== whole) throw new Error(`cut at ${at}`);
    const [, error, usage, , toolCalls, finishReason] = JSON.parse(whole);
    expect(error).toBeNull();
    expect(toolCalls).toBe(valuesOf('toolUseId', chunks).length);
    expect(finishReason).toBe(toolCalls > 0 ? 'tool_calls' : 'stop');
    const [reported] = valuesOf('usage', chunks) as JsonObject[];
    if (reported === undefined) expect(usage).toBeNull();
    else expect(usage).toMatchObject({ input: reported.inputTokens, output: reported.outputTokens });
  });
});
