import { describe, expect, test } from 'vitest';
import { initialOptions } from '../../../src/application/options/initial-options.js';
import { settingsFrom } from '../../../src/application/options/settings.js';
import { noUsage } from '../../../src/domain/call/usage.js';
import { Quota } from '../../../src/domain/kernel/quota.js';
import type { Price, TokenPrice } from '../../../src/domain/pricing/pricing.js';
import type { Endpoint } from '../../../src/relay/contracts/endpoint.js';
import { chat } from '../../../src/relay/dialects/openai/endpoints/chat.js';
import { completions } from '../../../src/relay/dialects/openai/endpoints/completions.js';
import { embeddings } from '../../../src/relay/dialects/openai/endpoints/embeddings.js';
import { moderations } from '../../../src/relay/dialects/openai/endpoints/moderations.js';
import { rerank } from '../../../src/relay/dialects/openai/endpoints/rerank.js';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { affordableLimit, estimateReservation } from '../../../src/relay/metering/reservation-estimate.js';
import { plainPrice } from '../../support/given/calls.js';
import { noPrices } from '../../support/given/no-prices.js';

const settings = settingsFrom(new Map(), noPrices, initialOptions(noPrices));
const held = (body: JsonObject, bytes: number, names: readonly string[], overhead: number, by = settings) => {
  const [model = ''] = names;
  return estimateReservation({
    demand: chat.demand({ body, bytes, model, names: new Set(names), upload: null }),
    names: new Set(names),
    price: plainPrice,
    settings: by,
    thinking: overhead,
    allowed: noUsage,
  });
};
const estimated = (body: JsonObject, overhead: number) => held(body, 100, ['qwen-plus'], overhead);

describe('a reservation for a model with reasoning overhead', () => {
  test('covers the thinking of every answer, and is refused otherwise', () => {
    const body = { messages: [{ role: 'user', content: 'hi' }], max_tokens: 100, n: 2 };
    const { bound, min, max } = estimated(body, 20_000);
    expect(bound.output).toBe(2 * 20_100);
    expect(max - bound.input).toBe(2 * 20_100);
    expect(min).toBeGreaterThan(2 * 20_100);
  });

  test('leaves the answer the rest beside the thinking, where the caller sets no limit', () => {
    const estimate = estimated({ messages: [{ role: 'user', content: 'hi' }] }, 20_000);
    const granted = Quota(estimate.min + 1_000);
    const limit = affordableLimit(estimate, granted) ?? 0;
    expect(limit).toBe(settings.preConsumedTokens + 1_000);
    expect(limit + 20_000 + estimate.conservative.input).toBeLessThanOrEqual(granted);
  });
});

describe('a caller’s limit that the balance does not cover', () => {
  const messages = [{ role: 'user', content: 'hi' }];
  const body = { messages, max_tokens: 128_000 };

  test('is lowered to the granted amount, and never raised', () => {
    const estimate = held(body, 100, ['claude-opus-4-5'], 0);
    expect(estimate.min).toBe(estimate.conservative.input + settings.preConsumedTokens);
    const granted = Quota(estimate.min + 1_000);
    expect(affordableLimit(estimate, granted)).toBe(settings.preConsumedTokens + 1_000);
    expect(affordableLimit(estimate, estimate.max)).toBeNull();
    expect(affordableLimit(held({ messages, max_tokens: 20 }, 100, ['claude-opus-4-5'], 0), granted)).toBeNull();
  });

  test('is kept where the operator sets so: the whole amount must be available', () => {
    const changed = settingsFrom(new Map([['LowerOutputLimitEnabled', 'false']]), noPrices, initialOptions(noPrices));
    const estimate = held(body, 100, ['claude-opus-4-5'], 0, changed);
    expect(estimate.min).toBe(estimate.conservative.input + 128_000);
    expect(affordableLimit(estimate, estimate.min)).toBeNull();
  });
});

test('the input and output of a summary is reserved for beside prompt and limit', () => {
  const request = {
    prompt: chat.demand({ body: { messages: [] }, bytes: 70_000, model: 'm', names: new Set(['m']), upload: null })
      .prompt,
    answers: 1,
    asked: 100,
  };
  const names = new Set(['claude-opus-4-5']);
  const rest = { names, price: plainPrice, settings, thinking: 0, allowed: noUsage };
  const hold = (compacts: boolean) => estimateReservation({ demand: { ...request, compacts }, ...rest });
  const [plain, summed] = [hold(false), hold(true)];
  expect(summed.bound.input).toBe(2 * plain.bound.input);
  expect(summed.bound.output).toBe(100 + summed.limits.output);
  expect(summed.min).toBe(plain.min + 8_192);
  // The summary leaves the limit as it is.
  expect(affordableLimit(summed, summed.min)).toBeNull();
});

