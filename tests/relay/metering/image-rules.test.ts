import { describe, expect, test } from 'vitest';
import { promptOf } from '../../../src/relay/dialects/anthropic/prompt.js';
import { tallyContents } from '../../../src/relay/dialects/gemini/contents.js';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { PromptTally } from '../../../src/relay/metering/prompt-tally.js';
import { inputTokens } from '../../support/given/input-tokens.js';
import { endpoints } from '../../support/upstreams/endpoints.js';

/* The first bytes of a picture: the part that states the size. */
const png = (width: number, height: number): string => {
  const bytes = Buffer.from(`89504e470d0a1a0a0000000d49484452${'00'.repeat(17)}`, 'hex');
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes.toString('base64');
};
const dataUrl = (width: number, height: number): string => `data:image/png;base64,${png(width, height)}`;

const bytesOf = (body: JsonObject): number => Buffer.byteLength(JSON.stringify(body));
const demand = (body: JsonObject, model: string, sentAs = model) =>
  inputTokens(
    endpoints.chat.demand({ body, bytes: bytesOf(body), model, names: new Set([model, sentAs]), upload: null }).prompt,
  );

const chat = (content: JsonObject[]): JsonObject => ({ messages: [{ role: 'user', content }] });

/** What a picture of this size adds, in the dialect of chat completions. */
const picture = (model: string, width: number, height: number, detail?: string, sentAs = model) => {
  const part = {
    type: 'image_url',
    image_url: { url: dataUrl(width, height), ...(detail !== undefined && { detail }) },
  };
  const [with_, without] = [demand(chat([part]), model, sentAs), demand(chat([]), model, sentAs)];
  return {
    expected: with_.expected - without.expected,
    max: with_.max,
    conservative: with_.conservative - without.conservative,
  };
};

describe('a picture is counted by its model family', () => {
  test.each([
    ['gpt-5.6', 6000, 4000, undefined, 28_200],
    ['gpt-5.6', 1600, 1600, undefined, 3_000],
    ['gpt-5.4', 1600, 1600, undefined, 3_000],
    ['gpt-5.4', 6000, 4000, undefined, 2_880],
    ['gpt-5.4', 3200, 3200, 'original', 12_000],
    ['gpt-5.4-pro', 3200, 3200, 'original', 12_000],
    ['gpt-5.5', 4032, 3024, undefined, 11_868],
    ['gpt-5.5', 1920, 1080, 'high', 2_448],
    ['gpt-6-astra', 4032, 3024, undefined, 14_364],
    ['gpt-6-astra', 4032, 3024, 'high', 2_942],
    ['gpt-6.1-sol', 1024, 1024, 'low', 308],
    ['openai/gpt-5.6-luna', 1024, 1024, undefined, 1_229],
    ['gpt-5.2', 1024, 1024, undefined, 1_229],
    ['gpt-5-mini', 1024, 1536, 'low', 2_489],
    ['gpt-4.1-mini', 1024, 1024, 'low', 1_659],
    ['gpt-5.1-codex-mini', 1024, 1024, undefined, 1_659],
    ['gpt-5.1', 1024, 1024, undefined, 630],
    ['gpt-5-2025-08-07', 1024, 1024, 'low', 70],
    ['gpt-4.1', 1024, 1024, undefined, 765],
    ['claude-haiku-4-5-20251001', 1024, 1024, undefined, 1_369],
    ['us.anthropic.claude-sonnet-4-20250514-v1:0', 4000, 4000, undefined, 1_521],
    ['claude-opus-5-5', 1920, 1080, undefined, 2_691],
    ['claude-opus-4-7@20260416', 8000, 8000, undefined, 4_761],
    ['gemini-3.8-flash', 6000, 4000, undefined, 1_120],
    ['gemini-2.5-flash', 300, 300, undefined, 258],
    ['gemini-2.5-flash', 960, 540, undefined, 1_548],
    ['grok-4', 4000, 4000, undefined, 1_792],
  ])('as %s of %d × %d in detail %s: %d', (model, width, height, detail, tokens) => {
    expect(picture(model, width, height, detail).expected).toBe(tokens);
  });
});

