import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isObject, type JsonObject, parseJson } from '../../../src/relay/json/json.js';
import { type Answer, type Caller, type Callers, openCallers } from '../../support/callers/callers.js';
import { lineOf } from '../../support/gateway/log-lines.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { startUpstream, type Upstream } from '../../support/upstreams/upstream.js';

/* Callers of every dialect before upstreams of every wire: the usage that is shown at the end is the usage that is charged. */

type Wire = 'openai' | 'anthropic' | 'gemini';
const wires: readonly Wire[] = ['openai', 'anthropic', 'gemini'];

const text = 'Every charge can be proved, to the last of its tokens.';
const question = 'What is a ledger, and who keeps it?';

/** Tokens of input and output as an upstream reports them. Left out: it has no such member. */
interface Counts {
  readonly input?: unknown;
  readonly output?: unknown;
}
/** `first`: of a stream that begins or goes on. null: nothing is reported. */
interface ShownUsage {
  readonly first: Counts | null;
  readonly last: Counts | null;
}

/** A question says which case its upstream is to answer: all of them are asked at once. */
const markOf = (at: number): string => `(${at})`;
const caseIn = (body: string): ShownUsage => {
  const reported = [...cases, ...vectors][Number(/keeps it\? \((\d+)\)/.exec(body)?.[1])]?.[1];
  if (reported === undefined) throw new Error('no such case');
  return reported;
};

const names: Readonly<Record<Wire, readonly [input: string, output: string]>> = {
  openai: ['prompt_tokens', 'completion_tokens'],
  anthropic: ['input_tokens', 'output_tokens'],
  gemini: ['promptTokenCount', 'candidatesTokenCount'],
};
const holders: Readonly<Record<Wire, string>> = { openai: 'usage', anthropic: 'usage', gemini: 'usageMetadata' };

function usageOf(wire: Wire, counts: Counts | null): JsonObject {
  if (counts === null) return {};
  const [input, output] = names[wire];
  const usage = {
    ...('input' in counts && { [input]: counts.input }),
    ...('output' in counts && { [output]: counts.output }),
  };
  return { [holders[wire]]: usage as JsonObject };
}

