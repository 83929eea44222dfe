import { describe, expect, test } from 'vitest';
import { Instant } from '../../../src/domain/kernel/instant.js';
import type { AuthorisationPorts } from '../../../src/relay/contracts/authorisation.js';
import { NotConvertible } from '../../../src/relay/contracts/protocol.js';
import { isObject, type JsonObject, objectsIn, parseJson } from '../../../src/relay/json/json.js';
import { wenxinFailure } from '../../../src/relay/protocols/wenxin/answer.js';
import { AccessTokens } from '../../../src/relay/upstream/access-tokens.js';
import type { ControlAnswer } from '../../../src/relay/upstream/control-client.js';
import { wordsOf } from '../../../src/relay/upstream/request-content.js';
import { callerOf, plainChannel, providerOfType, usualOptions } from '../providers/golden.js';

/* What the golden cases of the wire do not show: its tokens, what is refused, and how failures are classified. */

const provider = providerOfType(15);
const channel = { ...plainChannel, key: 'PlantedApiKey0001|PlantedSecretKey0000000000000001' };
const user = { role: 'user', content: 'hi' };
const calculator = { type: 'function', function: { name: 'add' } };

interface Asked {
  readonly model?: string;
  readonly mode?: 'chat' | 'embeddings';
  readonly override?: JsonObject;
  readonly maxOutput?: number;
}

const request = (body: JsonObject = {}, { model = 'ERNIE-4.0-8K', mode = 'chat', override, maxOutput }: Asked = {}) => {
  const caller = callerOf(mode, { model, ...(mode === 'chat' && { messages: [user] }), ...body });
  return provider.protocol.request({
    provider,
    channel: { ...channel, paramOverride: override ?? null },
    caller: maxOutput === undefined ? caller : { ...caller, maxOutput },
    model,
    options: usualOptions,
  });
};

const sent = (...asked: Parameters<typeof request>): JsonObject => {
  const parsed = parseJson(wordsOf(request(...asked).content));
  if (!isObject(parsed)) throw new Error('no object');
  return parsed;
};

describe('the access token of Baidu', () => {
  const day = 24 * 60 * 60 * 1000;

  function ports(...answers: (JsonObject | ControlAnswer)[]) {
    const asked: string[] = [];
    const clock = { at: 0, now: () => Instant(clock.at) };
    const sideRequests = {
      post: async ({ url }: { url: string }): Promise<ControlAnswer> => {
        asked.push(url);
        const answer = answers.shift() ?? {};
        return 'ok' in answer
          ? (answer as ControlAnswer)
          : { ok: true, status: 200, body: Buffer.from(JSON.stringify(answer)) };
      },
    };
    const all = { clock, sideRequests, accessTokens: new AccessTokens(clock) } as unknown as AuthorisationPorts;
    const authorise = async (to = channel) =>
      provider.authorisation?.authorise(request(), { provider, channel: to }, all);
    return { asked, clock, authorise, all };
  }

  const url = (token: string) =>
    `https://aip.baidubce.com/rpc/2.0/ai_custom/v1/wenxinworkshop/chat/completions_pro?access_token=${token}`;
  const granted = (token: string) => ({ access_token: token, expires_in: 2_592_000 });

  test('is fetched once for calls at the same time, and used until shortly before its end', async () => {
    const { asked, clock, authorise } = ports(granted('24.a'), granted('24.b'));
    const both = await Promise.all([authorise(), authorise()]);
    for (const one of both) expect(one).toMatchObject({ ok: true, request: { url: url('24.a') } });
    clock.at = 29 * day;
    expect(await authorise()).toMatchObject({ request: { url: url('24.a') } });
    clock.at = 30 * day;
    expect(await authorise()).toMatchObject({ request: { url: url('24.b') } });
    const query =
      'grant_type=client_credentials&client_id=PlantedApiKey0001&client_secret=PlantedSecretKey0000000000000001';
    expect(asked).toEqual(Array(2).fill(`https://aip.baidubce.com/oauth/2.0/token?${query}`));
    await authorise({ ...channel, baseUrl: 'https://reseller.example' });
    expect(asked[2]).toBe(`https://aip.baidubce.com/oauth/2.0/token?${query}`);
    await authorise({ ...channel, baseUrl: 'http://127.0.0.1:8080' });
    expect(asked[3]).toBe(`http://127.0.0.1:8080/oauth/2.0/token?${query}`);
  });

  test('is fetched again after a call that was refused with it, and only then', async () => {
    const { asked, authorise, all } = ports(granted('24.a'), granted('24.b'));
    const first = await authorise();
    if (first?.ok !== true) throw new Error('not authorised');
    expect(provider.authorisation?.renew?.(first.request, channel, all)).toBe(true);
    expect(await authorise()).toMatchObject({ request: { url: url('24.b') } });
    provider.authorisation?.renew?.(first.request, channel, all);
    expect(await authorise()).toMatchObject({ request: { url: url('24.b') } });
    expect(asked).toHaveLength(2);
  });

  test.each([
    [{ error: 'invalid_client', error_description: 'unknown client id PlantedApiKey0001' }, 401],
    [{ ok: true, status: 401, body: Buffer.from('{"error":"invalid_client"}') } as const, 401],
    [{ ok: true, status: 503, body: Buffer.from('{}') } as const, 503],
    [{ nothing: true }, 502],
    [{ access_token: 'two words' }, 502],
  ])('that is not granted (%j) refuses the call without the keys', async (answer, status) => {
    const refused = await ports(answer).authorise();
    expect(refused).toMatchObject({ ok: false, refusal: { status } });
    expect(JSON.stringify(refused)).not.toContain('Planted');
  });

  test.each(['one', 'a|b|c', '|b', 'a|'])('cannot be fetched with the key %s', async (wrong) => {
    await expect(ports().authorise({ ...channel, key: wrong })).rejects.toThrow(NotConvertible);
    expect(provider.keyForm?.pattern.test(wrong)).toBe(false);
  });

  test('is fetched from Baidu also for a channel with a base URL, apart from those of other channels', async () => {
    const { asked, authorise } = ports(granted('24.a'), granted('24.b'));
    await authorise({ ...channel, baseUrl: 'https://wenxin.example' });
    await authorise();
    expect(asked.map((one) => new URL(one).host)).toEqual(Array(2).fill('aip.baidubce.com'));
  });
});

