import { describe, expect, test } from 'vitest';
import { NotConvertible } from '../../../src/relay/contracts/protocol.js';
import { isObject, type JsonObject, objectsIn, parseJson } from '../../../src/relay/json/json.js';
import { hunyuanFailure } from '../../../src/relay/protocols/hunyuan/answer.js';
import { byTc3, tc3Signature } from '../../../src/relay/protocols/hunyuan/tc3.js';
import { wordsOf } from '../../../src/relay/upstream/request-content.js';
import { callerOf, plainChannel, providerOfType, usualOptions } from '../providers/golden.js';

/* What the golden cases of the wire do not show: the signature, what is refused, and how failures are classified. */

const provider = providerOfType(23);
const key = '1250000000|AKIDtest0000000000000000000000000001|testSecretKey00000000000000000001';
const channel = { ...plainChannel, key };
const user = { role: 'user', content: 'hi' };
const calculator = { type: 'function', function: { name: 'add', parameters: { type: 'object' } } };
const clock = { type: 'function', function: { name: 'now' } };

const request = (body: JsonObject, mode: 'chat' | 'embeddings' = 'chat') =>
  provider.protocol.request({
    provider,
    channel,
    caller: callerOf(mode, { model: 'hunyuan-turbos-latest', ...(mode === 'chat' && { messages: [user] }), ...body }),
    model: 'hunyuan-turbos-latest',
    options: usualOptions,
  });

const sent = (body: JsonObject): JsonObject => {
  const parsed = parseJson(wordsOf(request(body).content));
  if (!isObject(parsed)) throw new Error('no object');
  return parsed;
};

const roles = (messages: readonly JsonObject[]): unknown[] =>
  objectsIn(sent({ messages }).Messages).map(({ Role: role, Content: content }) => [role, content]);

describe('the signature of Tencent Cloud', () => {
  // Computed apart from this code, in Python, by the algorithm of https://cloud.tencent.com/document/api/1729/101843.
  const authorization =
    'TC3-HMAC-SHA256 Credential=AKIDtest0000000000000000000000000001/2026-01-02/hunyuan/tc3_request, SignedHeaders=content-type;host;x-tc-action, Signature=da7bd8ab7d76ec8521f6ecc3177a9bb5b38c3962dc99f293cbed0444cef6a234';
  const body = '{"Model":"hunyuan-turbos-latest","Messages":[{"Role":"user","Content":"hi"}],"Stream":false}';
  const timestamp = 1_767_323_045;

  test('is that of host, content, action and time', () => {
    const secrets = {
      secretId: 'AKIDtest0000000000000000000000000001',
      apiSecret: 'testSecretKey00000000000000000001',
      service: 'hunyuan',
    };
    const signed = {
      host: 'hunyuan.tencentcloudapi.com',
      contentType: 'application/json',
      action: 'ChatCompletions',
      body,
      timestamp,
    };
    expect(tc3Signature(secrets, signed)).toBe(authorization);
  });

  const ports = { clock: { now: () => timestamp * 1000 } } as never;

  test('goes with the bytes that are sent, and the time that was signed', async () => {
    const ready = request({ stream: false });
    expect(wordsOf(ready.content)).toBe(body);
    const authorised = await provider.authorisation?.authorise(ready, { provider, channel }, ports);
    expect(authorised).toMatchObject({
      ok: true,
      request: { headers: { 'x-tc-timestamp': String(timestamp), authorization }, content: { text: body } },
    });
  });

  test('is not computed for an API key of the interface in OpenAI’s form', async () => {
    const plain = { ...plainChannel, key: 'sk-plain-0123456789' };
    const ready = request({});
    expect(await provider.authorisation?.authorise(ready, { provider, channel: plain }, ports)).toEqual({
      ok: true,
      request: ready,
    });
  });

  test.each(['1|2', '1||3', '1|2|3|4', '|2|3'])('cannot be computed with the key %s', (wrong) => {
    const to = { provider, channel: { ...plainChannel, key: wrong } };
    expect(() => byTc3('hunyuan').authorise(request({}), to, ports)).toThrow(NotConvertible);
    expect(provider.keyForm?.pattern.test(wrong)).toBe(false);
  });
});