const data = (value: JsonObject): string => `data: ${JSON.stringify(value)}\n\n`;
const event = (value: JsonObject): string => `event: ${String(value.type)}\n${data(value)}`;
const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_reason: null };
const chunk = (delta: JsonObject, finish: string | null = null): JsonObject => ({
  ...{ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm' },
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const candidates = (words: string, rest: JsonObject = {}): JsonObject => ({
  candidates: [{ content: { role: 'model', parts: [{ text: words }] }, index: 0, ...rest }],
});

const wholes: Readonly<Record<Wire, (usage: JsonObject) => JsonObject>> = {
  openai: (usage) => ({
    ...{ id: 'c1', object: 'chat.completion', created: 1, model: 'm' },
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
    ...usage,
  }),
  anthropic: (usage) => ({ ...message, content: [{ type: 'text', text }], stop_reason: 'end_turn', ...usage }),
  gemini: (usage) => ({ ...candidates(text, { finishReason: 'STOP' }), ...usage }),
};

const streams: Readonly<Record<Wire, (first: JsonObject, last: JsonObject) => readonly string[]>> = {
  openai: (first, last) => [
    data({ ...chunk({ role: 'assistant', content: '' }), ...first }),
    data(chunk({ content: text })),
    data(chunk({}, 'stop')),
    ...(isObject(last.usage) ? [data({ ...chunk({}), choices: [], ...last })] : []),
    'data: [DONE]\n\n',
  ],
  anthropic: (first, last) => [
    event({ type: 'message_start', message: { ...message, content: [], ...first } }),
    event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
    event({ type: 'content_block_stop', index: 0 }),
    event({ type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, ...last }),
    event({ type: 'message_stop' }),
  ],
  gemini: (first, last) => [
    data({ ...candidates(text.slice(0, 9)), ...first }),
    data({ ...candidates(text.slice(9), { finishReason: 'STOP' }), ...last }),
  ],
};

let gateway: TestGateway;
let callers: Callers;
let user: TestUser;
let caller: Caller;
let upstream: Upstream;

const modelOf: Readonly<Record<Wire, string>> = { openai: 'o', anthropic: 'a', gemini: 'g' };
const typeOf: Readonly<Record<Wire, number>> = { openai: 1, anthropic: 14, gemini: 24 };

const wireOf = (url: string): Wire =>
  url.includes('/messages') ? 'anthropic' : url.includes('/v1beta/') ? 'gemini' : 'openai';

beforeAll(async () => {
  gateway = await startTestGateway();
  callers = openCallers(gateway.url);
  upstream = await startUpstream(({ url, body }, response) => {
    const wire = wireOf(url);
    const reported = caseIn(body);
    if (url.includes('embeddings')) {
      const list = [{ object: 'embedding', index: 0, embedding: [0.5, 0.25] }];
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ object: 'list', data: list, model: 'o', ...usageOf('openai', reported.last) }));
      return;
    }
    const stream = url.includes(':stream') || body.includes('"stream":true');
    response.setHeader('content-type', stream ? 'text/event-stream' : 'application/json');
    const [first, last] = [usageOf(wire, reported.first), usageOf(wire, reported.last)];
    response.end(stream ? streams[wire](first, last).join('') : JSON.stringify(wholes[wire](last)));
  });
  await gateway.setOption('ModelRatio', '{"o":1,"a":1,"g":1}');
  await gateway.setOption('CompletionRatio', '{"o":1,"a":1,"g":1}');
  for (const wire of wires)
    await gateway.addChannel({ type: typeOf[wire], models: [modelOf[wire]], baseUrl: upstream.url });
  user = await gateway.addUser(100_000_000);
  caller = callers.with(await gateway.addApiKey(user));
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  await upstream?.stop();
});

const headers = { 'content-type': 'application/json' };
const post = (path: string, body: JsonObject): Promise<Answer> => caller.send(path, { method: 'POST', headers, body });
const questionOf = (at: number): string => `${question} ${markOf(at)}`;
const messagesOf = (at: number) => [{ role: 'user', content: questionOf(at) }];

const ask: Readonly<Record<Wire, (at: number, model: string, stream: boolean) => Promise<Answer>>> = {
  openai: (at, model, stream) =>
    caller.chat({
      ...{ model, messages: messagesOf(at), max_tokens: 300, stream },
      ...(stream && { stream_options: { include_usage: true } }),
    }),
  anthropic: (at, model, stream) => post('/v1/messages', { model, messages: messagesOf(at), max_tokens: 300, stream }),
  gemini: (at, model, stream) =>
    post(`/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`, {
      contents: [{ role: 'user', parts: [{ text: questionOf(at) }] }],
      generationConfig: { maxOutputTokens: 300 },
    }),
};

const payloadsIn = ({ text: answer }: Answer): JsonObject[] =>
  (answer.startsWith('{') ? [answer] : [...answer.matchAll(/^data: (.*)$/gm)].map(([, line = '']) => line))
    .map((json) => parseJson(json))
    .filter(isObject);

/** What a client knows of the usage at the end: each new figure takes the place of the one before. */
function shownIn(answer: Answer): JsonObject {
  const shown: JsonObject = {};
  for (const { message: begun, usage, usageMetadata } of payloadsIn(answer))
    for (const one of [isObject(begun) ? begun.usage : null, usage, usageMetadata])
      if (isObject(one)) for (const [name, value] of Object.entries(one)) if (value !== null) shown[name] = value;
  return shown;
}