test.each([
  ['ERNIE-Bot-turbo', 'chat/eb-instant'],
  ['ERNIE-3.5-128K', 'chat/ernie-3.5-128k'],
  ['ERNIE-Character-8K', 'chat/ernie-char-8k'],
  ['a/../b?x', 'chat/a%2F..%2Fb%3Fx'],
])('the model %s is called at %s', (model, path) => {
  expect(request({}, { model }).url).toBe(`https://aip.baidubce.com/rpc/2.0/ai_custom/v1/wenxinworkshop/${path}`);
});

describe('a request to Wenxin', () => {
  const called = { role: 'assistant', tool_calls: [{ id: 'a', function: { name: 'add' } }] };

  test.each([
    [{ n: 2 }, 'n: '],
    [{ response_format: { type: 'json_schema', json_schema: {} } }, 'response_format: '],
    [{ tools: [calculator], tool_choice: 'required' }, 'tool_choice: '],
    [{ messages: [{ role: 'user', content: [{ type: 'image_url' }] }] }, 'messages[0].content[0]: '],
    [{ messages: [user, called, user] }, 'messages[1].tool_calls: '],
    [{ messages: [user, called] }, 'messages[1].tool_calls: '],
    [{ messages: [{ role: 'tool', tool_call_id: 'a', content: 'x' }] }, 'messages[0].tool_call_id '],
    [{ messages: [user, { role: 'assistant', content: 'x' }] }, 'messages: the last one'],
  ] satisfies [JsonObject, string][])('with %j is refused by name', (body, named) => {
    expect(() => request(body)).toThrow(named);
  });

  test('for vectors of a chosen length is refused by name', () => {
    expect(() => request({ input: 'x', dimensions: 384 }, { mode: 'embeddings' })).toThrow('dimensions: ');
  });

  test('alternates between user and assistant, whatever comes twice or first', () => {
    const messages = [
      { role: 'assistant', content: 'A' },
      { role: 'assistant', content: '' },
      { role: 'user', content: '' },
      { role: 'user', content: 'B' },
    ];
    expect(objectsIn(sent({ messages }).messages).map(({ role, content }) => [role, content])).toEqual([
      ['user', '...'],
      ['assistant', 'A'],
      ['user', 'B'],
    ]);
  });

  test('offers no functions where none may be called', () => {
    expect(sent({ tools: [calculator], tool_choice: 'none' }).functions).toBeUndefined();
  });

  test('keeps the limit of its reservation, whatever an operator overrides', () => {
    expect(sent({ max_tokens: 500 }, { maxOutput: 100 }).max_output_tokens).toBe(100);
    expect(sent({}, { maxOutput: 100, override: { max_output_tokens: 500 } }).max_output_tokens).toBe(100);
    expect(sent({ disable_search: true, enable_citation: false })).toMatchObject({
      disable_search: true,
      enable_citation: false,
    });
    expect(() => sent({ disable_search: 'yes' })).toThrow('disable_search must be true or false');
    expect(sent({}, { override: { max_output_tokens: 50, disable_search: true } })).toMatchObject({
      max_output_tokens: 50,
      disable_search: true,
    });
  });

  test.each([
    [0, 0.01],
    [0.5, 0.5],
    [1.9, 1],
  ])('with the temperature %j has %j', (asked, taken) => expect(sent({ temperature: asked }).temperature).toBe(taken));

  test.each([
    [0.5, undefined],
    [1, 1],
    [2.5, undefined],
  ])('with the penalty %j has %j', (asked, taken) =>
    expect(sent({ frequency_penalty: asked }).penalty_score).toBe(taken),
  );
});

test.each([
  [1, 502],
  [2, 502],
  [4, 429],
  [6, 403],
  [18, 429],
  [100, 401],
  [110, 401],
  [111, 401],
  [336000, 502],
  [336003, 400],
  [336100, 429],
  [336103, 400],
  [336501, 429],
])('the failure %i is as good as status %i', (code, status) => {
  expect(wenxinFailure?.({ error_code: code, error_msg: 'm' })).toEqual({ status, code: String(code), message: 'm' });
});

test('a number that reports no failure is ignored', () => {
  expect(wenxinFailure?.({ error_code: 0, error_msg: '' })).toBeNull();
  expect(wenxinFailure?.({})).toBeNull();
});