describe('the reported count of a picture is believed', () => {
  test.each([
    ['one of twenty-four million pixels, on a model that reads all of them', 'gpt-5.6', 6000, 4000, undefined, 28_212],
    ['one on a model that reads the original on request', 'gpt-5.4', 6000, 4000, 'original', 12_012],
    ['one in low detail, on a model that ignores the detail', 'gpt-5-mini', 3000, 3000, 'low', 2_500],
    ['one at the maximum resolution', 'gemini-3.8-flash', 3000, 3000, 'ultra_high', 2_252],
    ['one on a model of an unknown family', 'llama-4-maverick', 6000, 4000, undefined, 28_212],
    [
      'one on a model at the maximum count, under a name of its own',
      'our-vision',
      2048,
      4096,
      undefined,
      6 * 5667 + 2833,
    ],
    ['one larger than most routes accept', 'gpt-6-astra', 9000, 6000, undefined, 63_612],
  ])('as %s', (_which, model, width, height, detail, expected) => {
    expect(picture(model, width, height, detail).max).toBeGreaterThanOrEqual(expected);
  });

  test.each(['gpt-5.2', 'gpt-5.6', 'gpt-6-astra', 'claude-opus-5-5', 'gemini-3.8-flash', 'mistral-large', 'o3'])(
    'on %s where the gateway cannot see the picture, too',
    (model) => {
      const part = { type: 'image_url', image_url: { url: 'https://pictures.example/a.png' } };
      const { max } = demand(chat([part]), model);
      expect(max).toBeGreaterThanOrEqual(picture(model, 5_000, 4_000).max - dataUrl(1, 1).length);
    },
  );

  test('by the count of the model that a channel maps to', () => {
    const asked = picture('gpt-4o', 6000, 4000);
    expect(asked.max).toBeLessThan(2_000);
    expect(picture('gpt-4o', 6000, 4000, undefined, 'gpt-5.6').max).toBeGreaterThanOrEqual(28_212);
  });

  test('except beyond the maximum of the picture', () => {
    expect(picture('gpt-5.6', 1024, 1024).max).toBeLessThan(1_500);
    expect(picture('gpt-5.6', 6000, 4000, 'high').max).toBeLessThan(3_500);
  });
});

describe('a picture in every dialect', () => {
  test('has its detail beside it as well as in it', () => {
    const part = { type: 'input_image', image_url: dataUrl(3200, 3200), detail: 'original' };
    expect(demand(chat([part]), 'gpt-5.4').expected).toBeGreaterThan(12_000);
  });

  test('in Messages costs a Claude no more than its patches', () => {
    const source = { type: 'base64', media_type: 'image/png', data: png(8000, 8000) };
    const body = { messages: [{ role: 'user', content: [{ type: 'image', source }] }] };
    const { expected, max } = promptOf(body, bytesOf(body), 'claude-opus-5-5', new Set(['claude-opus-5-5']));
    expect(expected - 4_761).toBeLessThan(10);
    expect(max.input).toBeLessThan(5_500);
  });

  test.each([
    ['MEDIA_RESOLUTION_LOW', 280],
    ['MEDIA_RESOLUTION_ULTRA_HIGH', 2_240],
    [undefined, 1_120],
  ])('in a part of a Gemini request at %s counts %d', (level, tokens) => {
    const inlineData = { mimeType: 'image/png', data: png(3000, 3000) };
    const part = { inlineData, ...(level !== undefined && { mediaResolution: { level } }) };
    const tally = new PromptTally('gemini-3.8-flash', new Set());
    tallyContents(tally, [{ role: 'user', parts: [part] }]);
    expect(tally.total(0).expected).toBe(tokens + 3);
  });
});

describe('the size of a picture', () => {
  test('is found after a megabyte of profiles and previews in a JPEG', () => {
    const segment = Buffer.concat([Buffer.from('ffe2fffe', 'hex'), Buffer.alloc(0xfffc, 0x20)]);
    const frame = Buffer.from('ffc000110800000000031100', 'hex');
    frame.writeUInt16BE(1600, 5);
    frame.writeUInt16BE(1600, 7);
    const jpeg = Buffer.concat([Buffer.from('ffd8', 'hex'), ...Array(14).fill(segment), frame]);
    const part = { type: 'image_url', image_url: { url: `data:image/jpeg;base64,${jpeg.toString('base64')}` } };
    expect(demand(chat([part]), 'gpt-5.6').expected).toBeGreaterThanOrEqual(3_000);
  });

  test('is that of the picture where the screen of a GIF is smaller', () => {
    const gif = Buffer.alloc(64);
    gif.write('GIF89a');
    gif.writeUInt16LE(1, 6);
    gif.writeUInt16LE(1, 8);
    gif[10] = 0x80;
    gif.set([0x21, 0xf9, 4, 0, 0, 0, 0, 0, 0x2c], 19);
    gif.writeUInt16LE(1600, 32);
    gif.writeUInt16LE(1600, 34);
    const part = { type: 'image_url', image_url: { url: `data:image/gif;base64,${gif.toString('base64')}` } };
    expect(demand(chat([part]), 'gpt-5.6').expected).toBeGreaterThanOrEqual(3_000);
  });
});
