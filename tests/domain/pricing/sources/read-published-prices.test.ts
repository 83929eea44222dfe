import { findProvider } from '@pydantic/genai-prices';
import { describe, expect, test } from 'vitest';
import { Failure } from '../../../../src/domain/kernel/failure.js';
import type { Steps } from '../../../../src/domain/pricing/sources/list-json.js';
import type { PublishedPrices, SourceForm } from '../../../../src/domain/pricing/sources/published-price.js';
import { readPublishedPrices } from '../../../../src/domain/pricing/sources/read-published-prices.js';

const terms = { today: '2026-11-28', bareNames: false };

/** Without the pauses. */
function whole<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

const read = (value: unknown): PublishedPrices =>
  whole(readPublishedPrices(typeof value === 'string' ? value : JSON.stringify(value), terms));

const priceOf = ({ models }: PublishedPrices, name: string) => models.find(({ model }) => model === name);
const skipOf = ({ skipped }: PublishedPrices, name: string) => {
  const found = skipped.find(({ model }) => model === name);
  return found === undefined ? undefined : [found.reason, found.member];
};

const reasonOf = (text: string, expected: SourceForm | null = null): string => {
  try {
    whole(readPublishedPrices(text, terms, expected));
  } catch (error) {
    if (error instanceof Failure && error.code === 'price-list-unreadable') return String(error.details.reason);
    throw error;
  }
  throw new Error('It was read');
};

/** One model in each form, priced at 2 USD of a million tokens of input where the entry does not say otherwise. */
const inForm: Readonly<Record<SourceForm, (model: string, entry?: Readonly<Record<string, unknown>>) => unknown>> = {
  'genai-prices': (model, entry = { input_mtok: 2, output_mtok: 8 }) => [
    { id: 'openai', models: [{ id: model, match: { equals: model }, prices: entry }] },
  ],
  litellm: (model, entry = { input_cost_per_token: 2e-6, output_cost_per_token: 8e-6 }) => ({
    [model]: { litellm_provider: 'openai', mode: 'chat', ...entry },
  }),
  'openrouter-models': (model, entry = { prompt: '0.000002', completion: '0.000008' }) => ({
    data: [{ id: model, pricing: entry }],
  }),
  'ratio-config': (model, entry = { model_ratio: 1, completion_ratio: 4 }) => ({
    success: true,
    data: Object.fromEntries(Object.entries(entry).map(([table, ratio]) => [table, { [model]: ratio }])),
  }),
  pricing: (model, entry = { model_ratio: 1, completion_ratio: 4 }) => ({
    success: true,
    data: [{ model_name: model, quota_type: 0, ...entry }],
  }),
};
const forms = Object.keys(inForm) as SourceForm[];

/** The member that states the input, and what a price of `usd` dollars of a million is in it. */
const inputMember: Readonly<Record<SourceForm, string>> = {
  'genai-prices': 'input_mtok',
  litellm: 'input_cost_per_token',
  'openrouter-models': 'prompt',
  'ratio-config': 'model_ratio',
  pricing: 'model_ratio',
};

