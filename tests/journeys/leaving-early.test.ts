import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { completionTokens } from '../../src/domain/usage.js';
import { type CallStory, newestCall } from '../support/books.js';
import { type Caller, type Callers, openCallers } from '../support/callers.js';
import { startTestGateway, type TestGateway } from '../support/test-gateway.js';
import { until } from '../support/until.js';
import { startUpstream, type Upstream } from '../support/upstream.js';

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
  await gateway.setOption('ModelRatio', JSON.stringify({ [patient]: 1, [plain]: 1 }));
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

/** Pays for a token of output per millisecond, which is more than can have been thought, and less than was held. */
const expectTimeCharged = ({ reserved, settled }: CallStory): void => {
  const [event] = settled;
  const held = reserved[0]?.reserved ?? 0;
  const possible = Math.min(event?.useTimeMs ?? 0, limit);
  expect(possible).toBeGreaterThan(0);
  expect(held).toBeGreaterThanOrEqual(4 * limit);
  expect(completionTokens(event?.usage ?? {})).toBe(possible);
  expect(event?.charged).toBe((event?.usage.input ?? 0) + 4 * possible);
};

describe('a caller who leaves a stream of a model that thinks unseen', () => {
  test('at its finish reason pays what it costs to its end', async () => {
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

  test('pays for what can have been thought in the time when the usage never comes, and the log says it was estimated', async () => {
    const leaving = caller.chat(ask(patient), untilFinish);
    begin(await heldCall(), said('42') + finished);
    await leaving;
    await until(async () => (cutOff === 1 ? true : null));
    const story = await newest();
    expect(story.settled[0]).toMatchObject({ outcome: 'caller-left', usageSource: 'estimated' });
    expectTimeCharged(story);
  });

  test('pays the same for leaving while it is thinking, before a word has come', async () => {
    const gone = new AbortController();
    const leaving = caller.chat(ask(patient), { signal: gone.signal }).catch(() => null);
    await heldCall();
    gone.abort();
    await leaving;
    await until(async () => (cutOff === 1 ? true : null));
    const story = await newest();
    expect(story.settled[0]).toMatchObject({ outcome: 'caller-left', usageSource: 'estimated' });
    expectTimeCharged(story);
  });
});

describe('a caller who leaves a stream of a model that shows all it says', () => {
  test('in the middle stops the upstream at once, and pays for what was said', async () => {
    const leaving = caller.chat(ask(plain), untilFirstWord);
    begin(await heldCall(), said('one two three'));
    await leaving;
    await until(async () => (cutOff === 1 ? true : null));
    const [settled] = (await newest()).settled;
    expect(settled).toMatchObject({ outcome: 'caller-left', usageSource: 'estimated', usage: { output: 3 } });
  });

  test('with a file in the question is charged what upstream counted for it', async () => {
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

  test('before its first word pays for the question, once upstream has had its time', async () => {
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

test('a price per call is due for a call whose caller left before the first word', async () => {
  const gone = new AbortController();
  const leaving = caller.chat(ask('o3-fixed'), { signal: gone.signal }).catch(() => null);
  await heldCall();
  gone.abort();
  await leaving;
  await until(async () => (cutOff === 1 ? true : null));
  expect((await newest()).settled[0]).toMatchObject({ outcome: 'caller-left', charged: 1_000 });
});

describe('a caller who leaves while the gateway waits for a JSON answer', () => {
  test('pays for the answer when it comes', async () => {
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
