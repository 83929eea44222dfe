import { findProvider } from '@pydantic/genai-prices';
import { describe, expect, test } from 'vitest';
import { defaultPrices, nextPriceChange } from '../../../src/application/prices/default-prices.js';
import type { Usage } from '../../../src/domain/call/usage.js';
import { decimal, decimalText, isNegative } from '../../../src/domain/kernel/decimal.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import { completionRule } from '../../../src/domain/pricing/built-in/completion-rules.js';
import { builtInModelRatio } from '../../../src/domain/pricing/built-in/default-prices.js';
import { changedPrices, newerPrices } from '../../../src/domain/pricing/built-in/newer-prices.js';
import { priceOf } from '../../../src/domain/pricing/price-tables.js';
import { chargeOf } from '../../../src/domain/pricing/pricing.js';

/** Of the day on which the figures below were looked up. */
const today = Instant(Date.UTC(2026, 10, 28, 12));
const prices = defaultPrices(today);
const tables = {
  ...prices,
  records: new Map(),
  reasoningRatio: new Map<string, string>(),
  serviceTiers: new Map(),
  groupRatio: new Map<string, string>(),
  toolPrice: new Map<string, string>(),
  quotaPerUnit: '500000',
};

describe('the default prices of a gateway', () => {
  test('keep the built-in ones, whatever the package contains', () => {
    for (const [name, ratio] of Object.entries(builtInModelRatio))
      expect(prices.modelRatio.get(name), name).toBe(decimalText(decimal(String(ratio))));
  });

  test('include newer models from the package: far more than are built in', () =>
    expect(prices.modelRatio.size).toBeGreaterThan(Object.keys(builtInModelRatio).length * 1.5));

  test('are decimal texts from 0, all of them', () => {
    const { contextTiers: _, builtInRecords: __, ...tables } = prices;
    for (const table of Object.values(tables))
      for (const [name, ratio] of table) expect(isNegative(decimal(ratio)), `${name}: ${ratio}`).toBe(false);
  });

  test('leave fixed price relations to the rules', () => {
    for (const name of prices.completionRatio.keys()) expect(completionRule(name)?.locked ?? false, name).toBe(false);
  });

  test('have the listed output price where a fixed relation decides it, but for names of earlier tables', () => {
    // Their vendors have changed or withdrawn them; the relation is what older gateways promise.
    const earlier = ['deepseek-chat', 'deepseek-reasoner'];
    const resold = ['llama2-70b-4096', 'llama3-8b-8192'];
    const wrong = listedOutputs(today)
      .filter(({ name, ratio }) => {
        const rule = completionRule(name);
        return rule?.locked === true && Math.abs(Number(rule.ratio) / ratio - 1) > 0.000_001;
      })
      .map(({ name }) => name);
    expect([...new Set(wrong)].sort()).toEqual([...earlier, ...resold].sort());
  });

  test('never have a price both per call and per token from the package', () => {
    for (const name of prices.modelPrice.keys())
      expect(!prices.modelRatio.has(name) || Object.hasOwn(builtInModelRatio, name), name).toBe(true);
  });
});

const providers = ['openai', 'anthropic', 'google', 'x-ai', 'deepseek', 'moonshotai', 'mistral', 'groq'];
const models = providers.flatMap((providerId) => findProvider({ providerId })?.models ?? []);

/** Of every listed name that is known exactly, the output price relative to the input. */
function listedOutputs(at: Instant): { name: string; ratio: number }[] {
  const amount = (price: unknown): number =>
    Number(typeof price === 'object' && price !== null && 'base' in price ? price.base : (price ?? 0));
  const namesIn = (match: (typeof models)[number]['match']): string[] =>
    'equals' in match ? [match.equals] : 'or' in match ? match.or.flatMap(namesIn) : [];
  const ofPackage = models.flatMap(({ id, match, prices: listed }) => {
    const begun = (entry: Extract<typeof listed, readonly unknown[]>[number]): boolean =>
      entry.constraint?.type !== 'start_date' || Date.parse(entry.constraint.start_date) <= at;
    const price = Array.isArray(listed) ? listed.findLast(begun)?.prices : listed;
    const ratio = amount(price?.output_mtok) / amount(price?.input_mtok);
    return [id, ...namesIn(match)].map((name) => ({ name, ratio }));
  });
  const ofTables = [...changedPrices, ...newerPrices].flatMap(({ names, input, output = 0 }) =>
    names.split(' ').map((name) => ({ name, ratio: output / input })),
  );
  const listed = new Map(ofPackage.map((entry) => [entry.name, entry]));
  for (const entry of ofTables) listed.set(entry.name, entry);
  return [...listed.values()].filter(({ ratio }) => ratio > 0 && Number.isFinite(ratio));
}

