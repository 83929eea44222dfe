import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { brotliCompressSync, createGzip, deflateSync, gzipSync } from 'node:zlib';
import OpenAI from 'openai';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type Answer,
  type Caller,
  type Callers,
  chunksIn,
  errorIn,
  isWholeStream,
  openCallers,
} from '../../support/callers/callers.js';
import { lineOf } from '../../support/gateway/log-lines.js';
import { startTestGateway, type TestGateway, type TestUser } from '../../support/gateway/test-gateway.js';
import { until } from '../../support/until.js';
import { startUpstream, type Upstream, type UpstreamCall } from '../../support/upstreams/upstream.js';

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

describe('a model name in an address', () => {
  beforeAll(() =>
    gateway.addChannel({
      type: 8,
      models: ['gpt-4-gizmo-*', 'vendor/../up'],
      baseUrl: `${upstream.url}/models/{model}/chat`,
    }),
  );

  test('is sent where the channel defines it', async () => {
    expect((await caller.chat({ model: 'gpt-4-gizmo-g-abc' })).status).toBe(200);
    expect(asked.map(({ url }) => url)).toEqual(['/models/gpt-4-gizmo-g-abc/chat']);
  });

  test.each(['gpt-4-gizmo-../../../admin?x=1#', 'gpt-4-gizmo-/../../admin', 'vendor/../up'])(
    'does not determine the address: %s',
    async (model) => {
      expect((await caller.chat({ model })).status).toBeGreaterThanOrEqual(400);
      expect(asked).toEqual([]);
    },
  );

  test('of two dots is refused as such', async () => {
    const refused = await caller.chat({ model: 'vendor/../up' });
    expect([refused.status, errorIn(refused).code]).toEqual([400, 'convert_request_failed']);
  });
});

