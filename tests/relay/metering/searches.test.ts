import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Usage } from '../../../src/domain/call/usage.js';
import { heldUsage } from '../../../src/domain/call/usage-bound.js';
import { chargeOf, type Price, reservationOf } from '../../../src/domain/pricing/pricing.js';
import { providerTools } from '../../../src/relay/contracts/neutral.js';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { believedUsage } from '../../../src/relay/metering/believed-usage.js';
import { searchesOf } from '../../../src/relay/metering/searches.js';
import { GeminiReader } from '../../../src/relay/protocols/gemini/answer.js';
import { readOpenAiUsage } from '../../../src/relay/protocols/openai/usage.js';
import { SeenText } from '../../../src/relay/text/seen-text.js';

const none: ReadonlySet<string> = new Set();
const most = (
  body: JsonObject,
  { names = ['m'], answers = 1, sent = [] as JsonObject[], switched = providerTools } = {},
) => searchesOf([body, ...sent], new Set(names), answers, switched);
const web = { type: 'web_search_20250305', name: 'web_search' };

describe('how often a provider may search for a call', () => {
  test('is not at all where nothing asks for it', () => {
    expect(most({ tools: [{ type: 'function', function: { name: 'search' } }, { name: 'web_search' }] })).toEqual({});
  });

  test('is not at all by a client’s own function, whatever it is called, where no name switches anything on', () => {
    const named = { name: 'googleSearch' };
    const body = { tools: [{ type: 'function', function: named }, named], functions: [named] };
    expect(most(body, { switched: none })).toEqual({});
  });

  test.each<[string, JsonObject, Usage, Parameters<typeof most>[1]?]>([
    ['as its caller says', { tools: [{ ...web, max_uses: 3 }] }, { 'calls:web_search': 3 }],
    ['twenty times where nobody says', { tools: [web] }, { 'calls:web_search': 20 }],
    ['by each of two tools', { tools: [{ ...web, max_uses: 3 }, web] }, { 'calls:web_search': 23 }],
    ['by Google’s', { tools: [{ googleSearch: {} }] }, { 'calls:google_search': 40 }, { answers: 2 }],
    ['by Google’s, spelled as in the address', { tools: [{ google_search: {} }] }, { 'calls:google_search': 20 }],
    [
      'by Google’s as a function',
      { tools: [{ type: 'function', function: { name: 'googleSearch' } }] },
      { 'calls:google_search': 20 },
    ],
    [
      'by Google’s as a function of the older kind',
      { functions: [{ name: 'googleSearch' }] },
      { 'calls:google_search': 40 },
      { answers: 2 },
    ],
    [
      'once an answer where prompts are sold',
      { tools: [{ googleSearch: {} }] },
      { 'calls:google_search': 2 },
      { names: ['gemini-2.5-pro'], answers: 2 },
    ],
    [
      'as the dearer of two models a name may stand for',
      { tools: [{ googleSearch: {} }] },
      { 'calls:google_search': 20 },
      { names: ['gemini-2.5-pro', 'gemini-3-pro'] },
    ],
    ['by the model itself', {}, { 'calls:web_search': 1 }, { names: ['gpt-4o-search-preview'] }],
    ['as an operator sends along', {}, { 'calls:google_search': 20 }, { sent: [{ tools: [{ googleSearch: {} }] }] }],
  ])('is bounded %s', (_how, body, bound, asking) => expect(most(body, asking)).toEqual(bound));
});

const price: Price = {
  per: 'token',
  model: '1',
  ratios: { output: '4', reasoning: '5', imageOutput: '60', cacheWrite: '1.25' },
  pieces: { dollars: { 'calls:web_search': '0.01' }, quotaPerUnit: '500000' },
  group: '1',
};
const searches: Usage = { 'calls:web_search': 3 };
const bound = { input: 1_000, output: 500, ...searches };
const said = (seen: Usage = {}) => ({
  said: new SeenText('Found.'),
  toolCalls: 0,
  finishReason: 'stop',
  searches: seen,
});
const judged = (told: Usage | null, seen?: Usage) =>
  believedUsage(told, said(seen), { bound, promptEstimate: 12, model: 'm' });

describe('searches that upstream tells', () => {
  test('are believed up to the bound, and no further', () => {
    const told = (count: number): Usage => ({ input: 10, output: 5, 'calls:web_search': count });
    expect(judged(told(3))).toEqual({ usage: told(3), usageSource: 'upstream' });
    expect(judged(told(4))).toEqual({ usage: told(3), usageSource: 'disbelieved' });
  });

  test('that nobody asked for stay as told: they have no price', () => {
    const told: Usage = { input: 10, output: 5, 'calls:google_search': 9 };
    expect(judged(told)).toEqual({ usage: told, usageSource: 'upstream' });
  });

  test('are those that were seen, where nothing or only the input was told', () => {
    const seen = { 'calls:web_search': 2 };
    expect(judged(null, seen).usage).toMatchObject(seen);
    const half = believedUsage(
      { input: 10 },
      { ...said(seen), inputOnly: true },
      { bound, promptEstimate: 12, model: 'm' },
    );
    expect(half).toMatchObject({ usage: { input: 10, ...seen }, usageSource: 'estimated' });
    expect(judged(null, { 'calls:web_search': 50 }).usage).toMatchObject(searches);
  });

  test('cost no more than was held, whatever else was told', () => {
    const count = fc.oneof(fc.nat(2_000), fc.constantFrom(8e15, -1, 0.5));
    const told = fc.record({
      prompt_tokens: count,
      completion_tokens: count,
      prompt_tokens_details: fc.record({ cached_tokens: count, cache_creation_tokens: count, image_tokens: count }),
      completion_tokens_details: fc.record({ reasoning_tokens: count, image_tokens: count }),
      server_tool_use: fc.record({ web_search_requests: count }),
    });
    const held = reservationOf(heldUsage(bound), price);
    fc.assert(
      fc.property(told, fc.nat(60), (usage, seen) => {
        const { usage: used } = judged(readOpenAiUsage(usage, false), { 'calls:web_search': seen });
        expect(Object.values(used).every((one = 0) => Number.isSafeInteger(one) && one >= 0)).toBe(true);
        expect(chargeOf(used, price)).toBeLessThanOrEqual(held);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('searches that an answer of Google’s shows', () => {
  const shown = (model: string, ...responses: readonly (readonly string[][])[]) => {
    const reader = new GeminiReader({ callId: 'call-1', model, createdAt: 0 });
    for (const candidates of responses)
      reader.choices(
        {
          candidates: candidates.map((webSearchQueries, index) => ({ index, groundingMetadata: { webSearchQueries } })),
        },
        false,
      );
    return reader.searches;
  };

  test('are its queries, told once or again and again as they grow', () => {
    expect(shown('gemini-3-pro', [['a', 'b']])).toEqual({ 'calls:google_search': 2 });
    expect(shown('gemini-3-pro', [['a']], [['a', 'b']], [['a', 'b']])).toEqual({ 'calls:google_search': 2 });
  });

  test('are those of all its candidates', () =>
    expect(shown('gemini-3-pro', [['a', 'b'], ['c']])).toEqual({ 'calls:google_search': 3 }));

  test('are one where prompts are sold, and none where nothing was asked', () => {
    expect(shown('gemini-2.5-pro', [['a', 'b', 'c']])).toEqual({ 'calls:google_search': 1 });
    expect(shown('gemini-2.5-pro', [[]])).toEqual({});
  });
});
