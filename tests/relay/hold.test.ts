import { describe, expect, test } from 'vitest';
import type { DefaultPrices } from '../../src/application/default-prices.js';
import { initialOptions, settingsFrom } from '../../src/application/settings.js';
import { Quota } from '../../src/domain/quota.js';
import { affordableLimit, estimateHold } from '../../src/relay/call/hold.js';
import { chat } from '../../src/relay/callers/openai/endpoints/chat.js';
import type { JsonObject } from '../../src/relay/protocols/json.js';
import { plainPrice } from '../support/calls.js';

const none: DefaultPrices = {
  modelRatio: new Map(),
  modelPrice: new Map(),
  completionRatio: new Map(),
  cacheRatio: new Map(),
  cacheWriteRatio: new Map(),
  imageRatio: new Map(),
  imageOutputRatio: new Map(),
  audioRatio: new Map(),
  audioOutputRatio: new Map(),
};
const settings = settingsFrom(new Map(), none, initialOptions(none));
const held = (body: JsonObject, bytes: number, names: readonly string[], beside: number) => {
  const [model = ''] = names;
  return estimateHold(
    chat.demand(body, bytes, model, new Set(names), null),
    new Set(names),
    plainPrice,
    settings,
    beside,
    false,
    null,
  );
};
const estimated = (body: JsonObject, beside: number) => held(body, 100, ['qwen-plus'], beside);

describe('a hold for a model whose thinking comes on top', () => {
  test('has room for the thinking of every answer, and is refused without', () => {
    const body = { messages: [{ role: 'user', content: 'hi' }], max_tokens: 100, n: 2 };
    const { bound, least, most } = estimated(body, 20_000);
    expect(bound.output).toBe(2 * 20_100);
    expect(most - bound.prompt).toBe(2 * 20_100);
    expect(least).toBeGreaterThan(2 * 20_100);
  });

  test('leaves the answer what is left beside the thinking, where the caller names no limit', () => {
    const estimate = estimated({ messages: [{ role: 'user', content: 'hi' }] }, 20_000);
    const granted = Quota(estimate.least + 1_000);
    const limit = affordableLimit(estimate, granted) ?? 0;
    expect(limit).toBe(settings.preConsumedTokens + 1_000);
    expect(limit + 20_000 + estimate.amplePrompt).toBeLessThanOrEqual(granted);
  });
});

test('a hold has room for a prompt that fills the larger context of two models a name may stand for', () => {
  const body = { messages: [{ role: 'user', content: 'hi' }], max_tokens: 10 };
  const promptOf = (...names: string[]) => held(body, 1_500_000, names, 0).bound.prompt;
  expect(promptOf('o1-mini')).toBe(128_000);
  expect(promptOf('o1-mini', 'gemini-1.5-pro')).toBe(1_500_000 + settings.upstreamPromptTokens);
});