describe('a price taken from the package', () => {
  test('charges the listed price: a million input and a million output tokens', () => {
    const plain = models.find(
      ({ id, prices: listed, match }) =>
        !Array.isArray(listed) &&
        'equals' in match &&
        !Object.hasOwn(builtInModelRatio, id) &&
        completionRule(id) === null &&
        typeof listed.input_mtok === 'number' &&
        listed.input_mtok > 0 &&
        typeof listed.output_mtok === 'number',
    );
    if (plain === undefined || Array.isArray(plain.prices)) throw new Error('the package has no plain model any more');
    const listed = plain.prices as Record<string, number>;
    const price = priceOf(tables, plain.id, 'default', false);
    if (price === null) throw new Error(`${plain.id} has no price`);
    const usage = { input: 1_000_000, output: 1_000_000 };
    expect(chargeOf(usage, price)).toBeCloseTo(((listed.input_mtok ?? 0) + (listed.output_mtok ?? 0)) * 500_000, -1);
  });

  test('has its own ratios for audio, relative to an input token', () =>
    expect(priceOf(tables, 'gpt-audio', 'default', false)).toMatchObject({
      ratios: { audioInput: '12.8', audioOutput: '25.6' },
    }));

  /** USD of a million tokens put in, and put out, a hundred thousand at a time: before any dearer length. */
  const dollarsOf = (at: Instant, model: string): readonly [number, number] => {
    const priced = priceOf({ ...tables, ...defaultPrices(at) }, model, 'default', false);
    if (priced === null) throw new Error(`${model} has no price`);
    return [chargeOf({ input: 100_000 }, priced) / 50_000, chargeOf({ output: 100_000 }, priced) / 50_000];
  };

  test.each([
    ['gpt-5.6-luna', 0.2, 1.2],
    ['gpt-5.6-terra', 2, 12],
    ['gpt-5.6-sol', 4, 20],
    ['gemini-3.8-flash', 0.75, 3.75],
  ])('with a history is the one in force on the day: %s costs %d and %d', (model, input, output) =>
    expect(dollarsOf(today, model)).toEqual([input, output]),
  );

  test('changes at midnight in UTC of the announced day, and not a millisecond before', () => {
    const midnight = Instant(Date.UTC(2027, 0, 1));
    expect(nextPriceChange(today)).toBe(midnight);
    expect(dollarsOf(Instant(midnight - 1), 'gemini-3.8-flash')).toEqual([0.75, 3.75]);
    expect(dollarsOf(midnight, 'gemini-3.8-flash')).toEqual([1.5, 7.5]);
    expect(nextPriceChange(midnight)).toBeNull();
  });

  test('that depends on the hour is the maximum of the day: a default must not sell below cost', () =>
    expect(dollarsOf(today, 'deepseek-v4-pro')[0]).toBe(1.32));
});

describe('a price that vendors have changed since the older tables', () => {
  test.each([
    ['mistral-medium-3.5', 1.5, 7.5],
    ['mistral-small-2603', 0.15, 0.6],
    ['mistral-small-latest', 0.15, 0.6],
    ['mistral-large-latest', 0.5, 1.5],
    ['gpt-5-5', 5, 30],
  ])('is charged in and out: %s costs %d and %d', (model, input, output) => {
    const price = priceOf(tables, model, 'default', false);
    if (price === null) throw new Error(`${model} has no price`);
    const million = (usage: object): number => chargeOf(usage, price) / 50_000;
    expect(million({ input: 100_000 })).toBeCloseTo(input, 4);
    expect(million({ output: 100_000 })).toBeCloseTo(output, 4);
  });
  test.each([
    ['gemini-3-pro-image', 0.2],
    ['gemini-nano-banana-2.1', 0.15],
    ['gpt-4o-search-preview', 1.25],
  ])('is charged for input from a cache: %s costs %d', (model, cached) => {
    const price = priceOf(tables, model, 'default', false);
    expect(price === null ? null : chargeOf({ cachedInput: 100_000 }, price) / 50_000).toBeCloseTo(cached, 5);
  });
});

