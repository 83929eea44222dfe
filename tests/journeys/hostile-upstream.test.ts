import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Caller, type Callers, errorIn, openCallers } from '../support/callers.js';
import { startTestGateway, type TestGateway, type TestUser } from '../support/test-gateway.js';
import { until } from '../support/until.js';
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

describe("an upstream's error", () => {
  const secret = 'Ks8-plain0secret7of9upstream';
  const organization = 'org-Zx81yW42';
  const base64 = Buffer.from(`user:${secret}`).toString('base64');
  const hints = [
    secret,
    secret.slice(4),
    base64,
    organization,
    'localhost',
    '127.0.0.1',
    'fd00::7',
    'gpu-7.internal',
    '::1',
  ];

  const leaks = (member: string) => ({
    error: { message: 'no', type: 'server_error', code: 'out', param: 'n', [member]: '' },
  });

  const nothingIn = (what: string, text: string) => {
    for (const hint of hints) expect(text.includes(hint), `${hint} in ${what}: ${text}`).toBe(false);
  };

  const refuseWith = (body: object, status = 401) => {
    const headers = { 'content-type': 'application/json', 'retry-after': secret };
    serve = (_, response) => response.writeHead(status, headers).end(JSON.stringify(body));
  };

  test.each(['message', 'type', 'code', 'param'])(
    'tells nobody in its %s where it is or how it is paid',
    async (member) => {
      const logged = gateway.logged.length;
      const id = await gateway.addChannel({
        models: [`leaks-${member}`],
        baseUrl: upstream.url.replace('127.0.0.1', 'localhost'),
        key: secret,
        organization,
      });
      for (const hint of hints)
        for (const text of [hint, `the key ${hint} at http://${hint}:8000 is wrong`]) {
          const body = leaks(member);
          refuseWith({ error: { ...body.error, [member]: text } });
          const answer = await caller.chat({ model: `leaks-${member}` });
          expect(answer.status).toBe(401);
          nothingIn('the answer', answer.text + JSON.stringify(answer.headers));
          const tested = await gateway.application.channels.test(gateway.root, id, '');
          expect(tested.ok).toBe(false);
          nothingIn('the test of the channel', tested.message);
        }
      const lines = await gateway.application.queries.logBefore(user.actor, {}, { limit: 100 }, true);
      nothingIn('the usage log', JSON.stringify(lines));
      nothingIn('the log', gateway.logged.slice(logged).join('\n'));
    },
  );

  test('tells nobody in the middle of a stream', async () => {
    await gateway.addChannel({ models: ['leaks-late'], baseUrl: upstream.url, key: secret });
    const error = { message: `${secret} at 127.0.0.1`, type: secret, code: secret, param: secret };
    const frame = { ...completion, object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'A' } }] };
    serve = (_, response) =>
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end(`data: ${JSON.stringify(frame)}\n\ndata: ${JSON.stringify({ error })}\n\n`);
    const answer = await caller.chat({ model: 'leaks-late', stream: true });
    expect(answer.text).toContain('"error"');
    nothingIn('the stream', answer.text);
  });

  test('tells nobody through the reason for which a channel was switched off', async () => {
    await gateway.setOption('AutomaticDisableChannelEnabled', 'true');
    const id = await gateway.addChannel({
      models: ['leaks-last'],
      baseUrl: upstream.url,
      key: secret,
    });
    refuseWith({ error: { message: `key ${secret} for 127.0.0.1 is revoked`, type: secret, code: base64 } });
    await caller.chat({ model: 'leaks-last' });
    const row = await until(async () => {
      const channel = await gateway.application.queries.channel(gateway.root, id);
      return channel.status === 'auto-disabled' ? channel : null;
    });
    nothingIn('the reason', String(row.status_reason));
    await gateway.setOption('AutomaticDisableChannelEnabled', 'false');
  });

  test('of any length costs nobody anything', async () => {
    await gateway.addChannel({ models: ['endless'], baseUrl: upstream.url });
    refuseWith({ error: { message: 'x'.repeat(5_000_000), type: 'y'.repeat(5_000_000) } }, 422);
    const answer = await caller.chat({ model: 'endless' });
    expect([answer.status, answer.text.length < 3000]).toEqual([422, true]);
  });
});
