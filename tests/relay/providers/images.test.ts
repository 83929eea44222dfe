import { describe, expect, test } from 'vitest';
import type { Answer } from '../../../src/relay/contracts/protocol.js';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { wordsOf } from '../../../src/relay/upstream/request-content.js';
import { plainChannel, providerOfType } from './golden.js';
import { address, asked, caller, channelOf, inline, placeOf, png, refusal } from './image-orders.js';

/* Pictures of vendors that have words of their own: what is asked, and what is read of their answers. */

describe('pictures are requested', () => {
  test.each<[string, number, JsonObject, string, JsonObject]>([
    [
      'at Zhipu',
      26,
      { model: 'cogview-4', size: '1440x720', quality: 'high', user: 'user-1' },
      '/api/paas/v4/images/generations',
      { model: 'cogview-4', prompt: 'A cat.', size: '1440x720', quality: 'hd', user_id: 'user-1' },
    ],
    [
      'at Zhipu in the one quality of a model',
      26,
      { model: 'glm-image', quality: 'low', user: 'short' },
      '/api/paas/v4/images/generations',
      { model: 'glm-image', prompt: 'A cat.', quality: 'hd' },
    ],
    [
      'at SiliconCloud, several at once',
      40,
      { model: 'Kwai-Kolors/Kolors', n: 3, negative_prompt: 'dogs', seed: 7 },
      '/v1/images/generations',
      {
        ...{ model: 'Kwai-Kolors/Kolors', prompt: 'A cat.', image_size: '1024x1024', batch_size: 3 },
        ...{ negative_prompt: 'dogs', seed: 7 },
      },
    ],
    [
      'at Ark as a group',
      45,
      { model: 'doubao-seedream-4-0-250828', n: 2, size: '2048x2048', response_format: 'b64_json' },
      '/api/v3/images/generations',
      {
        ...{ model: 'doubao-seedream-4-0-250828', prompt: 'A cat.', size: '2048x2048', response_format: 'b64_json' },
        ...{ sequential_image_generation: 'auto', sequential_image_generation_options: { max_images: 2 } },
      },
    ],
    [
      'at Qianfan',
      46,
      { model: 'irag-1.0', n: 2, size: '1024x768', user: 'u' },
      '/v2/images/generations',
      { model: 'irag-1.0', prompt: 'A cat.', n: 2, size: '1024x768', user: 'u' },
    ],
    [
      'at Xinference, which has no addresses',
      47,
      { model: 'sdxl', n: 2, size: '512x512', seed: 3, response_format: 'url' },
      '/v1/images/generations',
      {
        ...{ model: 'sdxl', prompt: 'A cat.', n: 2, size: '512x512', response_format: 'b64_json' },
        kwargs: '{"seed":3}',
      },
    ],
    [
      'at DashScope by an order',
      17,
      { model: 'wanx-v1', n: 4, size: '1024x720', negative_prompt: 'dogs', seed: 5 },
      '/api/v1/services/aigc/text2image/image-synthesis',
      {
        model: 'wanx-v1',
        input: { prompt: 'A cat.', negative_prompt: 'dogs' },
        parameters: { n: 4, size: '1024*720', seed: 5 },
      },
    ],
    [
      'at DashScope by a conversation',
      17,
      { model: 'qwen-image-plus', size: '1664x928', negative_prompt: 'dogs' },
      '/api/v1/services/aigc/multimodal-generation/generation',
      {
        model: 'qwen-image-plus',
        input: { messages: [{ role: 'user', content: [{ text: 'A cat.' }] }] },
        parameters: { n: 1, size: '1664*928', negative_prompt: 'dogs' },
      },
    ],
    [
      'at Cloudflare',
      39,
      { model: '@cf/leonardo/lucid-origin', size: '1024x768', seed: 2 },
      '/client/v4/accounts/account/ai/run/@cf/leonardo/lucid-origin',
      { model: '@cf/leonardo/lucid-origin', prompt: 'A cat.', width: 1024, height: 768, seed: 2 },
    ],
    [
      'of Imagen by predictions',
      24,
      { model: 'imagen-4.0-generate-001', n: 4, size: '2816x1536', output_format: 'jpeg', output_compression: 80 },
      '/v1beta/models/imagen-4.0-generate-001:predict',
      {
        instances: [{ prompt: 'A cat.' }],
        parameters: {
          ...{ sampleCount: 4, personGeneration: 'allow_adult', aspectRatio: '16:9', sampleImageSize: '2K' },
          outputOptions: { mimeType: 'image/jpeg', compressionQuality: 80 },
        },
      },
    ],
  ])('%s', (_, type, body, path, sent) => {
    const request = asked(type, body);
    expect([request.method, placeOf(request)]).toEqual(['POST', path]);
    expect(JSON.parse(wordsOf(request.content))).toEqual(sent);
    expect(request.headers.accept).toBe('application/json');
  });

  test.each([24, 41])('of Gemini’s models of type %i by shape and resolution', (type) => {
    const request = asked(type, { model: 'gemini-3-pro-image-preview', size: '1536x1024' });
    expect(placeOf(request)).toMatch(/models\/gemini-3-pro-image-preview:generateContent$/);
    expect(JSON.parse(wordsOf(request.content))).toMatchObject({
      contents: [{ role: 'user', parts: [{ text: 'A cat.' }] }],
      generationConfig: { responseModalities: ['IMAGE'], imageConfig: { aspectRatio: '3:2' } },
    });
    const large = asked(type, { model: 'gemini-3-pro-image-preview', size: '4096x4096' });
    expect(JSON.parse(wordsOf(large.content)).generationConfig.imageConfig).toEqual({
      ...{ aspectRatio: '1:1', imageSize: '4K' },
    });
  });

  test('with a header by which DashScope takes an order', () => {
    expect(asked(17, { model: 'wan2.5-t2i-preview' }).headers['x-dashscope-async']).toBe('enable');
    expect(asked(17, { model: 'wan2.6-t2i' }).headers['x-dashscope-async']).toBeUndefined();
  });
});

