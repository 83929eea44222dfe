import { expect, test } from 'vitest';
import { defaultPrices } from '../../../src/application/prices/default-prices.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import { priceOf } from '../../../src/domain/pricing/price-tables.js';
import { chargeOf } from '../../../src/domain/pricing/pricing.js';
import { openAiModels } from '../../../src/relay/catalogue/openai-models.js';
import { anthropicProvider } from '../../../src/relay/providers/anthropic-claude.js';
import { googleGemini } from '../../../src/relay/providers/google-gemini.js';

/* Models that coding agents ask for where nobody says which. */

const tables = {
  ...defaultPrices(Instant(Date.UTC(2026, 10, 28))),
  records: new Map(),
  reasoningRatio: new Map<string, string>(),
  serviceTiers: new Map(),
  groupRatio: new Map<string, string>(),
  toolPrice: new Map<string, string>(),
  quotaPerUnit: '500000',
};

/** USD of a million input and a million output tokens, in prompts of a hundred thousand. */
test.each([
  ['claude-opus-5-5', anthropicProvider.defaultModels, 24],
  ['claude-sonnet-5-5', anthropicProvider.defaultModels, 12],
  ['claude-haiku-5-5', anthropicProvider.defaultModels, 0.6],
  ['claude-fable-5-1', anthropicProvider.defaultModels, 60],
  ['gemini-3.8-flash', googleGemini.defaultModels, 4.5],
  ['gpt-6-sol', openAiModels, 12],
])('%s is in its maker’s list and has a price', (model, listed, dollars) => {
  expect(listed).toContain(model);
  const price = priceOf(tables, model, '', false);
  if (price === null) throw new Error(`${model} has no price`);
  expect(chargeOf({ input: 100_000, output: 100_000 }, price) / 50_000).toBeCloseTo(dollars, 6);
});
