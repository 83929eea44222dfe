import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { UpstreamConnection, UpstreamModel } from '../../../src/application/ports/upstream-ports.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import { addressGuard } from '../../../src/outbound/address-guard.js';
import { upstreamModels } from '../../../src/relay/probes/channel-models.js';
import { providerOf, providers } from '../../../src/relay/providers/registry.js';
import { AccessTokens } from '../../../src/relay/upstream/access-tokens.js';
import { AnswerRoom } from '../../../src/relay/upstream/answer-room.js';
import { openControlClient } from '../../../src/relay/upstream/control-client.js';
import { openUpstream } from '../../../src/relay/upstream/upstream.js';
import { settableClock } from '../../support/given/fixed-clock.js';
import { refusal } from '../../support/refusal.js';
import { startUpstream, type Upstream, type UpstreamCall } from '../../support/upstreams/upstream.js';

/* What is asked of each provider that lists its models, and which names are read out of what it answers. */

let server: Upstream;
let asked: UpstreamCall[];
/** By path and query: a body to answer with, or what answers. */
let answers: Record<string, unknown>;
const upstream = openUpstream({ connections: 8, guard: null });
const room = new AnswerRoom(2 ** 30);
const clock = settableClock(Instant(Date.parse('2026-11-22T23:30:00Z')));
const key = 'sk-planted-key-0123456789';

beforeAll(async () => {
  server = await startUpstream((call, response) => {
    asked.push(call);
    const answer = answers[call.url];
    if (typeof answer === 'function') (answer as (response: ServerResponse) => void)(response);
    else if (answer === undefined) response.writeHead(404).end('{}');
    else response.writeHead(200).end(typeof answer === 'string' ? answer : JSON.stringify(answer));
  });
});
afterAll(async () => {
  await upstream.close();
  await server?.stop();
});
beforeEach(() => {
  asked = [];
  answers = {};
});

const portsWith = (patienceMs?: number, over = upstream) =>
  upstreamModels({
    clock,
    providerOf,
    authorising: {
      clock,
      sideRequests: openControlClient(over, room, patienceMs),
      accessTokens: new AccessTokens(clock),
    },
  });

const connection = (type: number, differences: Partial<UpstreamConnection> = {}): UpstreamConnection => ({
  ...{ type, baseUrl: `${server.url}/`, other: '', organization: null, key, proxy: null },
  ...differences,
});
const listOf = (type: number, differences?: Partial<UpstreamConnection>) =>
  portsWith(300).of(connection(type, differences));
const namesIn = (models: readonly UpstreamModel[]) => models.map(({ name }) => name);
const modelsOf = async (type: number, differences?: Partial<UpstreamConnection>) =>
  namesIn(await listOf(type, differences));
const listed = (...ids: readonly string[]) => ({ object: 'list', data: ids.map((id) => ({ id, object: 'model' })) });

const bearer = { authorization: `Bearer ${key}` };

/** One model cannot be asked for anything that the gateway asks. */
const cohereModels = [
  { name: 'one', endpoints: ['generate', 'chat'] },
  { name: 'classifier', endpoints: ['classify'] },
  { name: 'two', endpoints: ['embed'] },
];

const lists: readonly [type: number, path: string, headers: Record<string, string>, answer: unknown][] = [
  [1, '/v1/models', bearer, listed('one', 'two')],
  [20, '/v1/models', bearer, listed('one', 'two')],
  [3, '/openai/deployments?api-version=2023-03-15-preview', { 'api-key': key }, listed('one', 'two')],
  [34, '/v1/models?page_size=1000', bearer, { models: cohereModels, next_page_token: '' }],
  [4, '/api/tags', bearer, { models: [{ name: 'one', model: 'x' }, { name: 'two' }] }],
  [11, '/v1beta2/models', { 'x-goog-api-key': key }, { models: [{ name: 'models/one' }, { name: 'two' }] }],
  [
    14,
    '/v1/models?limit=1000',
    { 'x-api-key': key, 'anthropic-version': '2023-06-01' },
    { ...listed('one', 'two'), has_more: false, last_id: 'two' },
  ],
  [17, '/compatible-mode/v1/models', bearer, listed('one', 'two')],
  [
    24,
    '/v1beta/models?pageSize=1000',
    { 'x-goog-api-key': key },
    { models: [{ name: 'models/one' }, { name: 'models/two' }] },
  ],
  [26, '/api/paas/v4/models', bearer, listed('one', 'two')],
  [45, '/api/v3/models', bearer, listed('one', 'two')],
  [46, '/v2/models', bearer, listed('one', 'two')],
];