describe('parameters of an operator', () => {
  const override: JsonObject = {
    ...{ n: 4, batch_size: 4, size: '4096x4096', quality: 'high', resolution: '2k', watermark: false },
    parameters: { n: 4, sampleCount: 4, size: '2048*2048', watermark: false },
    generationConfig: { candidateCount: 4, image_config: { imageSize: '4K' }, topK: 1 },
    sequential_image_generation_options: { max_images: 4 },
  };

  test.each<[number, string]>([
    [1, 'gpt-image-1'],
    [17, 'wanx-v1'],
    [24, 'gemini-3-pro-image-preview'],
    [24, 'imagen-4.0-generate-001'],
    [40, 'Kwai-Kolors/Kolors'],
    [45, 'doubao-seedream-4-0-250828'],
    [48, 'grok-imagine-image'],
  ])('change nothing of what the pictures cost by (type %i, %s)', (type, model) => {
    const body = { model, size: '1024x1024', quality: 'low' };
    const plain = JSON.parse(wordsOf(asked(type, body).content));
    const sent = JSON.parse(wordsOf(asked(type, body, null, override).content));
    expect(sent).toMatchObject(plain);
    const others = JSON.stringify({ ...sent, parameters: { ...sent.parameters, ...plain.parameters } });
    expect(others).not.toMatch(/:4\b|4096|2k|4K|"high"|2048\*/);
    expect([sent.watermark, sent.parameters.watermark, sent.generationConfig.topK]).toEqual([false, false, 1]);
  });

  test('take no object of the order away', () => {
    const body = { model: 'wanx-v1', n: 2 };
    expect(JSON.parse(wordsOf(asked(17, body, null, { parameters: null }).content)).parameters).toEqual({ n: 2 });
  });
});

