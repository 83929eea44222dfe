import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Callers, errorIn, openCallers } from '../../support/callers/callers.js';
import { startTestGateway, type TestGateway } from '../../support/gateway/test-gateway.js';
import { startUpstream, type Upstream } from '../../support/upstreams/upstream.js';
import { hunyuanWires } from '../../support/upstreams/vendor-wires/hunyuan.js';

/*
 * Providers whose interface has no limit to the output: the most that their model can put out is reserved for a call,
 * whatever limit it names. One quota per token in and out.
 */

const [hunyuan] = hunyuanWires;
const signedKey = hunyuan?.key ?? '';

const models = ['hunyuan', 'chatglm', 'library', 'dify', 'fastgpt', 'palm'];

let gateway: TestGateway;
let callers: Callers;
let upstream: Upstream;
let asked: string[] = [];

const chatAnswer = {
  ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 },
};
const difyAnswer = { event: 'message', answer: 'Hello.', metadata: { usage: chatAnswer.usage } };
const chatglmAnswer = {
  ...{ code: 200, success: true },
  data: { choices: [{ role: 'assistant', content: 'Hello.' }], usage: chatAnswer.usage },
};
const libraryAnswer = { success: true, answer: 'Hello.', documents: [] };
const palmAnswer = { candidates: [{ author: '1', content: 'Hello.' }] };

function answerTo(path: string): string {
  if (path === '/') return hunyuan?.whole ?? '';
  if (path.endsWith('/chat-messages')) return JSON.stringify(difyAnswer);
  if (path.includes('/model-api/')) return JSON.stringify(chatglmAnswer);
  if (path.includes('/library/')) return JSON.stringify(libraryAnswer);
  return JSON.stringify(path.includes('generateMessage') ? palmAnswer : chatAnswer);
}

beforeAll(async () => {
  gateway = await startTestGateway();
  callers = openCallers(gateway.url);
  upstream = await startUpstream(({ url }, response) => {
    asked.push(url);
    response.writeHead(200, { 'content-type': 'application/json' }).end(answerTo(url));
  });
  const ofEach = (value: number) =>
    JSON.stringify(Object.fromEntries([...models, 'mixed', 'keyed'].map((name) => [name, value])));
  for (const option of ['ModelRatio', 'CompletionRatio']) await gateway.setOption(option, ofEach(1));
  await gateway.setOption('MaxOutputTokens', ofEach(8_000));
  const channel = (type: number, model: string, more: object = {}) =>
    gateway.addChannel({ type, models: [model], baseUrl: upstream.url, ...more });
  await channel(23, 'hunyuan', { key: signedKey });
  await channel(23, 'keyed', { key: 'sk-one-key' });
  await channel(16, 'chatglm', { key: 'id.secret' });
  await channel(21, 'library', { other: 'lib-1' });
  await channel(37, 'dify');
  await channel(22, 'fastgpt');
  await channel(11, 'palm');
  await channel(23, 'mixed', { key: signedKey, priority: 10 });
  await channel(1, 'mixed');
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  await upstream?.stop();
});
beforeEach(() => {
  asked = [];
});

const messages = [{ role: 'user', content: 'Hello' }];

async function ask(model: string, funds: number, more: object) {
  const caller = callers.with(await gateway.addApiKey(await gateway.addUser(funds)));
  return caller.send('/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: { model, messages, ...more },
  });
}

describe.each(models)('a model of a provider without an output limit: %s', (model) => {
  test.each([{ max_tokens: 1 }, { max_completion_tokens: 1 }, {}])(
    'is refused with 403 for %j if the balance is below the price of its longest answer',
    async (limit) => {
      const answer = await ask(model, 5_000, limit);
      expect([answer.status, errorIn(answer).code]).toEqual([403, 'insufficient_user_quota']);
      expect(asked).toEqual([]);
    },
  );

  test('is served if the balance covers its longest answer, without the header x-output-limit', async () => {
    const answer = await ask(model, 200_000, { max_tokens: 1 });
    expect(answer.status).toBe(200);
    expect(answer.headers).not.toHaveProperty('x-output-limit');
  });
});

describe('a model of a channel without an output limit and a channel with one', () => {
  test.each([
    ['named', 200_000, { max_tokens: 5 }],
    ['lowered to the balance', 5_000, {}],
  ])('is requested from the channel with an output limit if a limit is %s', async (_, funds, limit) => {
    expect((await ask('mixed', funds, limit)).status).toBe(200);
    expect(asked).toEqual(['/v1/chat/completions']);
  });

  test('is requested from the channel of the higher priority if its longest answer is reserved', async () => {
    expect((await ask('mixed', 200_000, {})).status).toBe(200);
    expect(asked).toEqual(['/']);
  });
});

test('a Hunyuan channel with an API key is sent the limit of the request', async () => {
  expect((await ask('keyed', 200_000, { max_tokens: 5 })).status).toBe(200);
  expect(asked).toEqual(['/v1/chat/completions']);
});
