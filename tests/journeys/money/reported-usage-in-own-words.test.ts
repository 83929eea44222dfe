import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isObject, type JsonObject, objectsIn, parseJson } from '../../../src/relay/json/json.js';
import { type Answer, type Caller, type Callers, openCallers } from '../../support/callers/callers.js';
import { lineOf } from '../../support/gateway/log-lines.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { startUpstream, type Upstream } from '../../support/upstreams/upstream.js';

/* Callers and upstreams of one dialect, Anthropic's or Gemini's: every usage on the way is one that can be charged. */

let gateway: TestGateway;
let callers: Callers;
let user: TestUser;
let caller: Caller;
const upstreams: Upstream[] = [];

const text = 'Every charge can be proved.';
const question = 'What is a ledger?';

/** What the upstreams report: when a stream begins or goes on, and at the end. */
let first: JsonObject = {};
let last: JsonObject = {};

const event = (type: string, rest: JsonObject): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
const data = (response: JsonObject): string => `data: ${JSON.stringify(response)}\n\n`;

function anthropicAnswer(stream: boolean): string {
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm' };
  if (!stream)
    return JSON.stringify({ ...message, content: [{ type: 'text', text }], stop_reason: 'end_turn', usage: last });
  return [
    event('message_start', { message: { ...message, content: [], stop_reason: null, usage: first } }),
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
    event('content_block_stop', { index: 0 }),
    // More than one may come; the last of them counts.
    event('message_delta', { delta: { stop_reason: null }, usage: first }),
    event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: last }),
    event('message_stop', { 'amazon-bedrock-invocationMetrics': { inputTokenCount: 9e15 } }),
  ].join('');
}

function geminiAnswer(stream: boolean): string {
  const candidate = (text: string) => ({ content: { role: 'model', parts: [{ text }] }, index: 0 });
  const finished = (text: string) => [{ ...candidate(text), finishReason: 'STOP' }];
  if (!stream) return JSON.stringify({ candidates: finished(text), usageMetadata: last });
  return [
    data({ candidates: [candidate(text.slice(0, 9))], usageMetadata: first }),
    data({ candidates: finished(text.slice(9)), usageMetadata: first }),
    data({ candidates: [], usageMetadata: last }),
  ].join('');
}

beforeAll(async () => {
  gateway = await startTestGateway();
  callers = openCallers(gateway.url);
  const answerWith = (answer: (stream: boolean) => string, streams: (url: string, body: string) => boolean) =>
    startUpstream(({ url, body }, response) => {
      const stream = streams(url, body);
      response.setHeader('content-type', stream ? 'text/event-stream' : 'application/json');
      response.end(answer(stream));
    });
  const anthropic = await answerWith(anthropicAnswer, (_, body) => body.includes('"stream":true'));
  const gemini = await answerWith(geminiAnswer, (url) => url.includes('stream'));
  upstreams.push(anthropic, gemini);
  await gateway.setOption('ModelRatio', '{"a":1,"g":1}');
  await gateway.addChannel({ type: 14, models: ['a'], baseUrl: anthropic.url });
  await gateway.addChannel({ type: 24, models: ['g'], baseUrl: gemini.url });
  user = await gateway.addUser(100_000_000);
  caller = callers.with(await gateway.addApiKey(user));
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  for (const upstream of upstreams) await upstream.stop();
});

const post = (path: string, body: JsonObject): Promise<Answer> =>
  caller.send(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body });

const payloadsOf = (answer: string, stream: boolean): JsonObject[] =>
  stream
    ? answer
        .split('\n')
        .filter((line) => line.startsWith('data: '))
        .map((line) => parseJson(line.slice('data: '.length)))
        .filter(isObject)
    : [parseJson(answer)].filter(isObject);

/** Every usage in it, in order. */
const usagesIn = (payloads: readonly JsonObject[]): JsonObject[] =>
  payloads.flatMap(({ message, usage, usageMetadata }) =>
    [isObject(message) ? message.usage : null, usage, usageMetadata].filter(isObject),
  );

/** Whatever number it reports, at any depth. */
const numbersIn = (value: unknown): unknown[] =>
  isObject(value) || Array.isArray(value)
    ? Object.values(value).flatMap(numbersIn)
    : typeof value === 'string'
      ? []
      : [value];

const expectCounts = (usages: readonly JsonObject[]): void => {
  for (const number of numbersIn([...usages])) {
    expect(number).toSatisfy((count: unknown) => Number.isSafeInteger(count) && Number(count) >= 0);
    expect(number).toBeLessThan(100_000);
  }
};

const lies = [
  ['of more than there can be', 9e15, 9e15],
  ['below nothing', -100, -7],
  ['as null', null, null],
  ['in fractions', 10.7, 5.2],
] as const;

