import { describe, expect, test } from 'vitest';
import { NotConvertible, type RequestOptions, type UpstreamChannel } from '../../../src/relay/contracts/protocol.js';
import { isObject, type JsonObject, objectsIn, parseJson } from '../../../src/relay/json/json.js';
import { wordsOf } from '../../../src/relay/upstream/request-content.js';
import { callerOf, plainChannel, play, providerOfType, usualOptions } from './golden.js';

/* What the golden cases of the wire do not show: which version a call goes to, and what is not taken. */

const provider = providerOfType(18);
const key = 'a1b2c3d4|xfTestApiSecret0001|xfTestApiKey0000000000000000001';
const options: RequestOptions = {
  ...usualOptions,
  now: Date.UTC(2026, 0, 2, 3, 4, 5),
};
const question = [{ role: 'user', content: 'x' }];

interface CallInput {
  readonly channel?: Partial<UpstreamChannel>;
  readonly body?: JsonObject;
  readonly query?: string;
  readonly outputLimit?: number | null;
  readonly maxOutput?: number;
  readonly passThrough?: boolean;
}

function request(model: string, { channel, body, query, outputLimit = null, ...rest }: CallInput = {}) {
  const caller = callerOf('chat', { model, messages: question, ...body }, query, null, outputLimit);
  const { maxOutput = caller.maxOutput, passThrough = false } = rest;
  const asked = { ...plainChannel, type: 18, key, ...channel };
  return provider.protocol.request({
    provider,
    channel: asked,
    caller: { ...caller, maxOutput },
    model,
    options: { ...options, passThrough },
  });
}

const frameOf = (...asked: Parameters<typeof request>): JsonObject => {
  const frame = parseJson(wordsOf(request(...asked).content));
  if (!isObject(frame)) throw new Error('no frame');
  return frame;
};
const within = (frame: JsonObject, ...path: readonly string[]): JsonObject =>
  path.reduce<JsonObject>((at, name) => (isObject(at[name]) ? at[name] : {}), frame);
const chat = (...asked: Parameters<typeof request>) => within(frameOf(...asked), 'parameter', 'chat');

describe('the signature of Xunfei', () => {
  test('is that of host, date and request line', () => {
    const url = new URL(request('SparkDesk-v3.5').url);
    expect(url.origin + url.pathname).toBe('wss://spark-api.xf-yun.com/v3.5/chat');
    expect(Object.fromEntries(url.searchParams)).toEqual({
      host: 'spark-api.xf-yun.com',
      date: 'Fri, 02 Jan 2026 03:04:05 GMT',
      authorization:
        'YXBpX2tleT0ieGZUZXN0QXBpS2V5MDAwMDAwMDAwMDAwMDAwMDAwMSIsIGFsZ29yaXRobT0iaG1hYy1zaGEyNTYiLCBoZWFkZXJzPSJob3N0IGRhdGUgcmVxdWVzdC1saW5lIiwgc2lnbmF0dXJlPSJxdVpubjFZNGFFQXJ4VUpKZjE4d0doR21XTFRWTEUyamNaZVdmNWw2MzFFPSI=',
    });
  });

  test.each(['app|secret', 'app||key', 'app|secret|key|more'])('cannot be computed with the key %s', (wrong) => {
    const refusal = (() => {
      try {
        return request('SparkDesk', { channel: { key: wrong } });
      } catch (error) {
        return error;
      }
    })();
    expect(refusal).toBeInstanceOf(NotConvertible);
    expect(refusal).toMatchObject({ fault: 'channel', message: expect.not.stringContaining(wrong) });
  });

  test('requires a valid base URL', () => {
    expect(() => request('SparkDesk', { channel: { baseUrl: 'spark here' } })).toThrow(NotConvertible);
  });
});

describe('the version of Xunfei’s interface', () => {
  test.each([
    ['SparkDesk', '', '/v1.1/chat', 'lite'],
    ['SparkDesk', 'v2.1', '/v2.1/chat', 'generalv2'],
    ['SparkDesk', ' v4.0 ', '/v4.0/chat', '4.0Ultra'],
    ['SparkDesk-v3.1', 'v2.1', '/v3.1/chat', 'generalv3'],
    ['SparkDesk-v3.1-128K', '', '/chat/pro-128k', 'pro-128k'],
    ['Spark-Lite', 'v4.0', '/v1.1/chat', 'lite'],
    ['Spark-Pro', '', '/v3.1/chat', 'generalv3'],
    ['Spark-Pro-128K', '', '/chat/pro-128k', 'pro-128k'],
    ['Spark-Max', '', '/v3.5/chat', 'generalv3.5'],
    ['Spark-Max-32K', '', '/chat/max-32k', 'max-32k'],
    ['Spark-4.0-Ultra', '', '/v4.0/chat', '4.0Ultra'],
  ])('of %s at a channel with %j is at %s, for the domain %s', (model, other, path, domain) => {
    const asked = { channel: { other } };
    expect(new URL(request(model, asked).url).pathname).toBe(path);
    expect(chat(model, asked).domain).toBe(domain);
  });

  test('is not chosen by the caller: the price depends on the model', () => {
    const { url } = request('SparkDesk-v1.1', { query: 'api-version=v4.0' });
    expect(new URL(url).pathname).toBe('/v1.1/chat');
  });

  test.each([
    ['SparkDesk', 'v9'],
    ['SparkDesk-v9', ''],
    ['SparkDesk', '../admin'],
  ])('of %s at a channel with %j is refused, and the known ones are named', (model, other) => {
    expect(() => request(model, { channel: { other } })).toThrow(/none of v1\.1, .*v4\.0/);
  });
});