describe.each(forms)('a price list in the form %s', (form) => {
  test('is recognised by its content, and its price is in dollars of a million tokens', () => {
    const prices = read(inForm[form]('m'));
    expect(prices.form).toBe(form);
    expect(prices.skipped).toEqual([]);
    const [period] = priceOf(prices, 'm')?.periods ?? [];
    expect(period?.tokens?.input).toEqual({ usd: '2' });
    expect(period?.tokens?.output).toEqual(
      form === 'ratio-config' || form === 'pricing' ? { ratio: '4' } : { usd: '8' },
    );
  });

  test('is refused where another form was expected', () => {
    const other = form === 'litellm' ? 'pricing' : 'litellm';
    expect(reasonOf(JSON.stringify(inForm[form]('m')), other)).toBe(`it has the form ${form}, not ${other}`);
  });

  test.each([
    [-1, 'negative'],
    ['-1', 'negative'],
    ['NaN', 'not-a-number'],
    ['free', 'not-a-number'],
    [[1], 'not-a-number'],
    [true, 'not-a-number'],
    [1e308, 'too-large'],
    ['1e308', 'too-large'],
    ['1e-400', 'too-small'],
    [0, 'zero'],
    ['0.0', 'zero'],
  ])('omits a model whose input is %j, with the reason %s', (value, reason) => {
    const member = inputMember[form];
    const prices = read(inForm[form]('m', { [member]: value }));
    expect(prices.models).toEqual([]);
    expect(skipOf(prices, 'm')).toEqual([reason, member]);
  });

  test('omits a model whose input is a number too small to be stored', () => {
    const text = JSON.stringify(inForm[form]('m', { [inputMember[form]]: 123456789 })).replace('123456789', '1e-400');
    expect(skipOf(read(text), 'm')).toEqual(['zero', inputMember[form]]);
  });

  test('omits a model with a duplicate member', () => {
    const member = inputMember[form];
    const plain = JSON.stringify(inForm[form]('m', { [member]: 123456789 }));
    const perTable = form === 'ratio-config';
    const text = perTable
      ? plain.replace('"m":123456789', '"m":1,"m":2')
      : plain.replace('123456789', `1,"${member}":2`);
    expect(skipOf(read(text), 'm')).toEqual(['named-twice', null]);
  });

  test.each(['__proto__', 'constructor', ' m', 'm\u0007', 'm'.repeat(256)])('omits the model named %j', (name) => {
    const text = JSON.stringify(inForm[form]('other')).replaceAll('other', JSON.stringify(name).slice(1, -1));
    const prices = read(text);
    expect(prices.models).toEqual([]);
    expect(prices.skipped.map(({ reason }) => reason)).toEqual(['name-invalid']);
  });

  test('accepts a price of 0 only from a model whose name marks it as free, and marks it', () => {
    const free = { [inputMember[form]]: 0 };
    const entry = form === 'genai-prices' ? {} : form === 'openrouter-models' ? { prompt: '0', completion: '0' } : free;
    const price = priceOf(read(inForm[form]('vendor/m:free', entry)), 'vendor/m:free');
    expect(price?.isFree).toBe(true);
    expect(price?.periods).toEqual([{ tokens: { input: { usd: '0' }, output: { usd: '0' } } }]);
    expect(priceOf(read(inForm[form]('m')), 'm')?.isFree).toBe(false);
  });

  test('is read without the vendor in the names where the terms say so', () => {
    const text = JSON.stringify(inForm[form]('vendor/m'));
    const { models } = whole(readPublishedPrices(text, { ...terms, bareNames: true }));
    expect(models.map(({ model }) => model)).toEqual(['m']);
  });
});

describe('a text that is not a price list', () => {
  test.each([
    ['<!DOCTYPE html><title>Sign in</title>', 'it is a page of HTML or XML, not JSON'],
    ['\uFEFF  <html>', 'it is a page of HTML or XML, not JSON'],
    ['', 'it is empty'],
    ['{"a":', 'it is not JSON'],
    ['{"a":NaN}', 'it is not JSON'],
    ['[]', 'it is in none of the known forms: genai-prices, litellm, openrouter-models, ratio-config, pricing'],
    ['3', 'it is in none of the known forms: genai-prices, litellm, openrouter-models, ratio-config, pricing'],
    [
      '{"data":"x"}',
      'it is in none of the known forms: genai-prices, litellm, openrouter-models, ratio-config, pricing',
    ],
    [`${'['.repeat(100)}${']'.repeat(100)}`, 'it nests deeper than 24 levels'],
    [`{"a":"${'x'.repeat(16 * 1024 * 1024)}"}`, 'it is longer than 16777216 characters'],
  ])('is refused: %.40s', (text, reason) => {
    expect(reasonOf(text)).toBe(reason);
  });

  test('is refused where it lists more models than the limit', () => {
    const data = Array.from({ length: 20_001 }, (_, n) => ({
      id: `m${n}`,
      pricing: { prompt: '1e-6', completion: '1e-6' },
    }));
    expect(reasonOf(JSON.stringify({ data }))).toBe('it lists more than 20000 models');
  });

  test('is refused with a thousand duplicate names', () => {
    const twice = Array.from({ length: 1001 }, () => '"m":{"input_cost_per_token":1}').join(',');
    expect(reasonOf(`{${twice},"m":{"input_cost_per_token":1}}`)).toBe('more than 1000 names stand in it twice');
  });
});

describe('a name with two entries in a list', () => {
  const entry = (id: string, prompt: string) => ({ id, pricing: { prompt, completion: '1e-6' } });

  test('is omitted where the entries differ, however many follow', () => {
    const data = [entry('m', '1e-6'), entry('m', '2e-6'), entry('m', '1e-6'), entry('n', '1e-6')];
    const prices = read({ data });
    expect(prices.models.map(({ model }) => model)).toEqual(['n']);
    expect(prices.skipped).toEqual([{ model: 'm', reason: 'named-twice', member: null }]);
  });

  test('is read once where they are the same', () => {
    expect(read({ data: [entry('m', '1e-6'), entry('m', '0.000001')] }).models).toHaveLength(1);
  });

  test('is omitted where a single object has it twice', () => {
    const one = '{"litellm_provider":"openai","input_cost_per_token":1e-6,"output_cost_per_token":1e-6}';
    const prices = read(`{"m":${one},"n":${one},"m":${one.replace('1e-6', '9e-6')}}`);
    expect(prices.models.map(({ model }) => model)).toEqual(['n']);
    expect(skipOf(prices, 'm')).toEqual(['named-twice', null]);
  });
});

