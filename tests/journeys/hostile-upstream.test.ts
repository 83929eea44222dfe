import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Caller, type Callers, errorIn, openCallers } from '../support/callers.js';
import { startTestGateway, type TestGateway, type TestUser } from '../support/test-gateway.js';
import { startUpstream, type Upstream, type UpstreamCall } from '../support/upstream.js';

/* Callers and upstreams that mean harm, over HTTP on a running gateway. */

let gateway: TestGateway;
let upstream: Upstream;
let callers: Callers;
let user: TestUser;
let caller: Caller;

/** What the upstream was asked, and how it answers. */
let asked: UpstreamCall[] = [];
let serve: (call: UpstreamCall, response: ServerResponse) => void;

const completion = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_750_000_000,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'A list of debts.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
};

beforeAll(async () => {
  gateway = await startTestGateway({ RELAY_TIMEOUT: '60' });
  callers = openCallers(gateway.url);
  upstream = await startUpstream((call, response) => {
    asked.push(call);
    serve(call, response);
  });
  await gateway.setOption('SelfUseModeEnabled', 'true');
  user = await gateway.addUser(100_000_000);
  caller = callers.with(await gateway.addApiKey(user));
});
afterAll(async () => {
  await callers?.close();
  await gateway?.stop();
  await upstream?.stop();
});
beforeEach(() => {
  asked = [];
  serve = (_, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(completion));
});
afterEach(() => expect(gateway.logged.filter((line) => line.includes('a call failed unexpectedly'))).toEqual([]));

describe("a model's name in an address", () => {
  beforeAll(() =>
    gateway.addChannel({
      type: 8,
      models: ['gpt-4-gizmo-*', 'vendor/../up'],
      baseUrl: `${upstream.url}/models/{model}/chat`,
    }),
  );

  test('goes where the channel puts it', async () => {
    expect((await caller.chat({ model: 'gpt-4-gizmo-g-abc' })).status).toBe(200);
    expect(asked.map(({ url }) => url)).toEqual(['/models/gpt-4-gizmo-g-abc/chat']);
  });

  test.each(['gpt-4-gizmo-../../../admin?x=1#', 'gpt-4-gizmo-/../../admin', 'vendor/../up'])(
    'does not choose another one: %s',
    async (model) => {
      expect((await caller.chat({ model })).status).toBeGreaterThanOrEqual(400);
      expect(asked).toEqual([]);
    },
  );

  test('of two dots is refused as what it is', async () => {
    const refused = await caller.chat({ model: 'vendor/../up' });
    expect([refused.status, errorIn(refused).code]).toEqual([400, 'convert_request_failed']);
  });
});

test("a caller's query stays here", async () => {
  await gateway.addChannel({ models: ['queried'], baseUrl: upstream.url });
  const body = { model: 'queried', messages: [{ role: 'user', content: 'hi' }] };
  const headers = { 'content-type': 'application/json' };
  const answer = await caller.send('/v1/chat/completions?beta=true&key=sk-x', { method: 'POST', headers, body });
  expect(answer.status).toBe(200);
  expect(asked.map(({ url }) => url)).toEqual(['/v1/chat/completions']);
});