describe('what a vendor cannot do is refused by name', () => {
  test.each<[string, number, JsonObject]>([
    ['n', 26, { model: 'cogview-4', n: 2 }],
    ['n', 17, { model: 'qwen-image', n: 2 }],
    ['n', 24, { model: 'gemini-2.5-flash-image', n: 2 }],
    ['n', 24, { model: 'imagen-4.0-generate-001', n: 5 }],
    ['n', 39, { model: '@cf/black-forest-labs/flux-1-schnell', n: 2 }],
    ['n', 40, { model: 'Qwen/Qwen-Image', n: 2 }],
    ['n', 45, { model: 'doubao-seedream-3-0-t2i-250415', n: 2 }],
    ['n', 46, { model: 'irag-1.0', n: 5 }],
    ['size', 39, { model: '@cf/black-forest-labs/flux-1-schnell', size: '512x512' }],
    ['background', 26, { model: 'cogview-4', background: 'transparent' }],
    ['output_format', 26, { model: 'cogview-4', output_format: 'webp' }],
    ['output_format', 45, { model: 'doubao-seedream-4-0-250828', output_format: 'png' }],
    ['output_format', 24, { model: 'imagen-4.0-generate-001', output_format: 'webp' }],
    ['seed', 24, { model: 'gemini-2.5-flash-image', seed: 1 }],
    ['negative_prompt', 46, { model: 'irag-1.0', negative_prompt: 'dogs' }],
    ['image', 24, { model: 'imagen-4.0-generate-001', images: [address] }],
    ['image', 17, { model: 'wanx2.1-t2i-turbo', images: [address] }],
    ['image', 40, { model: 'Qwen/Qwen-Image-Edit', images: [address, address, address, address] }],
    ['image', 41, { model: 'imagen-3.0-capability-001', images: [address, address] }],
    ['image', 40, { model: 'black-forest-labs/FLUX.1-Kontext-max', images: [address, address] }],
    ['image', 46, { model: 'qwen-image-edit', images: [address, address, address, address] }],
    ['mask', 46, { model: 'qwen-image-edit', images: [address], mask: address }],
    ['image', 39, { model: '@cf/leonardo/lucid-origin', images: [inline] }],
    ['image', 39, { model: '@cf/black-forest-labs/flux-2-dev', images: [inline, inline, inline, inline, inline] }],
    ['images', 47, { model: 'qwen-image-edit', images: [address] }],
    ['mask', 45, { model: 'doubao-seedream-4-0-250828', images: [address], mask: address }],
  ])('%s (type %i)', (name, type, body) => {
    expect(refusal(type, body)).toMatch(new RegExp(`^${name}\\b`));
  });

  test('while hints that promise nothing are left out', () => {
    expect(refusal(26, { model: 'cogview-4', style: 'vivid', moderation: 'low', background: 'opaque' })).toBe('');
  });
});

function answered(
  type: number,
  model: string,
  said: JsonObject | Buffer,
  asked: JsonObject = {},
  status = 200,
): Answer {
  const provider = providerOfType(type);
  return provider.protocol.answer({
    ...{ provider, channel: channelOf(type), caller: caller({ model, ...asked }, null), status },
    headers: { 'content-type': Buffer.isBuffer(said) ? 'image/png' : 'application/json' },
    body: Buffer.isBuffer(said) ? said : Buffer.from(JSON.stringify(said)),
    info: { callId: 'call-1', model, createdAt: 1_760_000_000 },
  });
}

const done = (results: readonly JsonObject[]): JsonObject => ({ output: { task_status: 'SUCCEEDED', results } });
const drawn = (parts: readonly JsonObject[], more: JsonObject = {}): JsonObject => ({
  candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }],
  ...more,
});
const data = { inlineData: { mimeType: 'image/png', data: 'AAAA' } };