describe('the data of genai-prices', () => {
  const openai = (prices: unknown) => [{ id: 'openai', models: [{ id: 'm', match: { equals: 'm' }, prices }] }];

  test('has the price in force first, and announced ones with their day', () => {
    const dated = (start_date: string, input_mtok: number) => ({
      constraint: { type: 'start_date', start_date },
      prices: { input_mtok },
    });
    const list = [
      { prices: { input_mtok: 1 } },
      dated('2026-07-30', 0.2),
      dated('2027-01-01', 3),
      dated('2026-11-28', 2),
    ];
    expect(priceOf(read(openai(list)), 'm')?.periods).toEqual([
      { tokens: { input: { usd: '2' } } },
      { tokens: { input: { usd: '3' } }, from: '2027-01-01' },
    ]);
  });

  test('has the maximum of prices by the hour', () => {
    const hourly = (input_mtok: number) => ({ constraint: { type: 'time_of_date' }, prices: { input_mtok } });
    const list = [{ prices: { input_mtok: 0.1 } }, hourly(0.3), hourly(0.2)];
    expect(priceOf(read(openai(list)), 'm')?.periods).toEqual([{ tokens: { input: { usd: '0.3' } } }]);
  });

  test('has factors for prices beyond a length, and the bound under OpenAI’s name', () => {
    const prices = {
      input_mtok: { base: 2.5, tiers: [{ start: 271_999, price: 5 }] },
      output_mtok: { base: 15, tiers: [{ start: 271_999, price: 22.5 }] },
      web_searches_kcount: 10,
    };
    expect(priceOf(read(openai(prices)), 'm')?.periods).toEqual([
      {
        tokens: { input: { usd: '2.5' }, output: { usd: '15' } },
        pieces: { 'calls:web_search': '0.01' },
        contextTiers: [{ over: 272_000, factors: { input: '2', output: '1.5' } }],
      },
    ]);
  });

  test('has the list of a model’s vendor before that of a reseller, in any order', () => {
    const provider = (id: string, input_mtok: number) => ({ id, models: [{ id: 'm', prices: { input_mtok } }] });
    const prices = read([provider('azure', 9), provider('openai', 1), provider('aws', 8)]);
    expect(priceOf(prices, 'm')).toMatchObject({ vendor: 'openai', periods: [{ tokens: { input: { usd: '1' } } }] });
    expect(prices.skipped).toEqual([]);
  });

  test('does not use a reseller’s price where the vendor’s cannot be used', () => {
    const provider = (id: string, input_mtok: number) => ({ id, models: [{ id: 'm', prices: { input_mtok } }] });
    const prices = read([provider('azure', 9), provider('openai', -1)]);
    expect(prices.models).toEqual([]);
    expect(skipOf(prices, 'm')).toEqual(['negative', 'input_mtok']);
  });

  test('is read as the package publishes it', () => {
    const ids = ['openai', 'anthropic', 'google', 'x-ai', 'openrouter', 'azure'];
    const prices = read(ids.map((providerId) => findProvider({ providerId })));
    expect(prices.models.length).toBeGreaterThan(500);
    expect(prices.skipped.length).toBeLessThan(50);
    expect(priceOf(prices, 'gpt-5.6-luna')?.periods).toEqual([
      {
        tokens: {
          input: { usd: '0.2' },
          cachedInput: { usd: '0.02' },
          cacheWrite: { usd: '0.25' },
          output: { usd: '1.2' },
        },
        pieces: { 'calls:web_search': '0.01' },
        contextTiers: [{ over: 272_000, factors: { input: '2', cachedInput: '2', cacheWrite: '2', output: '1.5' } }],
      },
    ]);
  });
});