describe('a model with a higher price for long prompts', () => {
  const charged = (model: string, input: number, output = 0): number => {
    const price = priceOf(tables, model, 'default', false);
    if (price === null) throw new Error(`${model} has no price`);
    return chargeOf({ input, output }, price) / 500_000;
  };

  test.each([
    ['gpt-5.4', 272_000, 2.5, 5, 15, 22.5],
    ['gpt-6-astra', 272_000, 10, 20, 50, 75],
    ['gemini-3.1-pro-preview', 200_000, 2, 4, 12, 18],
    ['gemini-2.5-pro', 200_000, 1.25, 2.5, 10, 15],
  ])(
    'is priced by its bound: %s with more than %d tokens reprices the whole call, with exactly so many not',
    (model, over, input, far, output, beyond) => {
      const million = 1_000_000;
      expect(charged(model, over, 1000)).toBeCloseTo((over * input + 1000 * output) / million, 5);
      expect(charged(model, over + 1, 1000)).toBeCloseTo(((over + 1) * far + 1000 * beyond) / million, 5);
    },
  );

  test('is priced from 200,000 tokens on inclusively for Grok', () => {
    expect(charged('grok-4.5', 199_999)).toBeCloseTo(0.399998, 6);
    expect(charged('grok-4.5', 200_000)).toBeCloseTo(0.8, 6);
  });
});

describe('the default price of a realtime session', () => {
  const million = 1_000_000;
  const dollars = (model: string, usage: Usage): number | null => {
    const price = priceOf(tables, model, 'default', false);
    return price === null ? null : chargeOf(usage, price) / Number(tables.quotaPerUnit);
  };

  // As OpenAI's page of each model has it: text, sound and pictures in, text and sound from a cache, text and sound out.
  test.each([
    ['gpt-realtime', 4, 32, 5, 0.4, 0.4, 16, 64],
    ['gpt-realtime-2025-08-28', 4, 32, 5, 0.4, 0.4, 16, 64],
    ['gpt-realtime-1.5', 4, 32, 5, 0.4, 0.4, 16, 64],
    ['gpt-realtime-2', 4, 32, 5, 0.4, 0.4, 24, 64],
    ['gpt-realtime-2.1', 4, 32, 5, 0.4, 0.4, 24, 64],
    ['gpt-realtime-mini', 0.6, 10, 0.8, 0.06, 0.3, 2.4, 20],
    ['gpt-realtime-mini-2025-10-06', 0.6, 10, 0.8, 0.06, 0.3, 2.4, 20],
    ['gpt-realtime-mini-2025-12-15', 0.6, 10, 0.8, 0.06, 0.3, 2.4, 20],
    ['gpt-realtime-2.1-mini', 0.6, 10, 0.8, 0.06, 0.3, 2.4, 20],
    ['gpt-4o-realtime-preview', 5, 40, null, 2.5, 2.5, 20, 80],
    ['gpt-4o-realtime-preview-2024-12-17', 5, 40, null, 2.5, 2.5, 20, 80],
    ['gpt-4o-realtime-preview-2025-06-03', 5, 40, null, 2.5, 2.5, 20, 80],
    ['gpt-4o-mini-realtime-preview', 0.6, 10, null, 0.3, 0.3, 2.4, 20],
    ['gpt-4o-mini-realtime-preview-2024-12-17', 0.6, 10, null, 0.3, 0.3, 2.4, 20],
  ])('is that of OpenAI for %s', (model, input, audioInput, imageInput, cachedInput, cached, output, audioOutput) => {
    const kinds = { input, audioInput, imageInput, cachedInput, cachedAudioInput: cached, output, audioOutput };
    for (const [kind, usd] of Object.entries(kinds))
      if (usd !== null) expect(dollars(model, { [kind]: million }), kind).toBeCloseTo(usd, 6);
  });

  test('leaves a model without any price unpriced', () =>
    expect(dollars('gpt-realtime-99-unheard-of', { input: million })).toBeNull());
});

