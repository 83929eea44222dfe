import { findProvider } from '@pydantic/genai-prices';
import { describe, expect, test } from 'vitest';
import { defaultPrices } from '../../../src/application/options/default-prices.js';
import { decimal, decimalText, isNegative, larger } from '../../../src/domain/kernel/decimal.js';
import { completionRule } from '../../../src/domain/pricing/completion-rules.js';
import { builtInModelRatio } from '../../../src/domain/pricing/default-prices.js';
import { priceOf } from '../../../src/domain/pricing/price-tables.js';
import { chargeOf } from '../../../src/domain/pricing/pricing.js';

const prices = defaultPrices();
const tables = {
  ...prices,
  reasoningRatio: new Map<string, string>(),
  groupRatio: new Map<string, string>(),
  toolPrice: new Map<string, string>(),
  quotaPerUnit: '500000',
};

describe('the prices a gateway starts with', () => {
  test('keep the built-in ones, whatever the package says', () => {
    for (const [name, ratio] of Object.entries(builtInModelRatio))
      expect(prices.modelRatio.get(name), name).toBe(decimalText(decimal(String(ratio))));
  });

  test('know newer models by the package: far more than are built in', () =>
    expect(prices.modelRatio.size).toBeGreaterThan(Object.keys(builtInModelRatio).length * 1.5));

  test('are decimal texts from 0, all of them', () => {
    for (const table of Object.values(prices))
      for (const [name, ratio] of table) expect(isNegative(decimal(ratio)), `${name}: ${ratio}`).toBe(false);
  });

  test('leave fixed price relations to the rules', () => {
    for (const name of prices.completionRatio.keys()) expect(completionRule(name)?.locked ?? false, name).toBe(false);
  });

  test('never give a name a price both per call and per token by the package', () => {
    for (const name of prices.modelPrice.keys())
      expect(!prices.modelRatio.has(name) || Object.hasOwn(builtInModelRatio, name), name).toBe(true);
  });
});

describe('a price taken from the package', () => {
  const providers = ['openai', 'anthropic', 'google', 'deepseek', 'mistral', 'groq'];
  const models = providers.flatMap((providerId) => findProvider({ providerId })?.models ?? []);
  const baseOf = (price: unknown): number | null => {
    const base = typeof price === 'object' && price !== null && 'base' in price ? price.base : price;
    return typeof base === 'number' ? base : null;
  };

  test('charges what the list says: a million input and a million output tokens', () => {
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

  test('has its own ratios for sound, relative to an input token', () =>
    expect(priceOf(tables, 'gpt-audio', 'default', false)).toMatchObject({
      ratios: { audioInput: '12.8', audioOutput: '25.6' },
    }));

  test('that depends on date or hour is the dearest of them: a default must not sell below cost', () => {
    const changing = models.filter(({ id, prices: listed }) => Array.isArray(listed) && !(id in builtInModelRatio));
    expect(changing.length).toBeGreaterThan(0);
    for (const { id, prices: listed } of changing) {
      const ratio = prices.modelRatio.get(id);
      if (ratio === undefined || !Array.isArray(listed)) continue;
      for (const { prices: one } of listed) {
        const input = baseOf(one.input_mtok);
        if (input === null) continue;
        const needed = decimal(String(input / 2));
        expect(larger(needed, decimal(ratio)), `${id} at ${input}`).toStrictEqual(decimal(ratio));
      }
    }
  });
});