describe('an answer with pictures', () => {
  test.each<[string, number, string, JsonObject | Buffer, JsonObject[]]>([
    ['of Zhipu', 26, 'cogview-4', { created: 1, data: [{ url: address }], content_filter: [] }, [{ url: address }]],
    ['of SiliconCloud', 40, 'Kwai-Kolors/Kolors', { images: [{ url: address }], seed: 1 }, [{ url: address }]],
    [
      'of SiliconCloud under two names',
      40,
      'Kwai-Kolors/Kolors',
      { images: [{ url: address }], data: [{ url: address }] },
      [{ url: address }],
    ],
    [
      'of Ark, of which one was refused',
      45,
      'doubao-seedream-4-0-250828',
      {
        data: [
          { url: address, size: '2048x2048' },
          { error: { code: 'OutputImageSensitiveContentDetected', message: 'no' } },
        ],
        usage: { generated_images: 1, output_tokens: 16_384, total_tokens: 16_384 },
      },
      [{ url: address }],
    ],
    ['of Qianfan', 46, 'irag-1.0', { id: 'as-1', created: 2, data: [{ url: address }] }, [{ url: address }]],
    [
      'of DashScope for an order',
      17,
      'wanx-v1',
      done([
        { url: address, actual_prompt: 'A large cat.' },
        { code: 'InternalError', message: 'no' },
      ]),
      [{ url: address, revised_prompt: 'A large cat.' }],
    ],
    [
      'of DashScope in a conversation',
      17,
      'qwen-image-plus',
      {
        output: { choices: [{ finish_reason: 'stop', message: { role: 'assistant', content: [{ image: address }] } }] },
      },
      [{ url: address }],
    ],
    ['of Cloudflare in JSON', 39, '@cf/a/b', { success: true, result: { image: 'AAAA' } }, [{ b64_json: 'AAAA' }]],
    ['of Cloudflare as it is', 39, '@cf/a/b', png, [{ b64_json: png.toString('base64') }]],
    [
      'of Imagen, of which one was withheld',
      24,
      'imagen-4.0-generate-001',
      { predictions: [{ bytesBase64Encoded: 'AAAA', mimeType: 'image/png' }, { raiFilteredReason: 'violence' }] },
      [{ b64_json: 'AAAA' }],
    ],
    [
      'of Gemini, but for what it drew while it thought',
      24,
      'gemini-3-pro-image-preview',
      drawn([{ ...data, thought: true }, { text: 'Here it is.' }, data]),
      [{ b64_json: 'AAAA' }],
    ],
  ])('%s is put into OpenAI’s words', (_, type, model, said, pictures) => {
    const answer = answered(type, model, said);
    if (!answer.ok) throw new Error(answer.error.message);
    expect(answer.body).toEqual({ created: 1_760_000_000, data: pictures });
    expect(answer.usage).toEqual({ images: pictures.length });
  });

  test('of Gemini has the tokens that it reports', () => {
    const usageMetadata = {
      ...{ promptTokenCount: 5, candidatesTokenCount: 1_290, thoughtsTokenCount: 20, totalTokenCount: 1_315 },
      candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1_290 }],
    };
    expect(answered(24, 'gemini-2.5-flash-image', drawn([data], { usageMetadata }))).toMatchObject({
      usage: { input: 5, imageOutput: 1_290, reasoning: 20, images: 1 },
    });
  });

  test('by address is put into the answer where that is wanted, as far as it can be fetched', () => {
    const said = { images: [{ url: address }, { url: 'https://files.example/2.png' }] };
    const answer = answered(40, 'Kwai-Kolors/Kolors', said, { n: 2, response_format: 'b64_json' });
    if (!answer.ok || answer.named === undefined) throw new Error('nothing is to be fetched');
    expect(answer.named.addresses).toEqual([address, 'https://files.example/2.png']);
    const fetched = new Map([[address, { type: 'image/png', data: 'AAAA' }]]);
    expect(answer.named.inlined(fetched).data).toEqual([{ b64_json: 'AAAA' }, { url: 'https://files.example/2.png' }]);
    expect(answered(40, 'Kwai-Kolors/Kolors', said, { n: 2 })).not.toHaveProperty('named');
  });
});

describe('a large picture in base64', () => {
  const large = 'A'.repeat(100_000);

  test.each<[number, string, JsonObject | Buffer]>([
    [24, 'gemini-2.5-flash-image', drawn([{ inlineData: { mimeType: 'image/png', data: large } }])],
    [24, 'imagen-4.0-generate-001', { predictions: [{ bytesBase64Encoded: large }] }],
    [39, '@cf/a/b', { result: { image: large } }],
    [39, '@cf/a/b', Buffer.from(large, 'base64')],
    [45, 'doubao-seedream-4-0-250828', { data: [{ b64_json: large }] }],
  ])('is not parsed, and reaches its caller (type %i, %s)', (type, model, said) => {
    const answer = answered(type, model, said);
    if (!answer.ok) throw new Error(answer.error.message);
    expect(JSON.stringify(answer.body).length).toBeLessThan(1_000);
    const asked = caller({ model }, null);
    const written = asked.dialect.whole(answer, asked, channelOf(type)).toString('utf8');
    expect(JSON.parse(written).data).toEqual([{ b64_json: large }]);
  });
});