test('a reservation covers a prompt that fills the larger context of two models that a name may mean', () => {
  const body = { messages: [{ role: 'user', content: 'hi' }], max_tokens: 10 };
  const promptOf = (...names: string[]) => held(body, 1_500_000, names, 0).bound.input;
  expect(promptOf('o1-mini')).toBe(128_000);
  expect(promptOf('o1-mini', 'gemini-1.5-pro')).toBe(1_500_000 + settings.upstreamPromptTokens);
});

describe('a reservation for a model with a price tier for long prompts', () => {
  const tiered: Price = {
    ...(plainPrice as TokenPrice),
    tiers: [{ over: 2_000, ratios: { input: '3', output: '3' } }],
  };
  const estimate = (bytes: number) =>
    estimateReservation({
      demand: chat.demand({
        body: { messages: [{ role: 'user', content: 'a '.repeat(bytes / 2) }], max_tokens: 10 },
        bytes,
        model: 'qwen-plus',
        names: new Set(['qwen-plus']),
        upload: null,
      }),
      names: new Set(['qwen-plus']),
      price: tiered,
      settings,
      thinking: 0,
      allowed: noUsage,
    });

  test('uses the higher tier, and records it, as soon as the maximum prompt reaches it', () => {
    const { price, bound, max } = estimate(4_000);
    expect(bound.input).toBeGreaterThan(2_000);
    expect(price).toEqual(tiered);
    expect(max).toBe(3 * (bound.input + bound.output));
  });

  test('uses the base price, and records no tier, where no prompt reaches it', () => {
    const { price, bound, max } = estimate(200);
    expect(price).not.toHaveProperty('tiers');
    expect(max).toBe(bound.input + bound.output);
  });
});

describe('the input of several texts', () => {
  const text = 'word '.repeat(3_000);
  const bound = (endpoint: Endpoint, model: string, body: JsonObject): number => {
    const names = new Set([model]);
    const bytes = Buffer.byteLength(JSON.stringify(body));
    const demand = endpoint.demand({ body, bytes, model, names, upload: null });
    return estimateReservation({ demand, names, price: plainPrice, settings, thinking: 0, allowed: noUsage }).bound
      .input;
  };
  const model = 'gpt-3.5-turbo-instruct';

  test('is bounded by the context of a model that reads them together', () => {
    expect(bound(completions, model, { prompt: text })).toBe(4_096);
  });

  test.each<[string, Endpoint, JsonObject]>([
    ['prompts of completions', completions, { prompt: [text, text] }],
    ['texts to embed', embeddings, { input: [text, text] }],
    ['documents to rank', rerank, { query: 'a', documents: [text, text] }],
    ['texts to judge', moderations, { input: [text, text] }],
  ])('is bounded by their bytes where they are read apart: %s', (_, endpoint, body) => {
    expect(bound(endpoint, model, body)).toBeGreaterThan(30_000);
  });

  test('of a ranking has room for a query that is read with every document', () => {
    const documents = Array.from({ length: 100 }, () => 'a');
    const body = { query: text, documents };
    expect(bound(rerank, model, body)).toBeGreaterThan(100 * text.length);
    const bytes = Buffer.byteLength(JSON.stringify(body));
    const { prompt } = rerank.demand({ body, bytes, model, names: new Set([model]), upload: null });
    expect(prompt.conservative.input).toBeGreaterThan(100 * 3_000);
    expect(prompt.expected).toBeLessThan(4_000);
  });

  test.each<[string, string, number, JsonObject, number, number]>([
    ['short documents', 'a', 100, {}, 1, 1],
    ['one document more', 'a', 101, {}, 2, 2],
    ['documents of several parts', 'a'.repeat(4_000), 100, {}, 2, 16],
    ['documents that are cut off', 'a'.repeat(400_000), 100, {}, 9, 17],
    ['documents that are cut off later', 'a'.repeat(40_000), 100, { max_tokens_per_doc: 10_000 }, 20, 40],
  ])('of a ranking makes search units: %s', (_, text, count, members, likely, most) => {
    const body = { query: 'a', documents: Array.from({ length: count }, () => text), ...members };
    const names = new Set([model]);
    const { prompt } = rerank.demand({ body, bytes: 1_000, model, names, upload: null });
    expect([prompt.conservative.searchUnits, prompt.max.searchUnits]).toEqual([likely, most]);
  });
});
