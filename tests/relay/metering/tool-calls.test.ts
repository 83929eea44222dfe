import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Usage } from '../../../src/domain/call/usage.js';
import { reservedUsage } from '../../../src/domain/call/usage-bound.js';
import { chargeOf, type Price, reservationOf } from '../../../src/domain/pricing/pricing.js';
import { withTools } from '../../../src/domain/pricing/tool-prices.js';
import { providerTools } from '../../../src/relay/contracts/neutral.js';
import type { JsonObject } from '../../../src/relay/json/json.js';
import { believedUsage } from '../../../src/relay/metering/believed-usage.js';
import { toolCallsOf } from '../../../src/relay/metering/tool-calls.js';
import { GeminiReader } from '../../../src/relay/protocols/gemini/answer.js';
import { unreportedUsage } from '../../../src/relay/protocols/openai/unreported-usage.js';
import { readOpenAiUsage } from '../../../src/relay/protocols/openai/usage.js';
import { SeenText } from '../../../src/relay/text/seen-text.js';

const none: ReadonlySet<string> = new Set();
const maxOf = (
  body: JsonObject,
  { names = ['m'], answers = 1, sent = [] as JsonObject[], switched = providerTools } = {},
) => toolCallsOf([body, ...sent], new Set(names), answers, switched);
const web = { type: 'web_search_20250305', name: 'web_search' };

