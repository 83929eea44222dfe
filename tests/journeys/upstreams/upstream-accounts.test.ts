import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ChannelId } from '../../../src/domain/kernel/ids.js';
import { type Callers, openCallers } from '../../support/callers/callers.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { until } from '../../support/until.js';

/* The operator's account at an upstream is empty, or its key is dead: whoever calls the gateway has no part in it. */

let gateway: TestGateway;
let callers: Callers;
let user: TestUser;
let key: string;
let models = 0;
const newModel = (): string => `model-${++models}`;

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
  key = await gateway.addApiKey(user);
});

const addChannel = (model: string, upstream: string, settings: Parameters<TestGateway['addChannel']>[0] = {}) =>
  gateway.addChannel({
    ...{ name: upstream, models: [model], modelMapping: JSON.stringify({ [model]: upstream }) },
    ...settings,
  });

const faults = {
  'an empty account at a gateway of this family': [
    403,
    { message: 'quota not sufficient: available $0.271828', type: 'gateway_error', code: 'insufficient_user_quota' },
  ],
  'an empty account at a gateway in Chinese': [
    403,
    { message: '用户额度不足, 剩余额度: ＄0.271828', type: 'new_api_error', code: 'insufficient_user_quota' },
  ],
  'an empty account at Anthropic': [400, { message: 'Your credit balance is too low', type: 'invalid_request_error' }],
  'an empty account told by its status': [402, { message: 'you can only afford 271828 tokens' }],
  'a dead key': [401, { message: 'Incorrect API key provided', code: 'invalid_api_key' }],
} as const satisfies Record<string, readonly [number, object]>;
const named = Object.entries(faults);

const refuses = (upstream: string, [status, error]: readonly [number, object]): void =>
  gateway.provider.script(upstream, { kind: 'refuse', status, body: { error: { ...error } } });

const ask = (path: string, body: object): Promise<Response> =>
  fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  });
const messages = [{ role: 'user', content: 'Hi' }];
/** In every dialect, and for another kind of work. */
const askedIn: Readonly<Record<string, (model: string) => Promise<Response>>> = {
  'OpenAI’s chat': (model) => ask('/v1/chat/completions', { model, messages }),
  'OpenAI’s chat, as a stream': (model) => ask('/v1/chat/completions', { model, messages, stream: true }),
  'OpenAI’s embeddings': (model) => ask('/v1/embeddings', { model, input: 'Hi' }),
  'Anthropic’s messages': (model) => ask('/v1/messages', { model, messages, max_tokens: 9 }),
  'Gemini’s contents': (model) =>
    ask(`/v1beta/models/${model}:generateContent`, { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }),
};

describe.each(named)('an upstream account fault: %s', (_name, fault) => {
  test.each(Object.entries(askedIn))(
    'is reported to callers of %s as a failure of the gateway',
    async (_face, call) => {
      const model = newModel();
      await addChannel(model, 'empty');
      refuses('empty', fault);
      const answer = await call(model);
      const text = await answer.text();
      expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([502, 'false']);
      expect(text).toContain('the upstream does not serve the gateway at present');
      expect(text).not.toMatch(
        /271828|quota|balance|credit|key|额度|PERMISSION|UNAUTH|permission_error|authentication/,
      );
    },
  );

  test('sends the call to another channel', async () => {
    const model = newModel();
    await addChannel(model, 'empty', { priority: 1 });
    await addChannel(model, 'working');
    refuses('empty', fault);
    await gateway.setOption('RetryTimes', '1');
    const answer = await askedIn['OpenAI’s chat']?.(model);
    await gateway.setOption('RetryTimes', '0');
    expect(answer?.status).toBe(200);
    expect(gateway.provider.tally().byModel).toEqual({ empty: 1, working: 1 });
  });

  test('disables the channel, and the operator sees the reason', async () => {
    const model = newModel();
    const id: ChannelId = await addChannel(model, 'empty');
    refuses('empty', fault);
    const tested = await gateway.application.channels.test(gateway.root, id, '');
    expect(tested.message).toContain(fault[1].message);
    await gateway.setOption('AutomaticDisableChannelEnabled', 'true');
    await askedIn['Anthropic’s messages']?.(model);
    const row = await until(async () => {
      const channel = await gateway.application.queries.channel(gateway.root, id);
      return channel.status === 'auto-disabled' ? channel : null;
    });
    await gateway.setOption('AutomaticDisableChannelEnabled', 'false');
    expect(row.status_reason).toContain(fault[1].message);
  });
});

test('an upstream gateway whose user has an empty account does not disable its own channel', async () => {
  const model = newModel();
  await addChannel(model, 'empty');
  refuses('empty', faults['a dead key']);
  const inner = await gateway.addApiKey(user);
  const front = newModel();
  const id = await gateway.addChannel({
    ...{ name: 'front', models: [front], modelMapping: JSON.stringify({ [front]: model }) },
    ...{ baseUrl: gateway.url, key: inner },
  });
  await gateway.setOption('AutomaticDisableChannelEnabled', 'true');
  const answer = await askedIn['OpenAI’s chat']?.(front);
  expect([answer?.status, await answer?.text()]).toEqual([
    502,
    expect.stringContaining('"code":"upstream_account_unavailable"'),
  ]);
  // Another one is switched off after it: what came before has been dealt with.
  const later = newModel();
  const dead = await addChannel(later, 'dead');
  refuses('dead', faults['a dead key']);
  await askedIn['OpenAI’s chat']?.(later);
  await until(async () => (await gateway.application.queries.channel(gateway.root, dead)).status === 'auto-disabled');
  await gateway.setOption('AutomaticDisableChannelEnabled', 'false');
  expect((await gateway.application.queries.channel(gateway.root, id)).status).toBe('enabled');
});
