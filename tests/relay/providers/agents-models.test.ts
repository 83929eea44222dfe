import { expect, test } from 'vitest';
import { defaultPrices } from '../../../src/application/options/default-prices.js';
import { Instant } from '../../../src/domain/kernel/instant.js';
import { priceOf } from '../../../src/domain/pricing/price-tables.js';
import { chargeOf } from '../../../src/domain/pricing/pricing.js';
import { openAiModels } from '../../../src/relay/catalogue/openai-models.js';
import { anthropicProvider } from '../../../src/relay/providers/anthropic-claude.js';
import { googleGemini } from '../../../src/relay/providers/google-gemini.js';

/* Models that coding agents ask for where nobody says which. */

const tables = {
  ...defaultPrices(Instant(Date.UTC(2026, 10, 28))),
  reasoningRatio: new Map<string, string>(),
  groupRatio: new Map<string, string>(),
  toolPrice: new Map<string, string>(),
  quotaPerUnit: '500000',
};

/** USD of a million input and a million output tokens. */
test.each([
  ['claude-opus-5-5', anthropicProvider.defaultModels, 24],
  ['claude-sonnet-5-5', anthropicProvider.defaultModels, 12],
  ['claude-haiku-5-5', anthropicProvider.defaultModels, 0.6],
  ['claude-fable-5-1', anthropicProvider.defaultModels, 60],
  // Half of it until the end of 2026: a default is the dearest price there is.
  ['gemini-3.8-flash', googleGemini.defaultModels, 9],
  ['gpt-6-sol', openAiModels, 12],
])('%s is in its maker’s list and has a price', (model, listed, dollars) => {
  expect(listed).toContain(model);
  const price = priceOf(tables, model, '', false);
  if (price === null) throw new Error(`${model} has no price`);
  expect(chargeOf({ input: 1_000_000, output: 1_000_000 }, price) / 500_000).toBeCloseTo(dollars, 6);
});
