import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { type FormFile, wordsOf } from '../../../src/relay/upstream/request-content.js';
import { providerOfType, usualOptions } from './golden.js';
import { address, asked, caller, channelOf, file, inline, placeOf, png, refusal } from './image-orders.js';

/* Pictures to go by, as each vendor takes them. */

describe('pictures to go by are sent', () => {
  const one = [file('image')];
  const two = [file('image'), file('image[]')];
  test.each<[string, number, string, JsonObject]>([
    ['to SiliconCloud by number', 40, 'Qwen/Qwen-Image-Edit-2509', { image: inline, image2: inline }],
    ['to Ark as a list', 45, 'doubao-seedream-4-0-250828', { image: [inline, inline] }],
    [
      'to DashScope before the words',
      17,
      'qwen-image-edit-plus',
      { input: { messages: [{ role: 'user', content: [{ image: inline }, { image: inline }, { text: 'A cat.' }] }] } },
    ],
    ['to SiliconCloud for a model of shapes', 40, 'black-forest-labs/FLUX.1-Kontext-max', { input_image: inline }],
    ['to SiliconCloud as a hint', 40, 'black-forest-labs/FLUX-1.1-pro', { image_prompt: inline }],
    ['to Qianfan for its oldest model', 46, 'ernie-irag-edit', { image: inline, feature: 'variation' }],
    [
      'to Imagen as a reference',
      41,
      'imagen-3.0-capability-001',
      {
        instances: [
          {
            prompt: 'A cat.',
            referenceImages: [
              {
                ...{ referenceType: 'REFERENCE_TYPE_RAW', referenceId: 1 },
                referenceImage: { bytesBase64Encoded: png.toString('base64') },
              },
            ],
          },
        ],
        parameters: { sampleCount: 1, personGeneration: 'allow_adult' },
      },
    ],
    ['to DashScope with an order', 17, 'wan2.5-i2i-preview', { input: { prompt: 'A cat.', images: [inline, inline] } }],
    [
      'to Gemini as data',
      24,
      'gemini-2.5-flash-image',
      {
        contents: [
          {
            role: 'user',
            parts: [
              { inlineData: { mimeType: 'image/png', data: png.toString('base64') } },
              { inlineData: { mimeType: 'image/png', data: png.toString('base64') } },
              { text: 'A cat.' },
            ],
          },
        ],
      },
    ],
  ])('%s', (_, type, model, sent) => {
    const files = /^imagen|FLUX|irag/.test(model) ? one : two;
    expect(JSON.parse(wordsOf(asked(type, { model }, files).content))).toMatchObject(sent);
  });

  test('to Qianfan at an address of their own, with what its models take beside them', () => {
    const request = asked(46, { model: 'qwen-image-edit', seed: 3, negative_prompt: 'dogs' }, two);
    expect(placeOf(request)).toBe('/v2/images/edits');
    expect(JSON.parse(wordsOf(request.content))).toEqual({
      ...{ model: 'qwen-image-edit', prompt: 'A cat.', n: 1, image: [inline, inline], seed: 3 },
      negative_prompt: 'dogs',
    });
  });

  test('to SiliconCloud with the nearest shape instead of a size', () => {
    const model = 'black-forest-labs/FLUX.1-Kontext-pro';
    const sent = JSON.parse(wordsOf(asked(40, { model, size: '1024x600' }, one).content));
    expect(sent).toEqual({ model, prompt: 'A cat.', aspect_ratio: '16:9', input_image: inline });
  });

  test('to Imagen with a mask of its own kind, and one with transparency is refused', () => {
    const model = 'imagen-3.0-capability-001';
    const plain = Buffer.from(png);
    plain[25] = 2;
    const mask = { ...file('mask'), bytes: plain };
    const { content } = asked(41, { model, n: 2, negative_prompt: 'dogs' }, [file('image'), mask]);
    const { instances, parameters } = JSON.parse(wordsOf(content));
    expect(instances[0].referenceImages[1]).toEqual({
      ...{ referenceType: 'REFERENCE_TYPE_MASK', referenceId: 2 },
      referenceImage: { bytesBase64Encoded: plain.toString('base64') },
      maskImageConfig: { maskMode: 'MASK_MODE_USER_PROVIDED' },
    });
    expect(parameters).toEqual({
      ...{ sampleCount: 2, personGeneration: 'allow_adult', editMode: 'EDIT_MODE_INPAINT_INSERTION' },
      negativePrompt: 'dogs',
    });
    const withAlpha = Buffer.from(png);
    withAlpha[25] = 6;
    expect(refusal(41, { model }, [file('image'), { ...file('mask'), bytes: withAlpha }])).toMatch(
      /^mask must be white/,
    );
  });

  test('to Cloudflare as files of a form, and are fetched where they have an address', () => {
    const model = '@cf/black-forest-labs/flux-2-klein-4b';
    const pictures = new Map([[address, { type: 'image/jpeg', data: 'QUJD' }]]);
    const partsOf = (body: JsonObject, files: readonly FormFile[] | null) => {
      const { content } = providerOfType(39).protocol.request({
        ...{ provider: providerOfType(39), channel: channelOf(39), caller: caller({ model, ...body }, files) },
        ...{ model, options: { ...usualOptions, pictures } },
      });
      return (content.kind === 'form' ? content.parts : []).map((part) =>
        'text' in part ? `${part.name}: ${part.text}` : [part.name, part.type, part.bytes.toString('base64')],
      );
    };
    expect(partsOf({ size: '1024x512', seed: 5 }, two)).toEqual([
      ...['prompt: A cat.', 'width: 1024', 'height: 512', 'seed: 5'],
      ['input_image_0', 'image/png', png.toString('base64')],
      ['input_image_1', 'image/png', png.toString('base64')],
    ]);
    expect(partsOf({ images: [address] }, null)).toEqual(['prompt: A cat.', ['input_image_0', 'image/jpeg', 'QUJD']]);
    expect(partsOf({}, null)).toEqual(['prompt: A cat.']);
    const asking = caller({ model, images: [address, inline] }, null);
    expect(providerOfType(39).protocol.pictures?.({ model, caller: asking, channel: channelOf(39) })).toEqual([
      address,
    ]);
  });

  test('to DashScope with what of them may be changed', () => {
    const { content } = asked(17, { model: 'wanx2.1-imageedit' }, [file('image'), file('mask')]);
    expect(JSON.parse(wordsOf(content)).input).toEqual({
      ...{ function: 'description_edit_with_mask', prompt: 'A cat.' },
      ...{ base_image_url: inline, mask_image_url: inline },
    });
  });

  test('to Xinference as files of a form', () => {
    const { content } = asked(47, { model: 'qwen-image-edit', n: '2' }, two);
    const parts = content.kind === 'form' ? content.parts : [];
    expect(parts.map((part) => ('text' in part ? `${part.name}: ${part.text}` : part.name))).toEqual([
      'model: qwen-image-edit',
      'prompt: A cat.',
      'n: 2',
      'response_format: b64_json',
      'image',
      'image[]',
    ]);
  });
});