describe('the models of an upstream', () => {
  test.each(lists)('of type %i are requested at %s', async (type, path, headers, answer) => {
    answers[path] = answer;
    expect(await modelsOf(type)).toEqual(['one', 'two']);
    expect(asked.map(({ url }) => url)).toEqual([path]);
    expect(asked[0]?.headers).toMatchObject(headers);
    if (headers.authorization === undefined) expect(asked[0]?.headers).not.toHaveProperty('authorization');
  });

  test.each(['/v1/chat/completions', '/v1/embeddings'])(
    'of a custom channel at %j are requested at its root',
    async (end) => {
      answers['/v1/models'] = listed('one');
      expect(await modelsOf(8, { baseUrl: server.url + end })).toEqual(['one']);
    },
  );

  test.each(['', '/v1'])(
    'of a custom channel at %j are not listed: no call would reach an endpoint there',
    async (end) => {
      answers['/v1/models'] = listed('one');
      await expect(modelsOf(8, { baseUrl: server.url + end })).rejects.toMatchObject({
        details: { reason: expect.stringContaining('the whole address of an endpoint') },
      });
      expect(asked).toEqual([]);
    },
  );

  test('are requested at one version where the base URL ends with the version already', async () => {
    answers['/v1/models'] = listed('one');
    expect(await modelsOf(1, { baseUrl: `${server.url}/v1` })).toEqual(['one']);
  });

  test('of the international Zhipu are requested below the version in its address, with signed keys', async () => {
    answers['/paas/v4/models'] = listed('one');
    expect(await modelsOf(26, { baseUrl: `${server.url}/paas/v4`, key: 'id.secret' })).toEqual(['one']);
    expect(asked[0]?.headers.authorization).toMatch(/^eyJ/);
  });

  test('of Qianfan are requested with the key and the app that follows it', async () => {
    answers['/v2/models'] = listed('one');
    expect(await modelsOf(46, { key: `${key}|app-1` })).toEqual(['one']);
    expect(asked[0]?.headers).toMatchObject({ ...bearer, appid: 'app-1' });
  });

  test('of Anthropic are read page by page', async () => {
    answers['/v1/models?limit=1000'] = { ...listed('one'), has_more: true, last_id: 'one & only' };
    answers['/v1/models?limit=1000&after_id=one%20%26%20only'] = { ...listed('two'), has_more: false };
    expect(await modelsOf(14)).toEqual(['one', 'two']);
  });

  test('of Cloudflare are read page by page, by account', async () => {
    const page = (at: number) => `/client/v4/accounts/acct/ai/models/search?per_page=100&page=${at}`;
    const result_info = { total_count: 101 };
    answers[page(1)] = { result: [{ id: 'x', name: '@cf/one' }], result_info };
    answers[page(2)] = { result: [{ id: 'y', name: '@cf/two' }], result_info };
    expect(await modelsOf(39, { other: ' acct ' })).toEqual(['@cf/one', '@cf/two']);
    await expect(modelsOf(39)).rejects.toThrow(unaskable('this channel has no account id'));
  });

  test('of Gemini are read page by page', async () => {
    answers['/v1beta/models?pageSize=1000'] = { models: [{ name: 'models/one' }], nextPageToken: 'a&b' };
    answers['/v1beta/models?pageSize=1000&pageToken=a%26b'] = { models: [{ name: 'models/two' }] };
    expect(await modelsOf(24)).toEqual(['one', 'two']);
  });

  test.each<[number, string, unknown, (readonly string[] | null)[]]>([
    [
      24,
      '/v1beta/models?pageSize=1000',
      {
        models: [
          { name: 'models/a', supportedGenerationMethods: ['generateContent', 'countTokens', 'createCachedContent'] },
          { name: 'models/b', supportedGenerationMethods: ['embedContent'] },
          { name: 'models/c', supportedGenerationMethods: ['bidiGenerateContent'] },
          { name: 'models/d', supportedGenerationMethods: 'generateContent' },
        ],
      },
      [['chat', 'counting'], ['embeddings'], [], null],
    ],
    [
      20,
      '/v1/models',
      {
        data: [
          { id: 'a', architecture: { output_modalities: ['text'] } },
          { id: 'b', architecture: { output_modalities: ['image', 'text'] } },
          { id: 'c', architecture: { output_modalities: ['image'] } },
          { id: 'd', architecture: null },
        ],
      },
      [['chat', 'completions'], ['chat', 'completions'], [], null],
    ],
    [
      42,
      '/v1/models',
      {
        data: [
          { id: 'a', capabilities: { completion_chat: true, audio_transcription: true } },
          { id: 'b', capabilities: { completion_chat: false, moderation: true } },
          { id: 'c', capabilities: { completion_chat: false } },
          { id: 'd' },
        ],
      },
      [['chat', 'transcription'], ['moderation'], null, null],
    ],
    [
      34,
      '/v1/models?page_size=1000',
      {
        models: [
          { name: 'a', endpoints: ['chat', 'generate'] },
          { name: 'b', endpoints: ['embed'] },
        ],
      },
      [['chat'], ['embeddings']],
    ],
    [
      1,
      '/v1/models',
      {
        data: [
          { id: 'a', type: 'embedding' },
          { id: 'b', type: 'image' },
          { id: 'c', type: 'model' },
          { id: 'd', type: 'constructor' },
          { id: 'e', model_type: 'rerank' },
        ],
      },
      [['embeddings'], ['image-generation', 'image-edit'], null, null, ['rerank']],
    ],
  ])('of type %i say what they can be asked to do, where the list at %s says it', async (type, path, answer, modes) => {
    answers[path] = answer;
    expect((await listOf(type)).map((model) => model.modes)).toEqual(modes);
  });

  test('of Cloudflare say what they can be asked to do by the name of their task', async () => {
    answers['/client/v4/accounts/acct/ai/models/search?per_page=100&page=1'] = {
      result: [
        { name: '@cf/a', task: { name: 'Text Embeddings' } },
        { name: '@cf/b', task: { name: 'Object Detection' } },
        { name: '@cf/c', task: { name: 'Something new' } },
      ],
    };
    expect((await listOf(39, { other: 'acct' })).map(({ modes }) => modes)).toEqual([['embeddings'], [], null]);
  });

  test('are an empty list where the upstream says so', async () => {
    for (const answer of [listed(), { data: null }]) {
      answers['/v1/models'] = answer;
      expect(await modelsOf(1)).toEqual([]);
    }
  });

  test('are those that a channel can carry, without duplicates', async () => {
    const unusable = [
      '',
      ' one',
      'a,b',
      'two\nlines',
      'turned \u202eround',
      'x'.repeat(256),
      `${key}-name`,
      null,
      7,
      {},
    ];
    answers['/v1/models'] = { data: [{ id: 'one' }, ...unusable.map((id) => ({ id })), null, 'two', { id: 'one' }] };
    expect(await modelsOf(1)).toEqual(['one']);
    // A key that is a word says nothing.
    answers['/api/tags'] = { models: [{ name: 'ollama-x' }] };
    expect(await modelsOf(4, { key: 'ollama' })).toEqual(['ollama-x']);
  });

  test('are read from chunks of any size', async () => {
    const text = Buffer.from(JSON.stringify(listed('通义', 'two')));
    answers['/v1/models'] = async (response: ServerResponse) => {
      for (const byte of text) await new Promise<void>((sent) => response.write(Buffer.of(byte), () => sent()));
      response.end();
    };
    expect(namesIn(await portsWith().of(connection(1)))).toEqual(['通义', 'two']);
  });

  test('are read from the longer records of brokers', async () => {
    const data = Array.from({ length: 500 }, (_, at) => ({ id: `m${at}`, description: 'x'.repeat(3000) }));
    answers['/v1/models'] = { data };
    expect(await portsWith().of(connection(20))).toHaveLength(500);
    expect(room.bytes).toBe(0);
  });

  test('of other types are not requested', async () => {
    const without = providers.filter(({ listsModels }) => !listsModels).map(({ type }) => type);
    for (const type of [...without, 999]) await expect(modelsOf(type)).rejects.toThrow(refusal('models-not-listed'));
    expect(asked).toEqual([]);
  });
});