describe('the frame for Xunfei', () => {
  test.each([
    [{ max_tokens: 50 }, {}, 50],
    [{ max_tokens: 50, max_completion_tokens: 40 }, {}, 40],
    [{ max_tokens: 50 }, { outputLimit: 7 }, 7],
    [{ max_tokens: 50 }, { maxOutput: 20 }, 20],
    [{}, { outputLimit: 7 }, 7],
    [{}, {}, undefined],
  ])('of %j reserved with %j has the limit %j', (body, held, limit) => {
    expect(chat('Spark-Max', { body, ...held }).max_tokens).toBe(limit);
  });

  test('takes the operator’s own members, within the reserved limit', () => {
    const paramOverride = { parameter: { chat: { domain: 'mine', max_tokens: 90 } }, extra: true };
    const channel = { paramOverride };
    const frame = frameOf('Spark-Max', { channel, maxOutput: 30 });
    expect(frame).toMatchObject({ extra: true, parameter: { chat: { domain: 'mine', max_tokens: 30 } } });
    expect(chat('Spark-Max', { channel }).max_tokens).toBe(90);
    expect(chat('Spark-Max', { channel, passThrough: true }).domain).toBe('generalv3.5');
  });

  test.each([
    [2, 1],
    [0, 0.01],
    [0.3, 0.3],
  ])('converts the temperature %d to %d', (asked, sent) => {
    expect(chat('Spark-Max', { body: { temperature: asked } }).temperature).toBe(sent);
  });

  test('omits a user name that is too long', () => {
    expect(within(frameOf('Spark-Max', { body: { user: 'u'.repeat(33) } }), 'header')).toEqual({ app_id: 'a1b2c3d4' });
  });

  test('refuses pictures, and tools where the model has no tools, in the caller’s dialect', () => {
    const picture = [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a.example/x.png' } }] }];
    expect(() => request('Spark-Max', { body: { messages: picture } })).toThrow(/messages: .*text only/);
    const tools = [{ type: 'function', function: { name: 'f', parameters: {} } }];
    expect(() => request('Spark-Lite', { body: { tools } })).toThrow(/^tools: /);
    expect(frameOf('Spark-Lite', { body: { tools, tool_choice: 'none' } }).payload).not.toHaveProperty('functions');
  });
});

describe('a stream of Xunfei', () => {
  const golden = (frames: readonly JsonObject[]) => {
    const caller = callerOf('chat', { model: 'Spark-Max', messages: question, stream: true });
    const info = { callId: 'call-1', model: 'Spark-Max', createdAt: 1 };
    const upstream = Buffer.from(frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join(''));
    const channel = { ...plainChannel, type: 18, key };
    const rest = { name: '', sent: { url: '', headers: {}, body: {} }, answer: null, expected: {} };
    return { provider, channel, caller, upstreamModel: 'Spark-Max', options, info, upstream, stream: true, ...rest };
  };
  const played = (...frames: readonly JsonObject[]) => {
    const asked = golden(frames);
    return play(asked, [asked.upstream]);
  };
  const said = (status: number, text: JsonObject, seq = 1): JsonObject => ({
    header: { code: 0, message: 'Success', sid: 'sid', status },
    payload: { choices: { status, seq, text: [{ index: 0, role: 'assistant', content: '', ...text }] } },
  });

  test('ends with its last frame: later ones are ignored', () => {
    const { forwarded, finished } = played(said(2, { content: 'all' }), said(1, { content: 'more' }));
    expect(finished).toBe(true);
    expect(forwarded).not.toContain('more');
  });

  test('joins the pieces of each tool call, with parallel tool calls', () => {
    const { forwarded, generated } = played(
      said(0, { function_call: { name: 'one', arguments: '{"a":' } }, 0),
      said(1, { function_call: { arguments: '1}' } }),
      said(1, { function_call: { name: 'two', arguments: '{}' } }),
      said(2, {}),
    );
    const calls = forwarded
      .split('\n\n')
      .map((frame) => parseJson(frame.slice('data: '.length)))
      .flatMap((chunk) => (isObject(chunk) ? objectsIn(chunk.choices) : []))
      .flatMap((choice) => objectsIn(within(choice, 'delta').tool_calls));
    expect(calls.map(({ index, id }) => [index, id])).toEqual([
      [0, 'call_call-1_0'],
      [0, undefined],
      [1, 'call_call-1_1'],
    ]);
    expect(generated).toMatchObject({ toolCalls: 2, finishReason: 'tool_calls' });
  });

  test.each([
    [10005, 403],
    [10007, 429],
    [10013, 400],
    [10014, 400],
    [10019, 400],
    [10907, 400],
    [11200, 403],
    [11201, 429],
    [11202, 429],
    [11203, 429],
    [10012, 502],
  ])('that fails with code %d has the status %d', (code, status) => {
    const { error, forwarded } = played(said(0, { content: 'begun' }, 0), {
      header: { code, message: `refused: ${key} of spark-api.xf-yun.com`, sid: 'sid', status: 2 },
    });
    expect(forwarded).toContain('begun');
    expect(error).toMatchObject({ status, code: String(code) });
    expect(error?.message).toBe('refused: *** of ***');
  });
});