describe('messages of Hunyuan', () => {
  test('alternate: neighbours of one role become one, and instructions are first', () => {
    expect(
      roles([
        { role: 'system', content: 'A' },
        { role: 'developer', content: 'B' },
        { role: 'assistant', content: 'C' },
        { role: 'assistant', content: '' },
        { role: 'user', content: 'D' },
        { role: 'system', content: 'E' },
      ]),
    ).toEqual([
      ['system', 'A\nB'],
      ['user', '...'],
      ['assistant', 'C'],
      ['user', 'D\n<system-instruction>\nE\n</system-instruction>'],
    ]);
  });

  test('end with the user or a tool', () => {
    expect(() => roles([user, { role: 'assistant', content: 'x' }])).toThrow('the last one must be of the user');
    expect(() => roles([{ role: 'system', content: 'x' }])).toThrow('the last one must be of the user');
  });

  test('show a failed tool as failed', () => {
    const called = { role: 'assistant', tool_calls: [{ id: 'a', function: { name: 'add' } }] };
    expect(roles([user, called, { role: 'tool', tool_call_id: 'a', content: 'no', is_error: true }]).at(-1)).toEqual([
      'tool',
      'Error: no',
    ]);
  });
});

describe('vectors of Hunyuan', () => {
  const answered = (data: JsonObject[]) => {
    const body = Buffer.from(JSON.stringify({ Response: { Data: data, Usage: { PromptTokens: 2, TotalTokens: 2 } } }));
    const caller = callerOf('embeddings', { model: 'm', input: ['a', 'b'] });
    const info = { callId: 'c', model: 'm', createdAt: 1 };
    return provider.protocol.answer({ provider, channel, caller, status: 200, headers: {}, body, info });
  };

  test('are in the order of the texts, whatever the order in which they come', () => {
    const answer = answered([
      { Index: 1, Embedding: [2] },
      { Index: 0, Embedding: [1] },
    ]);
    expect(answer.ok && answer.body).toMatchObject({
      data: [
        { index: 0, embedding: [1] },
        { index: 1, embedding: [2] },
      ],
    });
  });

  test.each([
    [[{ Index: 0, Embedding: [1] }, { Index: 1 }]],
    [
      [
        { Index: 0, Embedding: [1] },
        { Index: 2, Embedding: [2] },
      ],
    ],
    [
      [
        { Index: 0, Embedding: [1] },
        { Index: 0, Embedding: [2] },
      ],
    ],
  ])('of which one is missing are no answer: %j', (data) => {
    expect(answered(data as JsonObject[]).ok).toBe(false);
  });
});

test('a signature that is too old for Tencent’s clock does not count as a refused key', () => {
  const failed = { Code: 'AuthFailure.SignatureExpire', Message: 'Expired.' };
  expect(hunyuanFailure?.({ Response: { Error: failed } })).toMatchObject({ status: 502 });
});

test.each([
  [23, 'sk-plain-0123456789', 'api.hunyuan.cloud.tencent.com'],
  [23, key, 'hunyuan.tencentcloudapi.com'],
  [18, 'plain-password-0123', 'spark-api-open.xf-yun.com'],
])('errors of type %i with the key %s do not contain the host that was asked: %s', (type, own, host) => {
  const asked = providerOfType(type);
  const caller = callerOf('chat', { model: 'm', messages: [user] });
  const body = Buffer.from(JSON.stringify({ error: { message: `dial ${host}:443 failed` } }));
  const info = { callId: 'c', model: 'm', createdAt: 1 };
  const target = { provider: asked, channel: { ...plainChannel, baseUrl: '', key: own }, caller };
  const answer = asked.protocol.answer({ ...target, status: 500, headers: {}, body, info });
  expect(answer.ok ? '' : answer.error.message).toBe('dial *** failed');
});