const unaskable = (reason: string) => refusal('models-not-askable', { reason });
const unreported = (reason: unknown) => refusal('models-not-told', { reason: reason as string });
const unreadable = (reason: unknown) => refusal('models-unreadable', { reason: reason as string });

describe('a query of an upstream’s models fails', () => {
  const answerWith = (answer: unknown) => {
    answers['/v1/models'] = answer;
    return modelsOf(1);
  };

  test.each([401, 307, 500, 204])('if the upstream answers with status %i', async (status) => {
    const elsewhere = (response: ServerResponse) => response.writeHead(status, { location: '/elsewhere' }).end('{}');
    await expect(answerWith(elsewhere)).rejects.toThrow(unreported(`status code: ${status}`));
    expect(asked).toHaveLength(1);
  });

  test.each(['', '<html>', '[]', 'null', '{"data":'])('if the upstream answers %j', (text) =>
    expect(answerWith(text)).rejects.toThrow(unreadable('the answer is no JSON object')),
  );

  test.each([{}, { data: {} }, { data: 'x' }, { models: [] }])('if the upstream says %j', (answer) =>
    expect(answerWith(answer)).rejects.toThrow(unreadable('the answer has no list as data')),
  );

  test('after a bounded wait if the answer is endless or never complete', async () => {
    const endless = (response: ServerResponse) => {
      const more = (): void => void (response.write('x'.repeat(65_536)) && setImmediate(more));
      response.on('drain', more);
      more();
    };
    await expect(answerWith(endless)).rejects.toThrow(unreported('request to upstream failed'));
    await expect(answerWith((response: ServerResponse) => void response.writeHead(200).write('{'))).rejects.toThrow(
      unreported('the upstream did not answer in time'),
    );
    expect(room.bytes).toBe(0);
  });

  test('if there are more models, or more pages, than the limit', async () => {
    await expect(answerWith(listed(...Array.from({ length: 5001 }, (_, at) => `m${at}`)))).rejects.toThrow(
      unreadable('the list has more than 5000 models'),
    );
    const again = { ...listed('one'), has_more: true, last_id: 'one' };
    answers = { '/v1/models?limit=1000': again, '/v1/models?limit=1000&after_id=one': again };
    asked = [];
    await expect(modelsOf(14)).rejects.toThrow(unreadable('the list has more than 10 pages'));
    expect(asked).toHaveLength(10);
  });

  test('if the address must not be dialled, or is missing', async () => {
    const guarded = openUpstream({ connections: 1, guard: addressGuard([], async () => []) });
    await expect(portsWith(300, guarded).of(connection(1))).rejects.toThrow(
      unreported('the address of the upstream is not allowed'),
    );
    await guarded.close();
    await expect(modelsOf(8, { baseUrl: '' })).rejects.toThrow(unaskable('this channel has no base URL'));
    expect(asked).toEqual([]);
  });

  test('if the key is not valid in a header', async () => {
    await expect(modelsOf(1, { key: '钥匙' })).rejects.toThrow(unreported('request to upstream failed'));
    expect(asked).toEqual([]);
  });
});