describe('the maximum number of searches of a call', () => {
  test('is zero where nothing requests them', () => {
    expect(maxOf({ tools: [{ type: 'function', function: { name: 'search' } }, { name: 'web_search' }] })).toEqual({});
  });

  test('is zero for a client’s own function, whatever its name, where no name enables a search', () => {
    const named = { name: 'googleSearch' };
    const body = { tools: [{ type: 'function', function: named }, named], functions: [named] };
    expect(maxOf(body, { switched: none })).toEqual({});
  });

  test.each<[string, JsonObject, Usage, Parameters<typeof maxOf>[1]?]>([
    ['as its caller sets it', { tools: [{ ...web, max_uses: 3 }] }, { 'calls:web_search': 3 }],
    ['by twenty where it is not set', { tools: [web] }, { 'calls:web_search': 20 }],
    ['for each of two tools', { tools: [{ ...web, max_uses: 3 }, web] }, { 'calls:web_search': 23 }],
    ['for Google’s search', { tools: [{ googleSearch: {} }] }, { 'calls:google_search': 40 }, { answers: 2 }],
    [
      'for Google’s search, spelled as in the address',
      { tools: [{ google_search: {} }] },
      { 'calls:google_search': 20 },
    ],
    [
      'for Google’s search as a function',
      { tools: [{ type: 'function', function: { name: 'googleSearch' } }] },
      { 'calls:google_search': 20 },
    ],
    [
      'for Google’s search as a legacy function',
      { functions: [{ name: 'googleSearch' }] },
      { 'calls:google_search': 40 },
      { answers: 2 },
    ],
    [
      'by one for each answer where prompts are sold',
      { tools: [{ googleSearch: {} }] },
      { 'calls:google_search': 2 },
      { names: ['gemini-2.5-pro'], answers: 2 },
    ],
    [
      'by the more expensive of two models that a name may mean',
      { tools: [{ googleSearch: {} }] },
      { 'calls:google_search': 20 },
      { names: ['gemini-2.5-pro', 'gemini-3-pro'] },
    ],
    ['for the model itself', {}, { 'calls:web_search': 1 }, { names: ['gpt-4o-search-preview'] }],
    ['for the model name with :online', {}, { 'calls:web_search': 1 }, { names: ['openai/gpt-4o:online'] }],
    ['as an operator sets it', {}, { 'calls:google_search': 20 }, { sent: [{ tools: [{ googleSearch: {} }] }] }],
    ['for Google’s maps, like its searches', { tools: [{ googleMaps: {} }] }, { 'calls:google_maps': 20 }],
    [
      'by one for Google’s maps where prompts are sold',
      { tools: [{ google_maps: { enable_widget: true } }] },
      { 'calls:google_maps': 2 },
      { names: ['gemini-2.5-flash'], answers: 2 },
    ],
    [
      'by one container of Anthropic’s, however often it is named',
      { tools: [{ type: 'code_execution_20250825' }, { type: 'code_execution_20260521' }] },
      { 'calls:code_execution': 1 },
    ],
    [
      'by a container of OpenAI’s for each answer',
      { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] },
      { 'calls:code_interpreter': 3 },
      { answers: 3 },
    ],
    [
      'for Moonshot’s search',
      { tools: [{ type: 'builtin_function', function: { name: '$web_search' } }] },
      { 'calls:web_search': 20 },
    ],
    ['for a member of the body', { web_search_options: {} }, { 'calls:web_search': 20 }],
    ['for a member with a limit', { search_parameters: { max_search_results: 30 } }, { 'calls:web_search': 30 }],
    ['for a member in another', { extra_body: { enable_search: true } }, { 'calls:web_search': 20 }],
    [
      'by one for a member on a model that always searches',
      { web_search_options: {} },
      { 'calls:web_search': 1 },
      { names: ['gpt-4o-search-preview'] },
    ],
    [
      'without members that are off',
      { enable_search: false, search_parameters: { mode: 'off' }, web_search: { enable: false } },
      {},
    ],
    [
      'below the safe integers',
      { tools: [{ ...web, max_uses: Number.MAX_SAFE_INTEGER }] },
      { 'calls:web_search': 128 * 2 ** 30 },
      { answers: 128 },
    ],
  ])('is bounded %s', (_how, body, bound, request) => expect(maxOf(body, request)).toEqual(bound));
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
const judged = (reported: Usage | null, seen?: Usage) =>
  believedUsage(reported, said(seen), { bound, promptEstimate: 12, model: 'm' });

describe('the searches that an upstream reports', () => {
  test('are believed up to the maximum, and no further', () => {
    const reported = (count: number): Usage => ({ input: 10, output: 5, 'calls:web_search': count });
    expect(judged(reported(3))).toEqual({ usage: reported(3), usageSource: 'upstream' });
    expect(judged(reported(4))).toEqual({ usage: reported(3), usageSource: 'disbelieved' });
  });

  test('without a request stay as reported: they have no price', () => {
    const reported: Usage = { input: 10, output: 5, 'calls:google_search': 9 };
    expect(judged(reported)).toEqual({ usage: reported, usageSource: 'upstream' });
  });

  test('are those that were seen, where nothing or only the input was reported', () => {
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

  test('cost no more than the reservation, whatever else was reported', () => {
    const count = fc.oneof(fc.nat(2_000), fc.constantFrom(8e15, -1, 0.5));
    const reported = fc.record({
      prompt_tokens: count,
      completion_tokens: count,
      prompt_tokens_details: fc.record({ cached_tokens: count, cache_creation_tokens: count, image_tokens: count }),
      completion_tokens_details: fc.record({ reasoning_tokens: count, image_tokens: count }),
      server_tool_use: fc.record({ web_search_requests: count }),
    });
    const held = reservationOf(reservedUsage(bound), price);
    fc.assert(
      fc.property(reported, fc.nat(60), (usage, seen) => {
        const { usage: used } = judged(readOpenAiUsage(usage, false), { 'calls:web_search': seen });
        expect(Object.values(used).every((one = 0) => Number.isSafeInteger(one) && one >= 0)).toBe(true);
        expect(chargeOf(used, price)).toBeLessThanOrEqual(held);
      }),
      { numRuns: 1_000 },
    );
  });
});

test('a call costs between nothing and its reservation, with any requested and reported tools', () => {
  const tools: JsonObject[] = [
    web,
    { ...web, max_uses: 2 },
    { type: 'code_execution_20260521' },
    { type: 'code_interpreter' },
    { googleMaps: {} },
    { google_search: {} },
    { type: 'function', function: { name: 'f' } },
  ];
  const body = fc.record({ tools: fc.subarray(tools), enable_search: fc.boolean() });
  const names = ['web_search', 'google_search', 'google_maps', 'code_execution', 'code_interpreter'] as const;
  const count = fc.oneof(fc.nat(50), fc.constantFrom(0, Number.MAX_SAFE_INTEGER, 2 ** 40));
  const reported = fc.tuple(...names.map(() => count));
  const priced = {
    records: new Map(),
    toolPrice: new Map(names.map((name, at) => [name, String((at + 1) * 7)])),
    quotaPerUnit: '500000',
  };
  fc.assert(
    fc.property(body, reported, fc.integer({ min: 1, max: 128 }), fc.boolean(), (asked, counts, answers, reports) => {
      const calls = toolCallsOf([asked], new Set(['m']), answers, none);
      const toolPriced = withTools({ ...price, pieces: undefined } as never, priced, 'm', calls);
      const usage: Usage = Object.fromEntries(names.map((name, at) => [`calls:${name}`, counts[at]]));
      const limits = { input: 1_000, output: 500, ...calls };
      const reported: Usage | null = reports ? { input: 10, output: 5, ...usage } : null;
      const used = believedUsage(reported, said(reports ? {} : usage), {
        bound: limits,
        promptEstimate: 12,
        model: 'm',
      });
      const charge = chargeOf(used.usage, toolPriced);
      expect(charge).toBeGreaterThanOrEqual(0);
      expect(charge).toBeLessThanOrEqual(reservationOf(reservedUsage(limits), toolPriced));
      for (const name of Object.keys(calls) as (keyof Usage)[])
        expect(used.usage[name] ?? 0).toBeLessThanOrEqual(calls[name] ?? 0);
    }),
    { numRuns: 500 },
  );
});

describe('tool calls that an upstream of OpenAI’s protocol does not report', () => {
  const unreportedOf = (body: JsonObject, model: string, wire = 'openai', paramOverride: JsonObject | null = null) =>
    unreportedUsage({ dialect: { wire }, mode: 'chat', body }, { paramOverride }, model).calls;

  test('are counted as one of each requested tool', () => {
    const body = { tools: [web, web, { type: 'code_interpreter' }], enable_search: true };
    expect(unreportedOf(body, 'm')).toEqual({ 'calls:web_search': 1, 'calls:code_interpreter': 1 });
    expect(unreportedOf({}, 'gpt-4o-search-preview')).toEqual({ 'calls:web_search': 1 });
    expect(unreportedOf({}, 'openai/gpt-4o:online')).toEqual({ 'calls:web_search': 1 });
    expect(unreportedOf({ tools: [{ type: 'function', function: { name: 'web_search' } }] }, 'm')).toEqual({});
  });

  test('include those of an operator, and none of another protocol’s tools', () => {
    expect(unreportedOf({ tools: [web] }, 'm', 'anthropic')).toEqual({});
    expect(unreportedOf({}, 'm', 'anthropic', { enable_search: true })).toEqual({ 'calls:web_search': 1 });
  });

  const reported = { prompt_tokens: 10, completion_tokens: 5 };
  const unreported: Usage = { 'calls:web_search': 1, 'calls:code_interpreter': 1 };
  test.each<[string, JsonObject, number | undefined]>([
    ['nothing', {}, 1],
    ['none', { server_tool_use: { web_search_requests: 0 } }, undefined],
    ['some, as Anthropic does', { server_tool_use: { web_search_requests: 4 } }, 4],
    ['some, as DashScope does', { plugins: { search: { count: 2 } } }, 2],
    ['sources, as xAI does', { num_sources_used: 7 }, 7],
    ['queries, as Perplexity does', { num_search_queries: 3 }, 3],
  ])('are counted where it reports %s', (_what, more, searches) => {
    const usage = readOpenAiUsage({ ...reported, ...more }, false, { calls: unreported, keepsForHours: () => false });
    expect([usage?.['calls:web_search'], usage?.['calls:code_interpreter']]).toEqual([searches, 1]);
  });
});

describe('the uses of Google’s maps in an answer', () => {
  const read = (model: string, alone: boolean, ...groundings: readonly JsonObject[]) => {
    const reader = new GeminiReader({ callId: 'call-1', model, createdAt: 0 }, alone);
    for (const groundingMetadata of groundings) reader.choices({ candidates: [{ groundingMetadata }] }, false);
    return reader.searches;
  };
  const maps = { groundingChunks: [{ maps: { uri: 'https://maps.example/1' } }] };

  test('are counted by the queries where nothing else searches, and once where prompts are sold', () => {
    const twice = { ...maps, webSearchQueries: ['a', 'b'] };
    expect(read('gemini-3-pro', true, maps, twice, twice)).toEqual({ 'calls:google_maps': 2 });
    expect(read('gemini-3-pro', true, maps)).toEqual({ 'calls:google_maps': 1 });
    expect(read('gemini-2.5-pro', true, twice)).toEqual({ 'calls:google_maps': 1 });
    expect(read('gemini-3-pro', true, { googleMapsWidgetContextToken: 'w' })).toEqual({ 'calls:google_maps': 1 });
  });

  test('are one beside a search, and zero where they were not used', () => {
    expect(read('gemini-3-pro', false, { ...maps, webSearchQueries: ['a', 'b'] })).toEqual({
      'calls:google_search': 2,
      'calls:google_maps': 1,
    });
    expect(read('gemini-3-pro', true, {})).toEqual({});
    expect(read('gemini-3-pro', false, { groundingChunks: [{ web: { uri: 'x' } }] })).toEqual({});
  });
});

describe('the searches in an answer of Google’s', () => {
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

  test('are its queries, reported once or repeatedly as they grow', () => {
    expect(shown('gemini-3-pro', [['a', 'b']])).toEqual({ 'calls:google_search': 2 });
    expect(shown('gemini-3-pro', [['a']], [['a', 'b']], [['a', 'b']])).toEqual({ 'calls:google_search': 2 });
  });

  test('are those of all its candidates', () =>
    expect(shown('gemini-3-pro', [['a', 'b'], ['c']])).toEqual({ 'calls:google_search': 3 }));

  test('are one where prompts are sold, and zero without a query', () => {
    expect(shown('gemini-2.5-pro', [['a', 'b', 'c']])).toEqual({ 'calls:google_search': 1 });
    expect(shown('gemini-2.5-pro', [[]])).toEqual({});
  });
});
