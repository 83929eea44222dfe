import { describe, expect, test } from 'vitest';
import {
  builtInCacheRatio,
  builtInCacheWriteRatio,
  builtInCompletionRatio,
  builtInImageRatio,
  builtInModelPrice,
  builtInModelRatio,
} from '../../../src/domain/pricing/built-in/default-prices.js';
import {
  billedName,
  completionRatioOf,
  groupRatioOf,
  isPriced,
  type PriceTables,
  priceOf,
  ratioTable,
} from '../../../src/domain/pricing/price-tables.js';

const table = (entries: Record<string, string>) => new Map(Object.entries(entries));

const tables = (changed: Partial<PriceTables> = {}): PriceTables => ({
  records: new Map(),
  modelRatio: table({ 'my-model': '1.5' }),
  modelPrice: new Map(),
  completionRatio: new Map(),
  cacheRatio: new Map(),
  cacheWriteRatio: new Map(),
  imageRatio: new Map(),
  imageOutputRatio: new Map(),
  audioRatio: new Map(),
  audioOutputRatio: new Map(),
  contextTiers: new Map(),
  serviceTiers: new Map(),
  reasoningRatio: new Map(),
  groupRatio: table({ default: '1', vip: '0.8' }),
  toolPrice: new Map(),
  quotaPerUnit: '500000',
  ...changed,
});

describe('the completion ratio is resolved in this order', () => {
  test("for a name with a slash: the operator's entry before every rule", () => {
    const own = tables({ completionRatio: table({ 'openai/o1': '9', 'gpt-4o': '9' }) });
    expect(completionRatioOf(own, 'openai/o1')).toStrictEqual({ ratio: '9', locked: false });
    const slashedFamily = tables({ completionRatio: table({ 'gpt-4o/x': '9' }) });
    expect(completionRatioOf(slashedFamily, 'gpt-4o/x')).toStrictEqual({ ratio: '9', locked: false });
  });
  test('for a name with a slash but no entry: the rules', () =>
    expect(completionRatioOf(tables(), 'gpt-4o/x')).toStrictEqual({ ratio: '4', locked: true }));
  test("with a locked rule: before the operator's entry", () =>
    expect(completionRatioOf(tables({ completionRatio: table({ 'gpt-4o': '9' }) }), 'gpt-4o')).toStrictEqual({
      ratio: '4',
      locked: true,
    }));
  test("with the operator's entry: before an open rule", () =>
    expect(completionRatioOf(tables({ completionRatio: table({ 'gpt-4': '9' }) }), 'gpt-4')).toStrictEqual({
      ratio: '9',
      locked: false,
    }));
  test('with an open rule: where there is no entry', () =>
    expect(completionRatioOf(tables(), 'gpt-4')).toStrictEqual({ ratio: '2', locked: false }));
  test('with neither: 1', () =>
    expect(completionRatioOf(tables(), 'my-model')).toStrictEqual({ ratio: '1', locked: false }));
});

