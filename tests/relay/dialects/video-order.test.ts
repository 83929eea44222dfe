import { describe, expect, test } from 'vitest';
import { videoGenerations, videos } from '../../../src/relay/dialects/openai/endpoints/videos.js';
import type { JsonObject } from '../../../src/relay/json/json.js';
import type { FormFile } from '../../../src/relay/upstream/request-content.js';

/* What can be ordered, and what it is held for. */

const names = new Set(['sora-2']);
const ordered = (body: JsonObject, endpoint = videos) => {
  const wrong = endpoint.invalid(body, null);
  if (wrong !== null) return [wrong.param, wrong.message];
  const { max } = endpoint.demand({ body, bytes: 100, model: 'sora-2', names, upload: null }).prompt;
  return [endpoint.toNeutral?.(body).body, max];
};

const prompt = 'a cat';
const pngBytes = Buffer.from('\x89PNG\r\n\x1a\n and more', 'latin1');
const dataUrl = (type: string, bytes: Buffer): string => `data:${type};base64,${bytes.toString('base64')}`;
const png = (over: Partial<FormFile> = {}): FormFile => ({
  ...{ name: 'input_reference', fileName: 'a.png', type: 'image/png', bytes: pngBytes },
  ...over,
});

describe('an order of a video', () => {
  test('gets default seconds and size where it names none, and reserves these', () =>
    expect(ordered({ model: 'sora-2', prompt })).toEqual([
      { model: 'sora-2', prompt, seconds: 4, size: '720x1280', n: 1 },
      { input: 0, 'video:720p': 4 },
    ]));

  test('of a model of Google’s has the seconds and the size that these have by default', () =>
    expect(ordered({ model: 'veo-3.1-generate-001', prompt })).toEqual([
      { model: 'veo-3.1-generate-001', prompt, seconds: 8, size: '1280x720', n: 1 },
      { input: 0, 'video:720p': 8 },
    ]));

  test.each([
    ['seconds as text', { seconds: '12', size: '1792x1024' }, { 'video:1080p': 12 }],
    ['duration, width and height', { duration: 5, width: 3840, height: 2160 }, { 'video:4k': 5 }],
    ['several videos', { seconds: 8, size: '864x480', n: 3 }, { 'video:480p': 24 }],
    ['a narrow strip of many pixels', { size: '4096x480', seconds: 1 }, { 'video:1080p': 1 }],
  ])('in %s reserves what it costs', (_name, members, held) =>
    expect(ordered({ model: 'm', prompt, ...members })[1]).toEqual({ input: 0, ...held }),
  );

  test('in the words of the one-api family carries its picture, its seed and what is not to be seen', () =>
    expect(
      ordered(
        {
          ...{
            model: 'm',
            prompt,
            duration: 5,
            width: 1280,
            height: 720,
            image: 'https://example.com/cat.png',
            seed: 7,
          },
          ...{ response_format: 'url', user: 'somebody', metadata: { negative_prompt: 'dogs' } },
        },
        videoGenerations,
      )[0],
    ).toEqual({
      ...{ model: 'm', prompt, seconds: 5, size: '1280x720', n: 1, image: 'https://example.com/cat.png' },
      ...{ seed: 7, negative_prompt: 'dogs' },
    }));

  test.each([
    ['prompt', {}, { prompt: '' }],
    ['prompt', {}, { prompt: 'x'.repeat(32_001) }],
    ['seconds', {}, { seconds: 0 }],
    ['seconds', {}, { seconds: 61 }],
    ['seconds', {}, { seconds: 2.5 }],
    ['seconds', {}, { seconds: '1e3' }],
    ['seconds', {}, { seconds: ['4', '12'] }],
    ['duration', {}, { seconds: 4, duration: 5 }],
    ['size', {}, { size: '8000x8000' }],
    ['size', {}, { size: 'large' }],
    ['height', {}, { width: 1280 }],
    ['n', {}, { n: 5 }],
    ['n', {}, { n: '2; 4' }],
    ['response_format', {}, { response_format: 'b64_json' }],
    ['resolution', {}, { resolution: '4k' }],
    ['metadata.image_tail', {}, { metadata: { image_tail: 'x' } }],
    ['input_reference.file_id', {}, { input_reference: { file_id: 'file_1' } }],
    ['input_reference.image_url', {}, { input_reference: { image_url: 'file:///etc/passwd' } }],
    ['input_reference', {}, { input_reference: 7 }],
    ['image', {}, { image: 'data:text/html;base64,AAAA' }],
    ['image', {}, { image: dataUrl('image/jpeg', pngBytes) }],
    ['input_reference.image_url', {}, { input_reference: { image_url: 'data:image/png;base64,PHN2Zy8+' } }],
    ['input_reference', {}, { input_reference: 'data:image/webp;base64,AA' }],
  ])('is refused by the name of %s where that is not allowed: %#', (param, _, members) =>
    expect(ordered({ model: 'm', prompt, ...members } as JsonObject)[0]).toBe(param),
  );

  test.each([
    ['of another type', [png({ type: 'text/html' })]],
    ['under another name', [png({ name: 'video' })]],
    ['whose first bytes are of no picture', [png({ bytes: Buffer.from('<svg onload="alert(1)"/>') })]],
    ['whose first bytes are of another type', [png({ type: 'image/webp' })]],
    ['without content', [png({ bytes: Buffer.alloc(0) })]],
    ['beside another', [png(), png()]],
    ['of more than 20 MiB', [png({ bytes: Buffer.alloc(20 * 1024 * 1024 + 1) })]],
  ])('is refused with a file %s', (_name, files) =>
    expect(videos.invalid({ model: 'm', prompt }, { files, length: null })).not.toBeNull(),
  );

  test.each([
    ['image/png', pngBytes],
    ['image/jpeg', Buffer.from('\xff\xd8\xff\xe0', 'latin1')],
    ['image/webp', Buffer.from('RIFF\x10\0\0\0WEBPVP8 ', 'latin1')],
  ])('takes a picture of type %s, as a file and as a data URL', (type, bytes) => {
    expect(videos.invalid({ model: 'm', prompt }, { files: [png({ type, bytes })], length: null })).toBeNull();
    expect(videos.invalid({ model: 'm', prompt, image: dataUrl(type, bytes) }, null)).toBeNull();
  });

  test('has all its words looked at by the filter', () =>
    expect(
      videos.promptTexts({ model: 'm', prompt, negative_prompt: 'dogs', metadata: { negative_prompt: 'birds' } }),
    ).toEqual([prompt, 'dogs', 'birds']));
});