const full = { input: 20, output: 12 };
interface Charged {
  readonly input?: number;
  readonly output?: number;
}
type Case = readonly [how: string, reported: ShownUsage, charged: Charged];
const cases: readonly Case[] = [
  ['whole, at its beginning and its end', { first: { input: 20, output: 1 }, last: full }, full],
  ['whole, at its end alone', { first: null, last: full }, full],
  ['not at all', { first: null, last: null }, {}],
  ['as nothing', { first: { input: 0, output: 0 }, last: { input: 0, output: 0 } }, {}],
  ['as null', { first: { input: null, output: null }, last: { input: null, output: null } }, {}],
  ['as text', { first: { input: '20', output: '1' }, last: { input: '20', output: '12' } }, {}],
  ['below nothing', { first: { input: -20, output: -1 }, last: { input: -20, output: -12 } }, {}],
  ['of more than there can be', { first: { input: 9e15, output: 9e15 }, last: { input: 9e15, output: 9e15 } }, {}],
  ['with an input of nothing', { first: { input: 0, output: 1 }, last: { input: 0, output: 12 } }, { output: 12 }],
  ['with an output of nothing', { first: { input: 20, output: 0 }, last: { input: 20, output: 0 } }, { input: 20 }],
  ['of its output alone', { first: null, last: { output: 12 } }, { output: 12 }],
  ['of its input alone', { first: { input: 20 }, last: { input: 20 } }, { input: 20 }],
  [
    'unusably first, then of its output alone',
    { first: { input: -1, output: 1 }, last: { output: 12 } },
    { output: 12 },
  ],
  [
    'as nothing first, then of its output alone',
    { first: { input: 0, output: 0 }, last: { output: 12 } },
    { output: 12 },
  ],
  ['whole first, then with an input of nothing', { first: full, last: { input: 0, output: 12 } }, { output: 12 }],
  ['unusably first, and whole at its end', { first: { input: 'many', output: -1 }, last: full }, full],
];
const vectors: readonly Case[] = [
  ['vectors, whole', { first: null, last: { input: 20 } }, { input: 20 }],
  ['vectors, not at all', { first: null, last: null }, {}],
  ['vectors, as nothing', { first: null, last: { input: 0, output: 0 } }, {}],
  ['vectors, as null', { first: null, last: { input: null } }, {}],
  ['vectors, below nothing', { first: null, last: { input: -3 } }, {}],
];

/** What is shown to a client of the dialect, and what the log has. */
async function expectShown(dialect: Wire, [how, , charged]: Case, answer: Answer, outputs: boolean): Promise<void> {
  expect(answer.status, how).toBe(200);
  const shown = shownIn(answer);
  const line = await lineOf(gateway, user, answer);
  const { prompt_tokens: input, completion_tokens: output } = line;
  expect([shown[names[dialect][0]], shown[names[dialect][1]] ?? 0], how).toEqual([input, output]);
  expect([charged.input ?? input, charged.output ?? output], how).toEqual([input, output]);
  // What nobody has reported is counted here, of a text that is neither empty nor long.
  for (const count of outputs ? [input, output] : [input])
    expect(count > 5 && count < 60, `${how}: ${count}`).toBe(true);
  expect(line.quota, how).toBe(input + output);
}

describe.each(wires)('a caller of %s', (dialect) => {
  describe.each(wires)('with an upstream of %s', (wire) => {
    test.each([
      ['a whole answer', false],
      ['a stream', true],
    ])('is shown the charged usage in %s, however the upstream reports usage', async (_kind, stream) => {
      await Promise.all(
        cases.map(async (one, at) => expectShown(dialect, one, await ask[dialect](at, modelOf[wire], stream), true)),
      );
    });
  });
});

test('vectors are returned with the charged usage, however the upstream reports usage', async () => {
  await Promise.all(
    vectors.map(async (one, at) => {
      const answer = await post('/v1/embeddings', { model: 'o', input: questionOf(cases.length + at) });
      await expectShown('openai', one, answer, false);
    }),
  );
});