describe('the price of a model for a group', () => {
  test('is per token with every ratio by the name of its quantity', () =>
    expect(
      priceOf(
        tables({
          completionRatio: table({ 'my-model': '3' }),
          cacheRatio: table({ 'my-model': '0.5' }),
          cacheWriteRatio: table({ 'my-model': '2' }),
          imageRatio: table({ 'my-model': '4' }),
          reasoningRatio: table({ 'my-model': '5' }),
        }),
        'my-model',
        'vip',
        false,
      ),
    ).toStrictEqual({
      per: 'token',
      model: '1.5',
      ratios: {
        output: '3',
        cachedInput: '0.5',
        cacheWrite: '2',
        cacheWriteHour: '3.2',
        imageInput: '4',
        reasoning: '5',
      },
      group: '0.8',
    }));

  test('is per token without entries: cache writes 1.25, everything else like plain tokens of its direction', () =>
    expect(
      priceOf(tables({ completionRatio: table({ 'my-model': '3' }) }), 'my-model', 'default', false),
    ).toStrictEqual({
      per: 'token',
      model: '1.5',
      ratios: { output: '3', cacheWrite: '1.25', cacheWriteHour: '2' },
      group: '1',
    }));

  test.each([
    ['gpt-4o-audio-preview', '40', '80'],
    ['gpt-4o-audio-preview-2024-12-17', '16', '32'],
    ['gpt-4o-mini-audio-preview', '66.666666666667', '133.333333333334'],
    ['gpt-4o-realtime-preview', '20', '40'],
    ['gpt-4o-realtime-preview-2024-12-17', '8', '16'],
    ['gpt-4o-mini-realtime-preview-2024-12-17', '16.666666666667', '33.333333333334'],
  ])('is per token of audio by families of names: %s', (model, audioInput, audioOutput) =>
    expect(priceOf(tables(), model, 'default', true)).toMatchObject({ ratios: { audioInput, audioOutput } }),
  );

  test('is per token of audio by the price list of the model, where it has one', () => {
    const listed = { audioRatio: table({ 'gpt-audio': '12.8' }), audioOutputRatio: table({ 'gpt-audio': '25.6' }) };
    expect(priceOf(tables(listed), 'gpt-audio', 'default', true)).toMatchObject({
      ratios: { audioInput: '12.8', audioOutput: '25.6' },
    });
    expect(priceOf(tables(listed), 'qwen-audio-turbo', 'default', true)).not.toHaveProperty('ratios.audioInput');
  });

  test('is per call before per token, at price 0 too', () => {
    const both = tables({ modelPrice: table({ 'my-model': '0' }) });
    expect(priceOf(both, 'my-model', 'vip', false)).toStrictEqual({
      per: 'call',
      price: '0',
      quotaPerUnit: '500000',
      group: '0.8',
    });
  });

  test('counts a group without a ratio as 1', () => {
    expect(groupRatioOf(tables(), 'nowhere')).toBe('1');
    expect(priceOf(tables(), 'my-model', 'nowhere', false)).toMatchObject({ group: '1' });
  });

  test('is missing for a model without a price, unless such models are accepted: then the maximum ratio', () => {
    expect(isPriced(tables(), 'unknown')).toBe(false);
    expect(priceOf(tables(), 'unknown', 'default', false)).toBeNull();
    expect(priceOf(tables(), 'unknown', 'default', true)).toMatchObject({ per: 'token', model: '37.5' });
  });

  test('is free at a ratio of 0, and not missing', () => {
    const free = tables({ modelRatio: table({ 'glm-4-flash': '0' }) });
    expect(isPriced(free, 'glm-4-flash')).toBe(true);
    expect(priceOf(free, 'glm-4-flash', 'default', false)).toMatchObject({ model: '0' });
  });

  test('has one shared entry for custom assistants', () => {
    expect(billedName('gpt-4-gizmo-g-abc')).toBe('gpt-4-gizmo-*');
    expect(billedName('gpt-4o-gizmo-g-abc')).toBe('gpt-4o-gizmo-*');
    expect(billedName('gpt-4o')).toBe('gpt-4o');
    expect(billedName('gpt-4-gizmo-*')).toBe('gpt-4-gizmo-*');
    const gizmo = tables({
      modelRatio: table({ 'gpt-4o-gizmo-*': '2.5' }),
      completionRatio: table({ 'gpt-4o-gizmo-*': '3' }),
      modelPrice: table({ 'gpt-4-gizmo-*': '0.1' }),
    });
    expect(isPriced(gizmo, 'gpt-4-gizmo-g-abc')).toBe(true);
    expect(priceOf(gizmo, 'gpt-4-gizmo-g-abc', 'default', false)).toMatchObject({ per: 'call', price: '0.1' });
    expect(priceOf(gizmo, 'gpt-4o-gizmo-g-abc', 'default', false)).toMatchObject({
      ...{ model: '2.5', ratios: { output: '3' } },
    });
  });

  test.each([
    'gpt-4-gizmo-../../../admin?x=1#',
    'gpt-4-gizmo-a/b',
    'gpt-4-gizmo-a b',
    `gpt-4-gizmo-${'x'.repeat(200)}`,
  ])('treats %s as no custom assistant: the name is a plain word', (model) => expect(billedName(model)).toBe(model));
});

test('numbers are converted to their shortest decimal texts', () =>
  expect(ratioTable({ a: 0.1, b: 15, c: 1e-7, d: 8.219178082192 })).toStrictEqual(
    table({ a: '0.1', b: '15', c: '0.0000001', d: '8.219178082192' }),
  ));