describe.each([
  ['a whole answer', false],
  ['a stream', true],
])('the reported usage in %s', (_kind, stream) => {
  const ask = async () => {
    const answer = await post('/v1/messages', {
      ...{ model: 'a', max_tokens: 500, stream },
      messages: [{ role: 'user', content: question }],
    });
    const payloads = payloadsOf(answer.text, stream);
    return { answer, payloads, usages: usagesIn(payloads), line: await lineOf(gateway, user, answer) };
  };

  test.each(lies)('of an Anthropic upstream as %s is returned in charged figures', async (_, input, output) => {
    const details = {
      output_tokens_details: { thinking_tokens: output },
      cache_creation: { ephemeral_1h_input_tokens: input },
    };
    first = { input_tokens: input, output_tokens: output, cache_read_input_tokens: input, ...details };
    last = {
      ...first,
      service_tier: 'standard',
      iterations: [{ type: 'message', input_tokens: input, output_tokens: output }],
    };
    const { payloads, usages, line } = await ask();
    expect(usages).toHaveLength(stream ? 3 : 1);
    expectCounts(usages);
    expect(usages.at(-1)).toMatchObject({ output_tokens: line.completion_tokens, service_tier: 'standard' });
    for (const { input_tokens, cache_read_input_tokens } of usages)
      expect(Number(input_tokens) + Number(cache_read_input_tokens)).toBe(line.prompt_tokens);
    expect(JSON.stringify(payloads)).not.toContain('9000000000000000');
    expect(line.prompt_tokens).toBeGreaterThan(0);
    expect(line.completion_tokens).toBeGreaterThan(0);
  });

  test('of an Anthropic upstream is passed on unchanged if it is plausible, including its own members', async () => {
    first = { input_tokens: 20, output_tokens: 3, cache_creation_input_tokens: null, inference_geo: 'eu' };
    last = { input_tokens: 20, output_tokens: 8, cache_read_input_tokens: 0, inference_geo: 'eu' };
    const { usages, line } = await ask();
    expect(usages).toEqual(stream ? [first, first, last] : [last]);
    expect(line).toMatchObject({ prompt_tokens: 20, completion_tokens: 8, usage_source: 'upstream' });
  });

  test('of rounds that compacted a conversation is passed on unchanged, and charged with the rest', async () => {
    first = { input_tokens: 20, output_tokens: 1 };
    const round = (type: string, input: number, output: number) => ({
      ...{ type, input_tokens: input, output_tokens: output },
    });
    last = {
      ...{ input_tokens: 20, output_tokens: 8 },
      iterations: [round('compaction', 20, 5), round('message', 20, 8)],
    };
    const { usages, line } = await ask();
    expect(usages.at(-1)).toEqual(last);
    expect(line).toMatchObject({ prompt_tokens: 40, completion_tokens: 13, usage_source: 'upstream' });
  });

  const asked = async () => {
    const contents = [{ role: 'user', parts: [{ text: question }] }];
    const generationConfig = { maxOutputTokens: 500 };
    const method = stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
    const answer = await post(`/v1beta/models/g:${method}`, { contents, generationConfig });
    const usages = usagesIn(payloadsOf(answer.text, stream));
    return { usages, line: await lineOf(gateway, user, answer) };
  };

  test.each(lies)('of a Gemini upstream as %s is returned in charged figures', async (_, input, output) => {
    first = {
      ...{
        promptTokenCount: input,
        candidatesTokenCount: output,
        thoughtsTokenCount: output,
        totalTokenCount: input,
      },
      ...{ toolUsePromptTokenCount: input, cachedContentTokenCount: input, serviceTier: 'standard' },
      promptTokensDetails: [{ modality: 'AUDIO', tokenCount: input }],
    };
    last = { ...first, totalTokenCount: output };
    const { usages, line } = await asked();
    expect(usages).toHaveLength(stream ? 3 : 1);
    expectCounts(usages);
    const reported = usages.at(-1) ?? {};
    expect(reported.promptTokenCount).toBe(line.prompt_tokens);
    expect(Number(reported.candidatesTokenCount) + Number(reported.thoughtsTokenCount ?? 0)).toBe(
      line.completion_tokens,
    );
    expect(reported.totalTokenCount).toBe(line.prompt_tokens + line.completion_tokens);
    expect(reported.serviceTier).toBe('standard');
    for (const { promptTokenCount } of usages) expect(promptTokenCount).toBe(line.prompt_tokens);
    expect(line.prompt_tokens).toBeGreaterThan(0);
    expect(line.completion_tokens).toBeGreaterThan(0);
  });

  test('of a Gemini upstream is passed on unchanged if it is plausible, including its own members', async () => {
    first = { promptTokenCount: 20, totalTokenCount: 20, trafficType: 'ON_DEMAND' };
    last = { promptTokenCount: 20, candidatesTokenCount: 8, totalTokenCount: 28, trafficType: 'ON_DEMAND' };
    const { usages, line } = await asked();
    expect(usages).toEqual(stream ? [first, first, last] : [last]);
    expect(objectsIn(usages)).toHaveLength(usages.length);
    expect(line).toMatchObject({ prompt_tokens: 20, completion_tokens: 8, usage_source: 'upstream' });
  });
});