describe('the default price of a cache write', () => {
  /** Relative to input: kept for minutes, and for twelve hours. */
  const factors = (model: string): readonly [number, number] => {
    const price = priceOf(tables, model, 'default', true);
    if (price === null) throw new Error(`${model} has no price`);
    const cost = (usage: Usage): number => chargeOf(usage, price);
    const input = cost({ input: 100_000 });
    return [cost({ cacheWrite: 100_000 }) / input, cost({ cacheWriteHour: 100_000 }) / input];
  };

  test.each([
    ['gpt-4o', 1, 1],
    ['gpt-5.5', 1, 1],
    ['o3', 1, 1],
    ['gpt-35-turbo', 1, 1],
    ['gpt-5.6-sol', 1.25, 2],
    ['gpt-6-astra', 1.25, 2],
    ['gpt-6.2-sol', 1.25, 2],
    ['gpt-5-6-sol', 1.25, 2],
    ['gpt-5-2025-08-07', 1, 1],
    ['openai/gpt-4o', 1, 1],
    ['openai/gpt-6-sol', 1.25, 2],
    ['gpt-daybreak-blue-latest', 1.25, 2],
    ['kimi-k3', 1, 2],
    ['claude-opus-4-5', 1.25, 2],
  ])('for %s is %d times input, and %d times with a longer lifetime', (model, minutes, longer) =>
    expect(factors(model)).toEqual([minutes, longer]),
  );
});

describe('a model in several price lists', () => {
  const dollarsOf = (model: string, usage: Usage): number => {
    const price = priceOf(tables, model, 'default', false);
    if (price === null) throw new Error(`${model} has no price`);
    return chargeOf(usage, price) / 50_000;
  };

  test.each([
    ['o3', 0.5, 8],
    ['o4-mini', 0.275, 4.4],
    ['gpt-4.1-2025-04-14', 0.5, 8],
    ['gemini-2.5-flash', 0.03, 2.5],
    ['gpt-image-1', 1.25, 40],
    ['claude-haiku-5-5', 0.01, 0.5],
    ['grok-code-fast-1', 0.2, 2],
  ])('has its whole price: %s costs %d for cached input and %d for output', (model, cached, output) => {
    expect(dollarsOf(model, { cachedInput: 100_000 })).toBe(cached);
    expect(dollarsOf(model, { output: 100_000 })).toBe(output);
  });

  test('has the context tiers of the first list: those of a reseller may be outdated', () => {
    expect(priceOf(tables, 'claude-opus-4-6', 'default', false)).not.toHaveProperty('tiers');
    expect(dollarsOf('claude-haiku-5-5', { input: 100_000 })).toBe(0.1);
    expect(dollarsOf('claude-haiku-5-5', { input: 100_001 })).toBeCloseTo(0.500005, 4);
  });

  test('is rounded exactly: 10 input tokens at 0.30 USD and 8 output tokens at 2.50 USD are 11.5 units, and cost 12', () => {
    const price = priceOf(tables, 'gemini-2.5-flash', 'default', false);
    if (price === null) throw new Error('the model has no price');
    expect(chargeOf({ input: 10, output: 8 }, price)).toBe(12);
  });
});

describe('a model newer than the price package', () => {
  /** USD of a million tokens put in, from a cache, and put out. */
  const dollarsOf = (model: string): readonly number[] => {
    const price = priceOf(tables, model, 'default', false);
    if (price === null) throw new Error(`${model} has no price`);
    const cost = (usage: Usage): number => chargeOf(usage, price) / 50_000;
    return [cost({ input: 100_000 }), cost({ cachedInput: 100_000 }), cost({ output: 100_000 })];
  };

  test.each([
    ['gpt-6.1-sol', 2, 0.1, 10],
    ['claude-mythos-5-1', 10, 0.25, 50],
    ['gemini-4-argon', 2, 0.1, 10],
    ['grok-4.7', 2, 0.5, 6],
  ])('has its public price: %s costs %d, %d and %d', (model, ...dollars) => expect(dollarsOf(model)).toEqual(dollars));

  test('that speaks has none by tokens, which do not count the sound', () => {
    for (const model of ['gpt-4o-mini-tts', 'gpt-4o-mini-tts-2025-03-20', 'gpt-4o-mini-tts-2025-12-15'])
      expect(priceOf(tables, model, 'default', false), model).toBeNull();
  });

  test('without a public price has none, and is refused', () => {
    for (const model of ['gpt-6.2-astra', 'claude-fable-5-2', 'gemini-4-carbon'])
      expect(priceOf(tables, model, 'default', false), model).toBeNull();
  });

  test('is removed from the table once the package has it: no name is priced twice', () => {
    const names = newerPrices.flatMap(({ names }) => names.split(' '));
    expect(new Set(names).size).toBe(names.length);
    const known = new Set(models.flatMap(({ id, match }) => ('equals' in match ? [id, match.equals] : [id])));
    expect(names.filter((name) => known.has(name) || Object.hasOwn(builtInModelRatio, name))).toEqual([]);
  });
});