describe("LiteLLM's price map", () => {
  test('has caches by lifetime, lengths, service tiers, media and tools', () => {
    const prices = read({
      sample_spec: { input_cost_per_token: 0, mode: 'one of: chat' },
      m: {
        litellm_provider: 'openai',
        mode: 'chat',
        input_cost_per_token: 2e-6,
        input_cost_per_token_above_272k_tokens: 4e-6,
        input_cost_per_token_priority: 4e-6,
        input_cost_per_token_batches: 1e-6,
        output_cost_per_token: 1e-5,
        output_cost_per_token_above_272k_tokens: 1.5e-5,
        output_cost_per_token_priority: 2.5e-5,
        cache_read_input_token_cost: 1.0000000000000001e-7,
        cache_creation_input_token_cost: 2.5e-6,
        cache_creation_input_token_cost_above_12hr: 5e-6,
        cache_creation_input_token_cost_above_12hr_above_272k_tokens: 1e-5,
        input_cost_per_audio_token: 3.2e-5,
        output_cost_per_audio_token: 6.4e-5,
        search_context_cost_per_query: { search_context_size_low: 0.01, search_context_size_high: 0.025 },
        storage_cost_per_gb: 0.1,
      },
    });
    expect(prices.models).toEqual([
      {
        model: 'm',
        vendor: 'openai',
        isFree: false,
        unread: ['storage_cost_per_gb'],
        periods: [
          {
            tokens: {
              input: { usd: '2' },
              cachedInput: { usd: '0.1' },
              cacheWrite: { usd: '2.5' },
              cacheWriteHour: { usd: '5' },
              audioInput: { usd: '32' },
              output: { usd: '10' },
              audioOutput: { usd: '64' },
            },
            pieces: { 'calls:web_search': '0.025' },
            contextTiers: [{ over: 272_000, factors: { input: '2', cacheWriteHour: '2', output: '1.5' } }],
            serviceTiers: { priority: '2.5' },
          },
        ],
      },
    ]);
  });

  const one = (entry: Readonly<Record<string, unknown>>) => priceOf(read({ m: entry }), 'm')?.periods;

  test('includes the bound of a longer prompt for xAI, and not for others', () => {
    const entry = {
      input_cost_per_token: 2e-6,
      output_cost_per_token: 6e-6,
      input_cost_per_token_above_200k_tokens: 4e-6,
    };
    expect(one({ ...entry, litellm_provider: 'xai' })?.[0]?.contextTiers?.[0]?.over).toBe(199_999);
    expect(one({ ...entry, litellm_provider: 'gemini' })?.[0]?.contextTiers?.[0]?.over).toBe(200_000);
  });

  test('has ranges of lengths', () => {
    const range = (from: number, input: number, output: number) => ({
      range: [from, from + 1000],
      input_cost_per_token: input,
      output_cost_per_token: output,
    });
    expect(
      one({
        mode: 'chat',
        output_cost_per_token: 4e-7,
        tiered_pricing: [range(0, 5e-8, 4e-7), range(256e3, 2.5e-7, 2e-6)],
      }),
    ).toEqual([
      {
        tokens: { input: { usd: '0.05' }, output: { usd: '0.4' } },
        contextTiers: [{ over: 256_000, factors: { input: '5', output: '5' } }],
      },
    ]);
  });

  test.each([
    [
      'a recording',
      { mode: 'audio_transcription', input_cost_per_second: 0.0001, output_cost_per_second: 0.0001 },
      { seconds: '0.0001' },
    ],
    ['speech', { mode: 'audio_speech', input_cost_per_character: 1.5e-5 }, { characters: '0.000015' }],
    [
      'a ranking',
      { mode: 'rerank', input_cost_per_query: 0.002, input_cost_per_token: 0, output_cost_per_token: 0 },
      { searchUnits: '0.002' },
    ],
    ['pictures', { mode: 'image_generation', output_cost_per_image: 0.04 }, { images: '0.04' }],
  ])('prices %s per unit where it has no tokens', (_, entry, pieces) => {
    expect(one(entry)).toEqual([{ pieces }]);
  });

  test('has pictures by size and quality', () => {
    const prices = read({
      'hd/1024-x-1792/dall-e-3': { mode: 'image_generation', input_cost_per_image: 0.12 },
      '1024-x-1024/dall-e-3': { mode: 'image_generation', input_cost_per_image: 0.04 },
    });
    expect(priceOf(prices, 'dall-e-3')?.periods).toEqual([
      {
        pictures: [
          { size: '1024x1792', quality: 'hd', usd: '0.12' },
          { size: '1024x1024', usd: '0.04' },
        ],
      },
    ]);
  });

  test('omits a chat model with free output, and includes an embedding without output', () => {
    const entry = { litellm_provider: 'x', input_cost_per_token: 1e-6, output_cost_per_token: 0 };
    const prices = read({ chat: { ...entry, mode: 'chat' }, vectors: { ...entry, mode: 'embedding' } });
    expect(skipOf(prices, 'chat')).toEqual(['zero', 'output_cost_per_token']);
    expect(priceOf(prices, 'vectors')?.periods).toEqual([{ tokens: { input: { usd: '1' } } }]);
  });

  test('omits a model in another currency, and one with a quantity that is not counted', () => {
    const prices = read({
      yuan: { input_cost_per_token: 1e-6, output_cost_per_token: 1e-6, currency: 'CNY' },
      pages: { mode: 'ocr', ocr_cost_per_page: 0.001 },
    });
    expect(skipOf(prices, 'yuan')).toEqual(['other-currency', 'currency']);
    expect(skipOf(prices, 'pages')).toEqual(['not-counted', 'ocr_cost_per_page']);
  });
});