describe('the built-in prices', () => {
  const ratios: Record<number, readonly string[]> = {
    0.01: ['text-embedding-3-small'],
    0.05: ['gemini-2.0-flash'],
    0.075: ['gpt-4o-mini'],
    0.125: ['claude-3-haiku-20240307'],
    0.135: ['deepseek-chat'],
    0.25: ['gpt-3.5-turbo'],
    0.275: ['deepseek-reasoner'],
    0.5: ['claude-3-5-haiku-20241022'],
    0.55: ['o1-mini', 'o3-mini'],
    0.625: ['gemini-2.5-pro-preview-03-25'],
    1: ['grok-2'],
    1.25: ['gpt-4o'],
    1.5: [
      'claude-3-5-sonnet-20240620',
      'claude-3-5-sonnet-20241022',
      'claude-3-7-sonnet-20250219',
      'claude-3-7-sonnet-20250219-thinking',
    ],
    2.5: ['chatgpt-4o-latest', 'gpt-4o-realtime-preview', 'gpt-4o-gizmo-*'],
    5: ['gpt-4-turbo'],
    7.5: ['o1', 'claude-3-opus-20240229', 'tts-1'],
    15: ['gpt-4', 'whisper-1', 'gpt-4-gizmo-*'],
    30: ['gpt-4-32k'],
    37.5: ['gpt-4.5-preview'],
  };
  test.each(Object.entries(ratios).flatMap(([ratio, names]) => names.map((name) => [name, Number(ratio)] as const)))(
    'count %s input at %d',
    (name, ratio) => expect(builtInModelRatio[name]).toBe(ratio),
  );

  const prices: Record<number, readonly string[]> = {
    0.8: ['mj_video'],
    0.1: [
      ...['suno_music', 'gpt-4-gizmo-*', 'mj_imagine', 'mj_variation', 'mj_reroll', 'mj_blend', 'mj_modal', 'mj_zoom'],
      ...['mj_shorten', 'mj_high_variation', 'mj_low_variation', 'mj_pan', 'mj_edits'],
    ],
    0.05: ['mj_describe', 'mj_upscale', 'swap_face', 'mj_upload'],
    0.04: ['dall-e-3'],
    0.03: ['imagen-3.0-generate-002'],
    0.01: ['suno_lyrics'],
    0: ['mj_inpaint', 'mj_custom_zoom'],
  };
  test('cost per call exactly the listed amount', () =>
    expect(builtInModelPrice).toStrictEqual(
      Object.fromEntries(
        Object.entries(prices).flatMap(([price, names]) => names.map((name) => [name, Number(price)])),
      ),
    ));

  test.each([
    ['gpt-4', 0.5],
    ['gpt-4o', 0.5],
    ['gpt-4o-mini', 0.5],
    ['gpt-4o-realtime-preview', 0.5],
    ['gpt-4o-mini-realtime-preview', 0.5],
    ['gpt-4.5-preview', 0.5],
    ['o1', 0.5],
    ['o1-preview', 0.5],
    ['o1-mini', 0.5],
    ['o3-mini', 0.5],
    ['deepseek-chat', 0.25],
    ['deepseek-reasoner', 0.25],
    ['deepseek-coder', 0.25],
    ['claude-3-opus-20240229', 0.1],
    ['claude-3-7-sonnet-20250219-thinking', 0.1],
  ])('count cached input of %s at %d', (name, ratio) => expect(builtInCacheRatio[name]).toBe(ratio));

  test('count cache writes at 1.25 and images of gpt-image-1 at 2', () => {
    expect(new Set(Object.values(builtInCacheWriteRatio))).toStrictEqual(new Set([1.25]));
    expect(builtInImageRatio).toStrictEqual({ 'gpt-image-1': 2 });
  });

  test('set the output of assistants, and of models newer than the table of prices; rules cover the rest', () =>
    expect(builtInCompletionRatio).toStrictEqual({
      'gpt-4-gizmo-*': 2,
      'gpt-4o-gizmo-*': 3,
      'gpt-4-all': 2,
      'claude-sonnet-5-5': 5,
      'claude-haiku-5-5': 5,
    }));

  test('are numbers from 0', () => {
    for (const prices of [builtInModelRatio, builtInModelPrice, builtInCacheRatio, builtInCacheWriteRatio])
      for (const [name, price] of Object.entries(prices))
        expect(Number.isFinite(price) && price >= 0, `${name}: ${price}`).toBe(true);
  });
});

describe('a repeated price lookup', () => {
  test('returns the same object, separate for each group', () => {
    const groups = table({ a: '1', ab: '2', '1 a': '3' });
    const own = tables({ modelRatio: table({ bc: '1', c: '1', abc: '1' }), groupRatio: groups });
    const groupOf = (model: string, group: string) => priceOf(own, model, group, false)?.group;
    expect([groupOf('bc', 'a'), groupOf('c', 'ab'), groupOf('abc', ''), groupOf('bc', '1 a')]).toStrictEqual([
      '1',
      '2',
      '1',
      '3',
    ]);
    expect(priceOf(own, 'bc', 'a', false)).toBe(priceOf(own, 'bc', 'a', false));
    const doubled = tables({ modelRatio: table({ bc: '2' }), groupRatio: groups });
    expect(priceOf(doubled, 'bc', 'a', false)).toMatchObject({ model: '2' });
  });
  test('returns no price to a caller that does not accept models without one', () => {
    const own = tables();
    expect(priceOf(own, 'unlisted', 'default', true)).toMatchObject({ model: '37.5' });
    expect(priceOf(own, 'unlisted', 'default', false)).toBeNull();
  });
  test('is cached for a bounded number of names', () => {
    const own = tables();
    const first = priceOf(own, 'my-model', 'default', false);
    for (let model = 0; model < 10_000; model++) priceOf(own, `unlisted-${model}`, 'default', true);
    const later = priceOf(own, 'my-model', 'default', false);
    expect(later).toStrictEqual(first);
    expect(later).not.toBe(first);
  });
});
