import type { JsonObject } from '../../../src/relay/json/json.js';
import type { Reported, UsageWire } from '../../support/upstreams/usage-upstream.js';

/*
 * Bills worked out by hand from the public prices of vendors. Prices are USD of a million tokens, so tokens × price is
 * in millionths of a USD; a tool's price stands there in millionths too. 500,000 units of quota are one USD: the charge
 * is half of the sum, rounded once, a half upwards, and at least 1.
 */

export type Dialect = 'openai' | 'anthropic' | 'gemini';

export interface RealBill extends Reported {
  readonly of: string;
  readonly model: string;
  /** Of the channel. */
  readonly type: number;
  readonly wire: UsageWire;
  /** Whose list the prices are from, and of which day. */
  readonly source: string;
  /** What the caller asks for, by dialect. Left out: nothing, in every dialect. A dialect left out cannot ask for it. */
  readonly asks?: Partial<Readonly<Record<Dialect, JsonObject>>>;
  /** Millionths of a USD: `1234 × 2.5 + 567 × 10 = 8755`; what is in brackets is multiplied by what follows. */
  readonly sum: string;
  readonly charge: number;
}

const openAi = { type: 1, wire: 'openai', source: 'OpenAI, as in LiteLLM 1.110.2 of 20 November 2026' } as const;
const anthropic = {
  type: 14,
  wire: 'anthropic',
  source: 'Anthropic, as in LiteLLM 1.110.2 of 20 November 2026',
} as const;
const google = { type: 24, wire: 'gemini', source: 'Google, as in LiteLLM 1.110.2 of 20 November 2026' } as const;
const xAi = { type: 48, wire: 'openai', source: 'xAI, as in LiteLLM 1.110.2 of 20 November 2026' } as const;

/** As OpenAI reports it. */
const usage = (prompt: number, completion: number, input: JsonObject = {}, output: JsonObject = {}): JsonObject => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  prompt_tokens_details: input,
  completion_tokens_details: output,
});

const priority = {
  openai: { service_tier: 'priority' },
  anthropic: { speed: 'fast' },
  gemini: { serviceTier: 'priority' },
};
const keptFor12Hours = { openai: { prompt_cache_options: { ttl: '12h' } } };
const keptForAnHour = { anthropic: { cache_control: { type: 'ephemeral', ttl: '1h' } } };

/** A tenth of a second of silence, as WAVE. */
const sound = ((): string => {
  const samples = 800;
  const head = Buffer.from('RIFF----WAVEfmt \x10\0\0\0\x01\0\x01\0@\x1f\0\0\x80>\0\0\x02\0\x10\0data----', 'latin1');
  head.writeUInt32LE(36 + samples * 2, 4);
  head.writeUInt32LE(samples * 2, 40);
  return Buffer.concat([head, Buffer.alloc(samples * 2)]).toString('base64');
})();
const speech = { type: 'input_audio', input_audio: { data: sound, format: 'wav' } };
const withSound = {
  openai: { messages: [{ role: 'user', content: [{ type: 'text', text: 'What is said here?' }, speech] }] },
  gemini: {
    contents: [
      { role: 'user', parts: [{ text: 'What is said here?' }, { inlineData: { mimeType: 'audio/wav', data: sound } }] },
    ],
  },
};