describe("OpenRouter's list of models", () => {
  const one = (pricing: Readonly<Record<string, string>>) => read({ data: [{ id: 'openai/m', pricing }] });

  test('has tokens, caches, reasoning and searches', () => {
    const pricing = {
      prompt: '0.00000125',
      completion: '0.00001',
      request: '0',
      image: '0.001',
      web_search: '0.01',
      internal_reasoning: '0.00002',
      input_cache_read: '0.000000125',
      input_cache_write: '0.0000015625',
    };
    expect(one(pricing).models).toEqual([
      {
        model: 'openai/m',
        vendor: 'openai',
        isFree: false,
        unread: ['image'],
        periods: [
          {
            tokens: {
              input: { usd: '1.25' },
              cachedInput: { usd: '0.125' },
              cacheWrite: { usd: '1.5625' },
              output: { usd: '10' },
              reasoning: { usd: '20' },
            },
            pieces: { 'calls:web_search': '0.01' },
          },
        ],
      },
    ]);
  });

  test('has a price per call, and omits one beside tokens', () => {
    expect(priceOf(one({ prompt: '0', completion: '0', request: '0.05' }), 'openai/m')?.periods).toEqual([
      { call: '0.05' },
    ]);
    const mixed = one({ prompt: '0.000001', completion: '0.000001', request: '0.05' });
    expect(skipOf(mixed, 'openai/m')).toEqual(['mixed', 'request']);
  });

  test('omits a router, whose price is -1', () => {
    expect(skipOf(one({ prompt: '-1', completion: '-1' }), 'openai/m')).toEqual(['negative', 'prompt']);
  });
});

describe('the ratios of servers of the one-api family', () => {
  test('are read as tables: 1 is 2 USD for a million, and a price per call takes precedence', () => {
    const prices = read({
      success: true,
      data: {
        model_ratio: { a: 1.25, b: 1, c: 2 },
        completion_ratio: { a: 8 },
        cache_ratio: { a: 0.1 },
        create_cache_ratio: { a: 1.25 },
        audio_ratio: { a: 16 },
        audio_completion_ratio: { a: 2 },
        model_price: { b: 0.1, d: 0.5 },
      },
    });
    expect(priceOf(prices, 'a')?.periods).toEqual([
      {
        tokens: {
          input: { usd: '2.5' },
          output: { ratio: '8' },
          cachedInput: { ratio: '0.1' },
          cacheWrite: { ratio: '1.25' },
          audioInput: { ratio: '16' },
          audioOutput: { ratio: '32' },
        },
      },
    ]);
    expect(priceOf(prices, 'b')?.periods).toEqual([{ call: '0.1' }]);
    expect(priceOf(prices, 'c')?.periods).toEqual([{ tokens: { input: { usd: '4' } } }]);
    expect(priceOf(prices, 'd')?.periods).toEqual([{ call: '0.5' }]);
  });

  test('are read as a list by kind, and an expression is omitted', () => {
    const prices = read({
      data: [
        { model_name: 'a', quota_type: 0, model_ratio: 0.5, model_price: 0, completion_ratio: 4, owner_by: 'openai' },
        { model_name: 'b', quota_type: 1, model_ratio: 0, model_price: 0.04, completion_ratio: 0 },
        { model_name: 'c', quota_type: 0, model_ratio: 1, billing_mode: 'tiered_expr' },
        { model_name: 'd', quota_type: '0', model_ratio: 1 },
      ],
    });
    expect(priceOf(prices, 'a')).toMatchObject({ vendor: 'openai', periods: [{ tokens: { input: { usd: '1' } } }] });
    expect(priceOf(prices, 'b')?.periods).toEqual([{ call: '0.04' }]);
    expect(skipOf(prices, 'c')).toEqual(['not-counted', 'billing_mode']);
    expect(skipOf(prices, 'd')).toEqual(['shape-invalid', 'quota_type']);
  });
});
