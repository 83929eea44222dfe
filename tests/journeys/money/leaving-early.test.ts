import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { completionTokens } from '../../../src/domain/call/usage.js';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { type Caller, type Callers, openCallers } from '../../support/callers/callers.js';
import { type CallEvents, newestCall } from '../../support/gateway/ledger-snapshot.js';
import { startTestGateway, type TestGateway } from '../../support/gateway/test-gateway.js';
import { until } from '../../support/until.js';
import { startUpstream, type Upstream } from '../../support/upstreams/upstream.js';

/* Hanging up does not make a call cheaper: what upstream has done is paid for, whether or not somebody reads it. */

let gateway: TestGateway;
let callers: Callers;
let caller: Caller;
let upstream: Upstream;
/** Calls that wait for the upstream's answer, and how often an answer was cut off. */
const held: ServerResponse[] = [];
let cutOff = 0;

const patient = 'reasoner';
const plain = 'plain';
/** A caller's limit on the output, and with it what is held. */
const limit = 40_000;
/** How long the gateway reads on, and what two clocks may distinguish. */
const graceMs = 4_000;
const clocksDiffer = 20;

beforeAll(async () => {
  gateway = await startTestGateway({ CALLER_GONE_SECONDS: '4' });
  callers = openCallers(gateway.url);
  upstream = await startUpstream((_, response) => {
    response.once('close', () => {
      if (!response.writableFinished) cutOff++;
    });
    held.push(response);
  });
  await gateway.addChannel({ models: [patient, plain, 'o3-fixed'], baseUrl: upstream.url });
  const others = ['gpt-5.2', 'claude-opus-4-8', 'gemini-2.5-flash'];
  await gateway.addChannel({ models: ['gpt-5.2'], baseUrl: upstream.url });
  await gateway.addChannel({ type: 14, models: ['claude-opus-4-8'], baseUrl: upstream.url });
  await gateway.addChannel({ type: 24, models: ['gemini-2.5-flash'], baseUrl: upstream.url });
  const ratios = Object.fromEntries([patient, plain, ...others].map((model) => [model, 1]));
  await gateway.setOption('ModelRatio', JSON.stringify(ratios));
  await gateway.setOption('CompletionRatio', JSON.stringify({ [patient]: 4, [plain]: 4 }));
  await gateway.setOption('ModelPrice', '{"o3-fixed":0.002}');
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  await upstream?.stop();
});
beforeEach(async () => {
  cutOff = 0;
  held.length = 0;
  caller = callers.with(await gateway.addApiKey(await gateway.addUser(1_000_000)));
});