describe('a request to Hunyuan', () => {
  test.each([
    [{ n: 2 }, 'n: '],
    [{ logprobs: true }, 'logprobs: '],
    [{ response_format: { type: 'json_object' } }, 'response_format: '],
    [{ web_search_options: {} }, 'web_search_options: '],
    [{ modalities: ['audio'] }, 'modalities: '],
    [{ tools: [{ type: 'web_search' }] }, 'tools: '],
    [{ tools: [{ type: 'mcp' }] }, 'tools[0].type: '],
    [{ tools: [calculator, clock], tool_choice: 'required' }, 'tool_choice: '],
    [{ tools: [calculator], tool_choice: { type: 'function', function: { name: 'x' } } }, 'tool_choice '],
    [{ messages: [{ role: 'user', content: [{ type: 'input_audio' }] }] }, 'messages[0].content[0]: '],
    [{ messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].tool_call_id '],
  ] satisfies [JsonObject, string][])('with %j is refused by name', (body, named) => {
    expect(() => request(body)).toThrow(named);
  });

  test('for vectors of another length or purpose is refused by name', () => {
    expect(() => request({ input: 'x', dimensions: 512 }, 'embeddings')).toThrow('dimensions: ');
    expect(() => request({ input: 'x', task_type: 'CLUSTERING' }, 'embeddings')).toThrow('taskType ');
    expect(wordsOf(request({ input: ['x'], dimensions: 1024 }, 'embeddings').content)).toBe('{"Input":"x"}');
  });

  test.each([
    [{}, undefined],
    [{ reasoning_effort: 'none' }, false],
    [{ thinking: { type: 'disabled' } }, false],
    [{ reasoning_effort: 'low' }, true],
    [{ thinking: { type: 'enabled', budget_tokens: 1024 } }, true],
  ] satisfies [JsonObject, boolean | undefined][])('with %j switches thinking', (body, switched) => {
    expect(sent(body).EnableThinking).toBe(switched);
  });

  test.each([
    [undefined, undefined],
    [7, 7],
    [10_000, 10_000],
    [0, 1],
    [-12_345, 2346],
    [10_001, 2],
  ])('with the seed %j has one that is taken', (seed, taken) => {
    expect(sent(seed === undefined ? {} : { seed }).Seed).toBe(taken);
  });

  test('leaves a search out that agents offer with every request', () => {
    expect(sent({ tools: [{ type: 'web_search', external_web_access: false }] }).Tools).toBeUndefined();
  });
});

test.each([
  ['AuthFailure.SecretIdNotFound', 401],
  ['RequestLimitExceeded.UinLimitExceeded', 429],
  ['LimitExceeded', 429],
  ['FailedOperation.ResourcePackExhausted', 402],
  ['FailedOperation.FreeResourcePackExhausted', 402],
  ['ResourceUnavailable.InArrears', 402],
  ['ResourceInsufficient.ChargeResourceExhaust', 429],
  ['FailedOperation.UserUnAuthError', 403],
  ['InvalidParameterValue.Model', 400],
  ['FailedOperation.EngineServerError', 502],
  ['InternalError', 502],
])('the failure %s is as good as status %i', (code, status) => {
  expect(hunyuanFailure?.({ Response: { Error: { Code: code, Message: 'm' } } })).toEqual({
    status,
    code,
    message: 'm',
  });
});

test('a failure within a stream is recognised, and an empty error member is ignored', () => {
  expect(hunyuanFailure?.({ ErrorMsg: { Msg: 'late', Code: 4001 } })).toEqual({
    status: 504,
    code: '4001',
    message: 'late',
  });
  expect(hunyuanFailure?.({ ErrorMsg: { Msg: '', Code: 0 } })).toBeNull();
  expect(hunyuanFailure?.({ ErrorMsg: null })).toBeNull();
});