export const realBills: readonly RealBill[] = [
  // Text, and what comes from a cache.
  {
    ...{ of: 'text, with a half to round', model: 'gpt-4o', ...openAi },
    usage: usage(1_234, 567),
    ...{ sum: '1234 × 2.5 + 567 × 10 = 8755', charge: 4_378 },
  },
  {
    ...{ of: 'cached input', model: 'gpt-4o-mini', ...openAi },
    usage: usage(1_000, 200, { cached_tokens: 400 }),
    ...{ sum: '600 × 0.15 + 400 × 0.075 + 200 × 0.6 = 240', charge: 120 },
  },
  {
    ...{ of: 'cached input', model: 'gpt-4.1', ...openAi },
    usage: usage(10_000, 300, { cached_tokens: 2_048 }),
    ...{ sum: '7952 × 2 + 2048 × 0.5 + 300 × 8 = 19328', charge: 9_664 },
  },
  {
    ...{ of: 'reasoning, at the price of output', model: 'o3', ...openAi },
    usage: usage(2_000, 1_500, { cached_tokens: 512 }, { reasoning_tokens: 1_200 }),
    ...{ sum: '1488 × 2 + 512 × 0.5 + 1500 × 8 = 15232', charge: 7_616 },
  },
  {
    ...{ of: 'reasoning', model: 'o4-mini', ...openAi },
    usage: usage(1_001, 333, {}, { reasoning_tokens: 200 }),
    ...{ sum: '1001 × 1.1 + 333 × 4.4 = 2566.3', charge: 1_283 },
  },
  {
    ...{ of: 'reasoning and cached input', model: 'gpt-5', ...openAi },
    usage: usage(4_096, 700, { cached_tokens: 1_024 }, { reasoning_tokens: 512 }),
    ...{ sum: '3072 × 1.25 + 1024 × 0.125 + 700 × 10 = 10968', charge: 5_484 },
  },
  {
    ...{ of: 'less than a unit', model: 'gpt-5-nano', ...openAi },
    usage: usage(3, 1),
    ...{ sum: '3 × 0.05 + 1 × 0.4 = 0.55', charge: 1 },
  },
  // Context tiers: OpenAI's begin beyond the bound.
  {
    ...{ of: 'a prompt at the bound of a context tier', model: 'gpt-5.4', ...openAi },
    usage: usage(272_000, 100),
    ...{ sum: '272000 × 2.5 + 100 × 15 = 681500', charge: 340_750 },
  },
  {
    ...{ of: 'a prompt one token beyond it', model: 'gpt-5.4', ...openAi },
    usage: usage(272_001, 100),
    ...{ sum: '272001 × 5 + 100 × 22.5 = 1362255', charge: 681_128 },
  },
  {
    ...{ of: 'a long prompt, most of it cached', model: 'gpt-5.5', ...openAi },
    usage: usage(300_000, 1_000, { cached_tokens: 250_000 }),
    ...{ sum: '50000 × 10 + 250000 × 1 + 1000 × 45 = 795000', charge: 397_500 },
  },
  // Cache writes, by lifetime.
  {
    ...{ of: 'a cache write for 30 minutes', model: 'gpt-5.6-sol', ...openAi },
    usage: usage(5_000, 200, { cached_tokens: 1_000, cache_write_tokens: 3_000 }),
    ...{ sum: '1000 × 4 + 1000 × 0.4 + 3000 × 5 + 200 × 20 = 23400', charge: 11_700 },
  },
  {
    ...{ of: 'cache writes for 30 minutes and for 12 hours', model: 'gpt-5.6-luna', ...openAi },
    usage: usage(3_000, 100, {
      cache_write_tokens: 2_000,
      cache_write_tokens_details: { ttl_30m_tokens: 500, ttl_12h_tokens: 1_500 },
    }),
    asks: keptFor12Hours,
    ...{ sum: '1000 × 0.2 + 500 × 0.25 + 1500 × 0.4 + 100 × 1.2 = 1045', charge: 523 },
  },
  {
    ...{ of: 'a cache write without a lifetime, where 12 hours were asked for', model: 'gpt-6.1-sol', ...openAi },
    usage: usage(2_000, 50, { cache_write_tokens: 1_500 }),
    asks: keptFor12Hours,
    ...{ sum: '500 × 2 + 1500 × 4 + 50 × 10 = 7500', charge: 3_750 },
  },
  {
    ...{ of: 'a cache write before GPT-5.6, which costs nothing extra', model: 'gpt-5.5', ...openAi },
    usage: usage(4_000, 10, { cache_write_tokens: 3_000 }),
    ...{ sum: '4000 × 5 + 10 × 30 = 20300', charge: 10_150 },
  },
  {
    ...{ of: 'cache writes in a context tier', model: 'gpt-6-astra', ...openAi },
    usage: usage(280_000, 500, { cached_tokens: 100_000, cache_write_tokens: 80_000 }),
    ...{ sum: '100000 × 20 + 100000 × 2 + 80000 × 25 + 500 × 75 = 4237500', charge: 2_118_750 },
  },
  // Tiers of service.
  {
    ...{ of: 'the priority tier', model: 'gpt-4o', ...openAi, answer: { service_tier: 'priority' } },
    ...{ usage: usage(1_000, 100), asks: priority },
    ...{ sum: '1000 × 4.25 + 100 × 17 = 5950', charge: 2_975 },
  },
  {
    ...{ of: 'a tier whose factor has no end', model: 'gpt-4o-mini', ...openAi, answer: { service_tier: 'priority' } },
    ...{ usage: usage(30_000, 3_001), asks: priority },
    ...{ sum: '30000 × 0.25 + 3001 × 1 = 10501', charge: 5_251 },
  },
  {
    ...{ of: 'the flex tier', model: 'gpt-5', ...openAi, answer: { service_tier: 'flex' } },
    ...{ usage: usage(1_000, 100), asks: { openai: { service_tier: 'flex' }, gemini: { serviceTier: 'flex' } } },
    ...{ sum: '1000 × 0.625 + 100 × 5 = 1125', charge: 563 },
  },
  {
    ...{ of: 'the ultrafast tier', model: 'gpt-6-astra', ...openAi, answer: { service_tier: 'ultrafast' } },
    ...{ usage: usage(100, 20), asks: { openai: { service_tier: 'ultrafast' } } },
    ...{ sum: '100 × 60 + 20 × 300 = 12000', charge: 6_000 },
  },
  {
    ...{ of: 'priority asked for and not got', model: 'gpt-4o', ...openAi, answer: { service_tier: 'default' } },
    ...{ usage: usage(1_000, 100), asks: priority },
    ...{ sum: '1000 × 2.5 + 100 × 10 = 3500', charge: 1_750 },
  },
  // Sound and tools of OpenAI's.
  {
    ...{ of: 'sound in and out', model: 'gpt-audio', ...openAi },
    usage: usage(150, 80, { audio_tokens: 100, text_tokens: 50 }, { audio_tokens: 60, text_tokens: 20 }),
    asks: {
      openai: { ...withSound.openai, modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'pcm16' } },
    },
    ...{ sum: '50 × 2.5 + 100 × 32 + 20 × 10 + 60 × 64 = 7365', charge: 3_683 },
  },
  {
    ...{ of: 'a model that searches by itself', model: 'gpt-4o-search-preview', ...openAi },
    usage: usage(20, 100),
    ...{ sum: '20 × 2.5 + 100 × 10 + 1 × 25000 = 26050', charge: 13_025 },
  },
  // Anthropic.
  {
    ...{ of: 'a cache read, and a write for 5 minutes', model: 'claude-sonnet-4-5', ...anthropic },
    usage: {
      ...{ input_tokens: 100, cache_read_input_tokens: 2_000, cache_creation_input_tokens: 1_000, output_tokens: 50 },
      cache_creation: { ephemeral_5m_input_tokens: 1_000, ephemeral_1h_input_tokens: 0 },
    },
    ...{ sum: '100 × 3 + 2000 × 0.3 + 1000 × 3.75 + 50 × 15 = 5400', charge: 2_700 },
  },
  {
    ...{ of: 'cache writes for 5 minutes and for an hour', model: 'claude-opus-4-5', ...anthropic },
    usage: {
      ...{ input_tokens: 10, cache_read_input_tokens: 0, cache_creation_input_tokens: 3_500, output_tokens: 20 },
      cache_creation: { ephemeral_5m_input_tokens: 500, ephemeral_1h_input_tokens: 3_000 },
    },
    asks: keptForAnHour,
    ...{ sum: '10 × 5 + 500 × 6.25 + 3000 × 10 + 20 × 25 = 33675', charge: 16_838 },
  },
  {
    ...{ of: 'a cache write without a lifetime, where an hour was asked for', model: 'claude-opus-4-5', ...anthropic },
    usage: { input_tokens: 10, cache_creation_input_tokens: 3_000, output_tokens: 20 },
    asks: keptForAnHour,
    ...{ sum: '10 × 5 + 3000 × 10 + 20 × 25 = 30550', charge: 15_275 },
  },
  {
    ...{ of: 'a prompt at the bound of a context tier', model: 'claude-haiku-5-5', ...anthropic },
    usage: { input_tokens: 100_000, output_tokens: 7 },
    ...{ sum: '100000 × 0.1 + 7 × 0.5 = 10003.5', charge: 5_002 },
  },
  {
    ...{ of: 'a prompt one token beyond it, some of it cached', model: 'claude-haiku-5-5', ...anthropic },
    usage: { input_tokens: 1, cache_read_input_tokens: 100_000, output_tokens: 7 },
    ...{ sum: '1 × 0.5 + 100000 × 0.05 + 7 × 2.5 = 5018', charge: 2_509 },
  },
  {
    ...{ of: 'fast', model: 'claude-opus-4-8', ...anthropic },
    usage: { input_tokens: 100, output_tokens: 10, speed: 'fast' },
    asks: { anthropic: { speed: 'fast' }, openai: priority.openai, gemini: priority.gemini },
    ...{ sum: '100 × 10 + 10 × 50 = 1500', charge: 750 },
  },
  {
    ...{ of: 'fast, in the United States', model: 'claude-opus-4-8', ...anthropic },
    usage: { input_tokens: 100, output_tokens: 10, speed: 'fast', inference_geo: 'us' },
    asks: { anthropic: { speed: 'fast', inference_geo: 'us' } },
    ...{ sum: '100 × 11 + 10 × 55 = 1650', charge: 825 },
  },
  {
    ...{ of: 'two searches', model: 'claude-sonnet-4-5', ...anthropic },
    usage: { input_tokens: 20, output_tokens: 10, server_tool_use: { web_search_requests: 2 } },
    asks: { anthropic: { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 5 }] } },
    ...{ sum: '20 × 3 + 10 × 15 + 2 × 10000 = 20210', charge: 10_105 },
  },
  {
    ...{ of: 'thinking, and a cache read at a twentieth', model: 'claude-opus-5-5', ...anthropic },
    usage: {
      ...{ input_tokens: 50, cache_read_input_tokens: 1_000, output_tokens: 300 },
      output_tokens_details: { thinking_tokens: 250 },
    },
    ...{ sum: '50 × 4 + 1000 × 0.2 + 300 × 20 = 6400', charge: 3_200 },
  },
  // Google.
  {
    ...{ of: 'a half by a ratio without an end', model: 'gemini-2.5-flash', ...google },
    usage: { promptTokenCount: 10, candidatesTokenCount: 8, totalTokenCount: 18 },
    ...{ sum: '10 × 0.3 + 8 × 2.5 = 23', charge: 12 },
  },
  {
    ...{ of: 'thoughts beside the answer, and cached input', model: 'gemini-2.5-flash', ...google },
    usage: {
      ...{ promptTokenCount: 1_000, cachedContentTokenCount: 400, candidatesTokenCount: 50, thoughtsTokenCount: 150 },
      totalTokenCount: 1_200,
    },
    ...{ sum: '600 × 0.3 + 400 × 0.03 + 50 × 2.5 + 150 × 2.5 = 692', charge: 346 },
  },
  {
    ...{ of: 'sound in', model: 'gemini-2.5-flash', ...google },
    usage: {
      ...{ promptTokenCount: 15, candidatesTokenCount: 20, totalTokenCount: 35 },
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 10 },
        { modality: 'AUDIO', tokenCount: 5 },
      ],
    },
    asks: withSound,
    ...{ sum: '10 × 0.3 + 5 × 1 + 20 × 2.5 = 58', charge: 29 },
  },
  {
    ...{ of: 'a prompt at the bound of a context tier', model: 'gemini-2.5-pro', ...google },
    usage: { promptTokenCount: 200_000, candidatesTokenCount: 10, totalTokenCount: 200_010 },
    ...{ sum: '200000 × 1.25 + 10 × 10 = 250100', charge: 125_050 },
  },
  {
    ...{ of: 'a prompt one token beyond it', model: 'gemini-2.5-pro', ...google },
    usage: { promptTokenCount: 200_001, candidatesTokenCount: 10, totalTokenCount: 200_011 },
    ...{ sum: '200001 × 2.5 + 10 × 15 = 500152.5', charge: 250_076 },
  },
  {
    ...{ of: 'a picture put out', model: 'gemini-2.5-flash-image', ...google },
    usage: {
      ...{ promptTokenCount: 20, candidatesTokenCount: 1_295, totalTokenCount: 1_315 },
      candidatesTokensDetails: [
        { modality: 'TEXT', tokenCount: 5 },
        { modality: 'IMAGE', tokenCount: 1_290 },
      ],
    },
    ...{ sum: '20 × 0.3 + 5 × 2.5 + 1290 × 30 = 38718.5', charge: 19_359 },
  },
  {
    ...{ of: 'three searches, each sold', model: 'gemini-3.1-pro-preview', ...google },
    usage: { promptTokenCount: 100, candidatesTokenCount: 50, thoughtsTokenCount: 30, totalTokenCount: 180 },
    candidate: { groundingMetadata: { webSearchQueries: ['a', 'b', 'c'] } },
    asks: { gemini: { tools: [{ googleSearch: {} }] } },
    ...{ sum: '100 × 2 + 50 × 12 + 30 × 12 + 3 × 14000 = 43160', charge: 21_580 },
  },
  {
    ...{ of: 'searches, sold by the prompt', model: 'gemini-2.5-pro', ...google },
    usage: { promptTokenCount: 100, candidatesTokenCount: 50, totalTokenCount: 150 },
    candidate: { groundingMetadata: { webSearchQueries: ['a', 'b', 'c'] } },
    asks: { gemini: { tools: [{ googleSearch: {} }] } },
    ...{ sum: '100 × 1.25 + 50 × 10 + 1 × 35000 = 35625', charge: 17_813 },
  },
  {
    ...{ of: 'a map', model: 'gemini-2.5-pro', ...google },
    usage: { promptTokenCount: 100, candidatesTokenCount: 50, totalTokenCount: 150 },
    candidate: { groundingMetadata: { groundingChunks: [{ maps: { uri: 'https://maps.example/1' } }] } },
    asks: { gemini: { tools: [{ googleMaps: {} }] } },
    ...{ sum: '100 × 1.25 + 50 × 10 + 1 × 25000 = 25625', charge: 12_813 },
  },
  {
    ...{ of: 'the priority tier', model: 'gemini-3.1-pro-preview', ...google },
    usage: { promptTokenCount: 100, candidatesTokenCount: 50, totalTokenCount: 150, serviceTier: 'priority' },
    asks: { gemini: { serviceTier: 'priority' }, openai: priority.openai },
    ...{ sum: '100 × 3.6 + 50 × 21.6 = 1440', charge: 720 },
  },
  // Others of OpenAI's wire.
  {
    ...{ of: 'reasoning beside the completion', model: 'grok-4.3', ...xAi },
    usage: {
      ...{ prompt_tokens: 1_000, completion_tokens: 40, total_tokens: 1_200 },
      prompt_tokens_details: { cached_tokens: 300 },
      completion_tokens_details: { reasoning_tokens: 160 },
    },
    ...{ sum: '700 × 1.25 + 300 × 0.2 + 40 × 2.5 + 160 × 2.5 = 1435', charge: 718 },
  },
  {
    ...{ of: 'a prompt one token short of a context tier', model: 'grok-4.3', ...xAi },
    usage: usage(199_999, 10),
    ...{ sum: '199999 × 1.25 + 10 × 2.5 = 250023.75', charge: 125_012 },
  },
  {
    ...{ of: 'a prompt at the bound, which xAI counts in', model: 'grok-4.3', ...xAi },
    usage: usage(200_000, 10),
    ...{ sum: '200000 × 2.5 + 10 × 5 = 500050', charge: 250_025 },
  },
  {
    ...{ of: 'cache hits under a vendor’s own names', model: 'deepseek-v4-flash', type: 43, wire: 'openai' },
    source: 'DeepSeek, as in LiteLLM 1.110.2 of 20 November 2026',
    usage: {
      ...{ prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 },
      ...{ prompt_cache_hit_tokens: 640, prompt_cache_miss_tokens: 360 },
    },
    ...{ sum: '360 × 0.3 + 640 × 0.006 + 100 × 1.2 = 231.84', charge: 116 },
  },
  {
    ...{ of: 'cached input', model: 'kimi-k2.6', type: 25, wire: 'openai' },
    source: 'Moonshot, as in LiteLLM 1.110.2 of 20 November 2026',
    usage: usage(2_000, 128, { cached_tokens: 1_024 }),
    ...{ sum: '976 × 0.95 + 1024 × 0.16 + 128 × 4 = 1603.04', charge: 802 },
  },
  {
    ...{ of: 'text', model: 'mistral-large-3', type: 42, wire: 'openai' },
    source: 'Mistral, as in LiteLLM 1.110.2 of 20 November 2026',
    usage: usage(1_000, 101),
    ...{ sum: '1000 × 0.5 + 101 × 1.5 = 651.5', charge: 326 },
  },
];
