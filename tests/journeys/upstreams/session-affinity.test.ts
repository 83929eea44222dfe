import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { type Caller, type Callers, openCallers } from '../../support/callers/callers.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';

/* Calls of one conversation go to the channel that has its prompt in the cache. Upstream names say who was asked. */

let gateway: TestGateway;
let callers: Callers;
let user: TestUser;
let caller: Caller;
let model = '';
let models = 0;

beforeAll(async () => {
  gateway = await startTestGateway();
  callers = openCallers(gateway.url);
  await gateway.setOption('SelfUseModeEnabled', 'true');
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
});
beforeEach(async () => {
  gateway.provider.reset();
  user = await gateway.addUser(100_000_000);
  caller = callers.with(await gateway.addApiKey(user));
  model = `model-${++models}`;
  for (const upstream of ['a', 'b', 'c']) await addChannel(upstream);
});
afterEach(async () => {
  await gateway.setOption('general_setting.session_affinity', 'true');
  await gateway.setOption('RetryTimes', '0');
});

const addChannel = (upstream: string, priority = 0) =>
  gateway.addChannel({
    name: upstream,
    models: [model],
    priority,
    modelMapping: JSON.stringify({ [model]: `${model}-${upstream}` }),
  });

/** Who was asked since the last time, sorted by name, with how often. */
function asked(): [upstream: string, calls: number][] {
  const { byModel } = gateway.provider.tally();
  gateway.provider.reset();
  return Object.entries(byModel).map(([name, calls]) => [name.slice(model.length + 1), calls]);
}

const long = 'Keep to the style of this repository. '.repeat(400);
const turn = (words: string): JsonObject => ({
  model,
  messages: [
    { role: 'system', content: long },
    { role: 'user', content: words },
  ],
});
const inSession = (id: string) => ({ 'x-claude-code-session-id': id });

/** Calls one after another; each must be answered. */
async function ask(
  calls: number,
  body: (call: number) => JsonObject,
  headers: (call: number) => Record<string, string>,
  by = caller,
) {
  for (let call = 0; call < calls; call++) {
    const answer = await by.chat(body(call), { headers: headers(call) });
    expect(answer.status).toBe(200);
  }
}

const noHeaders = () => ({});

describe('calls of one conversation', () => {
  test('go to one channel by the session header of their agent', async () => {
    await ask(
      12,
      (call) => turn(`turn ${call}`),
      () => inSession('s1'),
    );
    expect(asked()).toEqual([[expect.any(String), 12]]);
  });

  test('go to one channel by the beginning of their prompt, where it is long enough for a cache', async () => {
    await ask(12, (call) => ({ ...turn('Fix the test.'), temperature: call / 12 }), noHeaders);
    expect(asked()).toEqual([[expect.any(String), 12]]);
    await ask(24, () => ({ model, messages: [{ role: 'user', content: 'hi' }] }), noHeaders);
    expect(asked().length).toBeGreaterThan(1);
  });

  test('stay within the best priority', async () => {
    await addChannel('best', 5);
    await ask(
      6,
      (call) => turn(`turn ${call}`),
      (call) => inSession(`s${call}`),
    );
    expect(asked()).toEqual([['best', 6]]);
  });

  test('leave a channel that has failed them, although no call is retried, and keep to the next one', async () => {
    await ask(
      1,
      () => turn('one'),
      () => inSession('s1'),
    );
    const [[first] = ['']] = asked();
    const body = { error: { message: 'no', type: 'server_error', code: 'out' } };
    gateway.provider.script(`${model}-${first}`, { kind: 'refuse', status: 500, body });
    expect((await caller.chat(turn('two'), { headers: inSession('s1') })).status).toBe(500);
    asked();
    await ask(
      8,
      () => turn('three'),
      () => inSession('s1'),
    );
    const [[second, calls] = [''], ...others] = asked();
    expect([calls, others]).toEqual([8, []]);
    expect(second).not.toBe(first);
  });
});

describe('session affinity', () => {
  test('sends the same session of many users to several channels, each user to one', async () => {
    for (let index = 0; index < 12; index++) {
      const by = callers.with(await gateway.addApiKey(await gateway.addUser(100_000_000)));
      await ask(
        2,
        () => turn('Fix the test.'),
        () => inSession('s1'),
        by,
      );
    }
    const calls = asked();
    expect(calls.length).toBeGreaterThan(1);
    // Each of them keeps to one all the same.
    for (const [, count] of calls) expect(count % 2).toBe(0);
  });

  test('sends many sessions of one user to all channels', async () => {
    await ask(
      24,
      () => turn('Fix the test.'),
      (call) => inSession(`s${call}`),
    );
    expect(asked()).toHaveLength(3);
  });
});

test('calls of one conversation are spread over the channels by weight where affinity is switched off', async () => {
  await gateway.setOption('general_setting.session_affinity', 'false');
  await ask(
    24,
    () => turn('Fix the test.'),
    () => inSession('s1'),
  );
  expect(asked().length).toBeGreaterThan(1);
});