describe('an answer without pictures', () => {
  test.each<[string, number, string, JsonObject, number]>([
    [
      'reports the reason',
      45,
      'doubao-seedream-4-0-250828',
      { data: [{ error: { code: 'SensitiveContent', message: 'no' } }] },
      400,
    ],
    [
      'reports why the picture was withheld',
      24,
      'imagen-4.0-generate-001',
      { predictions: [{ raiFilteredReason: 'violence' }] },
      400,
    ],
    [
      'is a refusal of the order',
      24,
      'gemini-2.5-flash-image',
      { candidates: [{ finishReason: 'IMAGE_SAFETY' }] },
      400,
    ],
    ['is a failure where it has words instead', 24, 'gemini-2.5-flash-image', drawn([{ text: 'I cannot.' }]), 502],
    [
      'is a failure where it has nothing',
      24,
      'gemini-2.5-flash-image',
      { candidates: [{ finishReason: 'NO_IMAGE' }] },
      502,
    ],
    ['is a failure where its list is empty', 26, 'cogview-4', { data: [] }, 502],
    ['has a number for its reason', 26, 'cogview-4', { error: { code: '1301', message: 'no' } }, 400],
    [
      'says that an order failed',
      17,
      'wanx-v1',
      { output: { task_status: 'FAILED', code: 'DataInspectionFailed', message: 'no' } },
      400,
    ],
    ['says that a model is busy', 39, '@cf/a/b', { success: false, errors: [{ code: 3040, message: 'busy' }] }, 429],
  ])('%s (type %i, %s)', (_, type, model, said, status) => {
    expect(answered(type, model, said)).toMatchObject({ ok: false, error: { status } });
  });
});

describe('an order that DashScope has taken', () => {
  const taken = (output: JsonObject): Answer => answered(17, 'wanx-v1', { output, request_id: 'r' });

  test('is requested at its address, with the key of its channel', () => {
    const answer = taken({ task_id: 'task-1', task_status: 'PENDING' });
    expect(answer).toMatchObject({
      ...{ ok: false, costUnknown: true },
      later: {
        request: {
          ...{ method: 'GET', url: 'https://dashscope.aliyuncs.com/api/v1/tasks/task-1' },
          headers: { authorization: `Bearer ${plainChannel.key}` },
        },
      },
    });
  });

  test.each<[string, JsonObject]>([
    ['has no id', { task_status: 'PENDING' }],
    ['has an id that leads elsewhere', { task_id: '../../files', task_status: 'RUNNING' }],
    ['is unknown to it', { task_id: 'task-1', task_status: 'UNKNOWN' }],
  ])('and %s is not requested, and may cost', (_, output) => {
    const answer = taken(output);
    expect(answer).toMatchObject({ ok: false, costUnknown: true });
    expect(answer).not.toHaveProperty('later');
  });

  test('and has finished without a picture costs nothing where a reason is reported, and may cost otherwise', () => {
    const refused = { task_status: 'SUCCEEDED', results: [{ code: 'DataInspectionFailed', message: 'no' }] };
    expect(taken(refused)).toMatchObject({ ok: false, orderFailed: true, error: { status: 400, message: 'no' } });
    expect(taken(refused)).not.toHaveProperty('costUnknown');
    for (const results of [[], [null], [{ url: {} }], {}])
      expect(taken({ task_status: 'SUCCEEDED', results })).toMatchObject({ orderFailed: true, costUnknown: true });
  });

  test.each(['FAILED', 'CANCELED'])('and is %s costs nothing', (status) => {
    expect(taken({ task_id: 'task-1', task_status: status })).toMatchObject({ ok: false, orderFailed: true });
  });
});