const heldCall = (): Promise<ServerResponse> => until(async () => held.shift() ?? null);
const frame = (payload: object): string => `data: ${JSON.stringify({ id: 'x', ...payload })}\n\n`;
const said = (content: string): string => frame({ choices: [{ index: 0, delta: { content } }] });
const finished = frame({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
const usage = { prompt_tokens: 500, completion_tokens: 30_012, total_tokens: 30_512 };
const hidden = { ...usage, completion_tokens_details: { reasoning_tokens: 30_000 } };
const usageFrame = frame({ choices: [], usage: hidden });
const begin = (response: ServerResponse, text: string): unknown =>
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write(text);

const newest = () => newestCall(gateway.config);

/** Several turns of the gateway: time enough for it to see that a connection is gone. */
const severalTurns = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await callers.with(null).send('/v1/models');
};

const untilFinish = { enough: (text: string) => text.includes('finish_reason') };
const untilFirstWord = { enough: (text: string) => text.includes('content') };
const ask = (model: string) => ({ model, stream: true, max_tokens: limit });

/**
 * Pays for a token of thinking per millisecond in which nothing was seen while the caller was there, and none for the time
 * in which the gateway read on.
 */
const expectSilenceCharged = ({ reserved, settled }: CallEvents, seen: number): void => {
  const [event] = settled;
  const there = (event?.useTimeMs ?? 0) - graceMs + clocksDiffer;
  expect(reserved[0]?.reserved).toBeGreaterThanOrEqual(4 * limit);
  const completion = completionTokens(event?.usage ?? {});
  expect(completion).toBeGreaterThan(seen);
  expect(completion).toBeLessThanOrEqual(seen + there);
  expect(event?.charged).toBe((event?.usage.input ?? 0) + 4 * completion);
};

describe('a caller that disconnects from a stream with hidden thinking', () => {
  test('at its finish reason pays its cost to the end', async () => {
    const staying = caller.chat(ask(patient));
    begin(await heldCall(), `${said('42')}${finished}${usageFrame}data: [DONE]\n\n`);
    await staying;
    const toTheEnd = (await newest()).settled[0];

    const leaving = caller.chat(ask(patient), untilFinish);
    const response = await heldCall();
    begin(response, said('42') + finished);
    await leaving;
    await severalTurns();
    response.end(`${usageFrame}data: [DONE]\n\n`);
    const left = (await newest()).settled[0];
    expect(left).toMatchObject({ usage: { output: 12, reasoning: 30_000 }, usageSource: 'upstream' });
    expect(left?.charged).toBe(toTheEnd?.charged);
  });

  test('pays for the maximum thinking in the time when the usage never arrives, marked as an estimate in the log', async () => {
    const leaving = caller.chat(ask(patient), untilFinish);
    begin(await heldCall(), said('42') + finished);
    await leaving;
    await until(async () => (cutOff === 1 ? true : null));
    const story = await newest();
    expect(story.settled[0]).toMatchObject({ outcome: 'caller-left', usageSource: 'estimated' });
    expectSilenceCharged(story, 1);
  });

  test('pays the same for disconnecting during the thinking, before any text has arrived', async () => {
    const gone = new AbortController();
    const leaving = caller.chat(ask(patient), { signal: gone.signal }).catch(() => null);
    await heldCall();
    gone.abort();
    await leaving;
    await until(async () => (cutOff === 1 ? true : null));
    const story = await newest();
    expect(story.settled[0]).toMatchObject({ outcome: 'caller-left', usageSource: 'estimated' });
    expectSilenceCharged(story, 0);
  });
});

describe('a caller that disconnects from a stream with all output visible', () => {
  test('in the middle aborts the upstream at once, and pays for the text so far', async () => {
    const leaving = caller.chat(ask(plain), untilFirstWord);
    begin(await heldCall(), said('one two three'));
    await leaving;
    await until(async () => (cutOff === 1 ? true : null));
    const [settled] = (await newest()).settled;
    expect(settled).toMatchObject({ outcome: 'caller-left', usageSource: 'estimated', usage: { output: 3 } });
  });

  test('with a file in the question is charged by the upstream’s count of it', async () => {
    const file = { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERi0=', filename: 'a.pdf' } };
    const messages = [{ role: 'user', content: [file] }];
    const leaving = caller.chat({ ...ask(plain), messages }, untilFirstWord);
    const response = await heldCall();
    begin(response, said('one two three'));
    await leaving;
    await severalTurns();
    response.end(`${finished}${frame({ choices: [], usage })}data: [DONE]\n\n`);
    expect((await newest()).settled[0]).toMatchObject({ usage: { input: 500 }, usageSource: 'upstream' });
  });

  test('before any text pays for the question, once the upstream has had its time', async () => {
    const gone = new AbortController();
    const leaving = caller.chat(ask(plain), { signal: gone.signal }).catch(() => null);
    await heldCall();
    gone.abort();
    await leaving;
    await until(async () => (cutOff === 1 ? true : null));
    const { settled, released } = await newest();
    expect(released).toEqual([]);
    expect(settled[0]).toMatchObject({
      outcome: 'caller-left',
      usage: { input: expect.any(Number) },
      usageSource: 'estimated',
    });
    expect(settled[0]?.charged).toBe(settled[0]?.usage.input);
  });
});

const message = { role: 'user', content: 'What is a ledger?' };
const claude = { model: 'claude-opus-4-8', max_tokens: 3_002, stream: true, messages: [message] };
const claudeBegins = [
  { type: 'message_start', message: { id: 'm', type: 'message', usage: { input_tokens: 9, output_tokens: 1 } } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'one two three' } },
]
  .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  .join('');
const gemini = (generationConfig: JsonObject) => ({
  contents: [{ role: 'user', parts: [{ text: message.content }] }],
  generationConfig,
});
const geminiBegins = `data: ${JSON.stringify({ candidates: [{ index: 0, content: { parts: [{ text: 'one two three' }] } }] })}\n\n`;
const geminiPath = '/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse';

describe('a caller that disconnects in the middle of the text, for a request without thinking,', () => {
  test.each([
    [
      'as an Anthropic request that declines it',
      '/v1/messages',
      { ...claude, thinking: { type: 'disabled' } },
      claudeBegins,
    ],
    ['as an Anthropic request that does not ask for it', '/v1/messages', claude, claudeBegins],
    [
      'as an OpenAI request to a Claude model',
      '/v1/chat/completions',
      { ...ask('claude-opus-4-8'), messages: [message] },
      claudeBegins,
    ],
    [
      'as an OpenAI request with no effort',
      '/v1/chat/completions',
      { ...ask('gpt-5.2'), reasoning_effort: 'none', messages: [message] },
      said('one two three'),
    ],
    [
      'as a Gemini request with no budget',
      geminiPath,
      gemini({ maxOutputTokens: 3_002, thinkingConfig: { thinkingBudget: 0 } }),
      geminiBegins,
    ],
  ] as const)('aborts the upstream at once and pays for the text so far: %s', async (_how, path, body, begins) => {
    const sending = { method: 'POST', headers: { 'content-type': 'application/json' }, body: body as JsonObject };
    const leaving = caller.send(path, { ...sending, enough: (text) => text.includes('three') });
    begin(await heldCall(), begins);
    await leaving;
    await until(async () => (cutOff === 1 ? true : null));
    const [settled] = (await newest()).settled;
    expect(settled).toMatchObject({ outcome: 'caller-left', usageSource: 'estimated', usage: { output: 3 } });
    expect(settled?.usage.reasoning ?? 0).toBe(0);
  });
});

test('a Gemini call without a limit, aborted before any text, is not charged for the time the gateway reads on', async () => {
  const gone = new AbortController();
  const sending = { method: 'POST', headers: { 'content-type': 'application/json' }, body: gemini({}) };
  const leaving = caller.send(geminiPath, { ...sending, signal: gone.signal }).catch(() => null);
  await heldCall();
  gone.abort();
  await leaving;
  await until(async () => (cutOff === 1 ? true : null));
  const [settled] = (await newest()).settled;
  expect(settled?.useTimeMs).toBeGreaterThanOrEqual(graceMs - clocksDiffer);
  expect(completionTokens(settled?.usage ?? {})).toBeLessThanOrEqual(
    (settled?.useTimeMs ?? 0) - graceMs + clocksDiffer,
  );
});

test('a price per call is charged for a call whose caller disconnected before any text', async () => {
  const gone = new AbortController();
  const leaving = caller.chat(ask('o3-fixed'), { signal: gone.signal }).catch(() => null);
  await heldCall();
  gone.abort();
  await leaving;
  await until(async () => (cutOff === 1 ? true : null));
  expect((await newest()).settled[0]).toMatchObject({ outcome: 'caller-left', charged: 1_000 });
});

describe('a caller that disconnects while the gateway waits for a JSON answer', () => {
  test('pays for the answer when it arrives', async () => {
    const gone = new AbortController();
    const leaving = caller.chat({ model: patient, max_tokens: limit }, { signal: gone.signal }).catch(() => null);
    const response = await heldCall();
    gone.abort();
    await leaving;
    await severalTurns();
    const choices = [{ index: 0, message: { role: 'assistant', content: '42' }, finish_reason: 'stop' }];
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ id: 'x', choices, usage: hidden }));
    expect((await newest()).settled[0]).toMatchObject({
      usage: { output: 12, reasoning: 30_000 },
      usageSource: 'upstream',
    });
  });
});