test("a caller's query is not forwarded", async () => {
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

  test.each(['message', 'type', 'code', 'param'])('discloses in its %s neither address nor account', async (member) => {
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
        expect(answer.status).toBe(502);
        nothingIn('the answer', answer.text + JSON.stringify(answer.headers));
        const tested = await gateway.application.channels.test(gateway.root, id, '');
        expect(tested.ok).toBe(false);
        nothingIn('the test of the channel', tested.message);
      }
    const lines = await gateway.application.queries.logBefore(user.actor, {}, { limit: 100 }, true);
    nothingIn('the usage log', JSON.stringify(lines));
    nothingIn('the log', gateway.logged.slice(logged).join('\n'));
  });

  test('discloses neither in the middle of a stream', async () => {
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

  test('discloses neither in the reason for disabling a channel', async () => {
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

  test('of any length costs nothing', async () => {
    await gateway.addChannel({ models: ['endless'], baseUrl: upstream.url });
    refuseWith({ error: { message: 'x'.repeat(5_000_000), type: 'y'.repeat(5_000_000) } }, 422);
    const answer = await caller.chat({ model: 'endless' });
    expect([answer.status, answer.text.length < 3000]).toEqual([422, true]);
  });
});

describe('an upstream’s answer', () => {
  const model = 'mislabelled';
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    ...completion,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason }],
    usage: undefined,
  });
  const frames = [
    ...[chunk({ role: 'assistant', content: 'A list ' }), chunk({ content: 'of debts.' }), chunk({}, 'stop')],
    { ...chunk({}), choices: [], usage: completion.usage },
  ].map((payload) => `data: ${JSON.stringify(payload)}\n\n`);
  const sse = `${frames.join('')}data: [DONE]\n\n`;

  const answers = (body: string | Buffer, headers: Record<string, string> = {}, status = 200) => {
    serve = (_, response) => response.writeHead(status, headers).end(body);
  };
  const chargedFor = async (answer: Answer) => {
    const { quota, prompt_tokens, completion_tokens } = await lineOf(gateway, user, answer);
    return { quota, prompt_tokens, completion_tokens };
  };

  beforeAll(() => gateway.addChannel({ models: [model], baseUrl: upstream.url }));

  test.each([false, true])(
    'has the upstream’s request id, and neither its limits nor a cookie, for its caller; streamed: %s',
    async (stream) => {
      answers(stream ? sse : JSON.stringify(completion), {
        'x-ratelimit-remaining-requests': '99',
        'x-request-id': 'req_8f1e2d3c',
        'set-cookie': 'session=1',
        server: 'upstream.example',
      });
      const { headers } = await caller.chat({ model, stream });
      expect(headers).toMatchObject({
        'x-upstream-request-id': 'req_8f1e2d3c',
        'x-request-id': expect.stringMatching(/^20\d{12}/),
      });
      for (const name of ['set-cookie', 'server', 'x-ratelimit-remaining-requests'])
        expect(headers).not.toHaveProperty(name);
    },
  );

  describe('that is JSON', () => {
    test.each(['text/html', 'image/svg+xml', 'text/event-streams', 'application/json', 'x'])(
      'is returned as JSON, though the upstream called it %s',
      async (type) => {
        answers(JSON.stringify(completion), { 'content-type': type });
        const answer = await caller.chat({ model });
        expect(answer.status).toBe(200);
        expect(answer.headers).toMatchObject({
          'content-type': 'application/json; charset=utf-8',
          'x-content-type-options': 'nosniff',
        });
      },
    );

    test('must be valid JSON', async () => {
      answers('<html><script>alert(1)</script></html>', { 'content-type': 'text/html' });
      const answer = await caller.chat({ model });
      expect([answer.status, errorIn(answer).code]).toEqual([502, 'bad_response_body']);
      expect(answer.headers).toMatchObject({
        'content-type': 'application/json; charset=utf-8',
        'x-content-type-options': 'nosniff',
      });
      expect(answer.text).not.toContain('script');
    });

    test('must not be an unrequested stream', async () => {
      answers(sse, { 'content-type': 'text/event-stream' });
      const answer = await caller.chat({ model });
      expect([answer.status, errorIn(answer).code]).toEqual([502, 'bad_response_body']);
      expect(errorIn(answer).message).toContain('a stream that was not asked for');
      answers(sse);
      expect((await caller.chat({ model })).status).toBe(502);
    });
  });

  describe('to a streaming request', () => {
    const streamed = (more: object = {}) => caller.chat({ model, stream: true, ...more });

    test.each(['', 'text/plain', 'application/json'])(
      'is read as a stream, though the upstream called it %j',
      async (type) => {
        answers(sse, type === '' ? {} : { 'content-type': type });
        const answer = await streamed();
        expect(answer.headers).toMatchObject({
          'content-type': 'text/event-stream; charset=utf-8',
          'x-content-type-options': 'nosniff',
        });
        expect(answer.text).toBe(`${frames.slice(0, 3).join('')}data: [DONE]\n\n`);
      },
    );

    test.each(['application/json', 'text/event-stream'])(
      'that arrived whole as %s is sent as a stream',
      async (type) => {
        answers(`\ufeff\n ${JSON.stringify(completion)}`, { 'content-type': type });
        const answer = await streamed();
        expect(answer.headers['content-type']).toBe('text/event-stream; charset=utf-8');
        expect(isWholeStream(answer)).toBe(true);
        expect(chunksIn(answer)).toMatchObject([
          {
            object: 'chat.completion.chunk',
            id: 'chatcmpl-1',
            choices: [{ index: 0, delta: { role: 'assistant', content: 'A list of debts.' }, finish_reason: null }],
          },
          { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
        ]);
        expect(answer.text).not.toContain('usage');

        const asked = await streamed({ stream_options: { include_usage: true } });
        expect(chunksIn(asked).at(-1)).toMatchObject({ choices: [], usage: completion.usage });
        const plain = await caller.chat({ model });
        expect(plain.status).toBe(200);
        expect(await chargedFor(answer)).toEqual(await chargedFor(plain));
      },
    );

    test('that arrived whole with tool calls is read by the official client', async () => {
      const calls = ['a', 'b'].map((id) => ({
        id,
        type: 'function',
        function: { name: `f_${id}`, arguments: '{"x":1}' },
      }));
      const message = { role: 'assistant', content: null, tool_calls: calls };
      answers(JSON.stringify({ ...completion, choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }));
      const client = new OpenAI({ apiKey: await gateway.addApiKey(user), baseURL: `${gateway.url}/v1`, maxRetries: 0 });
      const whole = await client.chat.completions
        .stream({ model, messages: [{ role: 'user', content: 'hi' }], stream_options: { include_usage: true } })
        .finalChatCompletion();
      expect(whole.choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { tool_calls: calls } });
      expect(whole.usage).toMatchObject(completion.usage);
    });

    test('that arrived as an error keeps the status of the error', async () => {
      answers(JSON.stringify({ error: { message: 'no', type: 'invalid_request_error', code: 'bad' } }));
      expect((await streamed()).status).toBe(400);
    });

    test.each(['', '<html></html>', '[1,2]', '{"half', ' '.repeat(200_000), 'data: [\n\n'])(
      'that is not a stream is a failure: %j',
      async (body) => {
        answers(body);
        const answer = await streamed();
        expect(answer.status).toBeGreaterThanOrEqual(500);
        expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
      },
    );
  });

  describe('that is compressed without a request', () => {
    test.each([
      ['gzip', gzipSync],
      ['x-gzip', gzipSync],
      ['deflate', deflateSync],
      ['br', brotliCompressSync],
    ] as const)('with %s is decompressed, whole or as a stream', async (encoding, pack) => {
      answers(pack(JSON.stringify(completion)), { 'content-encoding': encoding });
      const answer = await caller.chat({ model });
      expect(JSON.parse(answer.text)).toEqual(completion);
      expect(answer.headers['content-encoding']).toBeUndefined();
      answers(pack(sse), { 'content-encoding': encoding, 'content-type': 'text/event-stream' });
      expect(isWholeStream(await caller.chat({ model, stream: true }))).toBe(true);
    });

    test('as a stream arrives piece by piece', async () => {
      let finish = () => {};
      serve = (_, response) => {
        response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'text/event-stream' });
        const pack = createGzip();
        pack.pipe(response);
        pack.write(frames[0]);
        pack.flush();
        finish = () => pack.end(frames.slice(1).join(''));
      };
      const answer = await caller.chat(
        { model, stream: true },
        {
          enough: (text) => {
            // Upstream goes on only when the caller has what came first.
            if (text.includes('A list')) finish();
            return text.includes('[DONE]');
          },
        },
      );
      expect(answer.text).toContain('of debts.');
    });

    test('of a large size is decompressed whole', async () => {
      const content = randomBytes(3_000_000).toString('base64');
      const message = { role: 'assistant', content };
      answers(gzipSync(JSON.stringify({ ...completion, choices: [{ index: 0, message, finish_reason: 'stop' }] })), {
        'content-encoding': 'gzip',
      });
      // So much text costs what it is, whatever upstream reported.
      const rich = callers.with(await gateway.addApiKey(await gateway.addUser(100_000_000)));
      expect((await rich.chat({ model })).text).toContain(content);
    });

    test('is refused if it is a decompression bomb', async () => {
      answers(gzipSync(Buffer.alloc(64 * 1024 * 1024, ' ')), { 'content-encoding': 'gzip' });
      for (const stream of [false, true]) {
        const answer = await caller.chat({ model, stream });
        expect([answer.status, errorIn(answer).message]).toEqual([502, expect.stringContaining('packed too tightly')]);
      }
    });

    test.each([
      ['gzip', Buffer.from('no gzip at all'), 'not valid gzip'],
      ['gzip', gzipSync(JSON.stringify(completion)).subarray(0, -12), 'not valid gzip'],
      ['zstd', Buffer.from('x'), 'not asked for'],
      ['gzip, br', Buffer.from('x'), 'not asked for'],
    ])('is a failure if it is %s that cannot be read', async (encoding, body, message) => {
      answers(body, { 'content-encoding': encoding });
      const answer = await caller.chat({ model });
      expect([answer.status, errorIn(answer).message]).toEqual([502, expect.stringContaining(message)]);
    });

    test('is decompressed if it is an error as well', async () => {
      const error = { message: 'no', type: 'invalid_request_error', code: 'bad', param: null };
      answers(gzipSync(JSON.stringify({ error })), { 'content-encoding': 'gzip' }, 400);
      expect(errorIn(await caller.chat({ model }))).toMatchObject({ type: 'invalid_request_error', code: 'bad' });
    });
  });

  test.each([300, 301, 302, 304, 307, 308])('of status %i is a clear failure, and is not followed', async (status) => {
    for (const stream of [false, true]) {
      asked = [];
      answers('', { location: `${upstream.url}/elsewhere` }, status);
      const answer = await caller.chat({ model, stream });
      expect([answer.status, errorIn(answer).code]).toEqual([502, 'bad_response_body']);
      expect(errorIn(answer).message).toContain(`status ${status}`);
      expect(asked).toHaveLength(1);
    }
  });

  test.each([100, 102, 103])('may be announced by an unrequested status %i', async (status) => {
    serve = (_, response) => {
      const body = JSON.stringify(completion);
      response.socket?.write(`HTTP/1.1 ${status} Soon\r\nx-hint: 1\r\n\r\n`);
      response.writeHead(200, { 'content-length': body.length }).end(body);
    };
    const first = await caller.chat({ model });
    expect([first.status, JSON.parse(first.text)]).toEqual([200, completion]);
    expect((await caller.chat({ model })).status).toBe(200);
  });
});
