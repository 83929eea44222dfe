import type { ContextTierFactors } from '../context-tiers.js';

/*
 * Public prices of models that the price package does not know yet. A name leaves this table when the package has it.
 */

/** On which the built-in prices were compared with what vendors publish; in UTC. */
export const builtInPricesDay = '2026-11-28';

/** USD of a million tokens. What is left out costs what the plain tokens of its direction do, or has a rule. */
export interface NewerPrice {
  /** Between spaces. */
  readonly names: string;
  readonly input: number;
  readonly output?: number;
  readonly cachedInput?: number;
  readonly cacheWrite?: number;
  readonly imageInput?: number;
  readonly imageOutput?: number;
  readonly audioInput?: number;
  readonly audioOutput?: number;
  readonly tiers?: readonly ContextTierFactors[];
}

/** More than so many tokens: OpenAI excludes the bound, xAI includes it. */
const longFrom = (over: number, output: string): readonly ContextTierFactors[] => [
  { over, factors: { input: '2', output } },
];
const openAiTiers = longFrom(272_000, '1.5');
const geminiTiers = longFrom(200_000, '1.5');
const grokTiers = longFrom(199_999, '2');

/** Of models that the price package, or our own table, knows by an earlier price, or in part. */
export const changedPrices: readonly NewerPrice[] = [
  {
    names: 'claude-haiku-5-5',
    input: 0.1,
    cachedInput: 0.01,
    cacheWrite: 0.125,
    output: 0.5,
    tiers: [{ over: 100_000, factors: { input: '5', output: '5' } }],
  },
  {
    names: 'grok-code-fast grok-code-fast-1 grok-code-fast-1-0825',
    input: 1,
    cachedInput: 0.2,
    output: 2,
    tiers: grokTiers,
  },
  { names: 'grok-4.20-multi-agent', input: 1.25, cachedInput: 0.2, output: 2.5, tiers: grokTiers },
  { names: 'kimi-k3', input: 3, cachedInput: 0.3, cacheWrite: 3, output: 15 },
  { names: 'deepseek-v4-flash', input: 0.3, cachedInput: 0.006, output: 1.2 },
  { names: 'mistral-large-latest', input: 0.5, cachedInput: 0.05, output: 1.5 },
  { names: 'mistral-medium', input: 1.5, cachedInput: 0.15, output: 7.5 },
  { names: 'mistral-small-latest', input: 0.15, cachedInput: 0.015, output: 0.6 },
  { names: 'mistral-tiny', input: 0.25, cachedInput: 0.025, output: 0.25 },
  { names: 'open-mistral-nemo', input: 0.3, cachedInput: 0.03, output: 0.3 },
  { names: 'codestral-latest', input: 0.3, cachedInput: 0.03, output: 0.9 },
  { names: 'devstral-small-latest', input: 0.1, cachedInput: 0.01, output: 0.3 },
  { names: 'pixtral-large-latest', input: 2, cachedInput: 0.2, output: 6 },
  {
    names: 'gemini-3-pro-image gemini-3-pro-image-preview',
    input: 2,
    cachedInput: 0.2,
    output: 12,
    imageOutput: 120,
    tiers: geminiTiers,
  },
  {
    names: 'gemini-2.5-flash-image',
    input: 0.3,
    cachedInput: 0.03,
    output: 2.5,
    imageOutput: 30,
    audioInput: 1,
  },
  { names: 'gpt-4o-search-preview gpt-4o-search-preview-2025-03-11', input: 2.5, cachedInput: 1.25, output: 10 },
];

/**
 * Without a built-in price, whatever lists say: almost all of what a speech costs is sound, whose tokens the speech
 * interface does not report. An operator prices these by the character or the call.
 */
export const unpricedSpeech: ReadonlySet<string> = new Set([
  'gpt-4o-mini-tts',
  'gpt-4o-mini-tts-2025-03-20',
  'gpt-4o-mini-tts-2025-12-15',
]);

export const newerPrices: readonly NewerPrice[] = [
  { names: 'gpt-6.1-sol', input: 2, cachedInput: 0.1, output: 10, tiers: openAiTiers },
  { names: 'gpt-6.1-terra', input: 1, cachedInput: 0.05, output: 5, tiers: openAiTiers },
  { names: 'gpt-6-astra-law', input: 10, cachedInput: 1, output: 50 },
  { names: 'gpt-6-cyber', input: 20, cachedInput: 2, output: 100 },
  { names: 'gpt-6-rosalind', input: 15, cachedInput: 1.5, output: 75, tiers: openAiTiers },
  { names: 'gpt-5.6-cyber gpt-daybreak-red-latest', input: 12.5, cachedInput: 1.25, output: 75, tiers: openAiTiers },
  { names: 'gpt-5.5-cyber gpt-5.5-cyber-preview', input: 12.5, cachedInput: 1.25, output: 75 },
  { names: 'gpt-daybreak-blue-latest', input: 4, cachedInput: 0.4, output: 20, tiers: openAiTiers },
  { names: 'gpt-rosalind-discovery gpt-rosalind-research', input: 5, cachedInput: 0.5, output: 25 },
  { names: 'chat-latest', input: 5, cachedInput: 0.5, output: 30 },
  { names: 'gpt-5-search-api gpt-5-search-api-2025-10-14', input: 1.25, cachedInput: 0.125, output: 10 },
  { names: 'gpt-5-nano-2025-08-07', input: 0.05, cachedInput: 0.005, output: 0.4 },
  {
    names:
      'gpt-image-2.5-flare gpt-image-2.5-flare-2026-09-08 gpt-image-2.5-sunburst gpt-image-2.5-sunburst-2026-09-08 ' +
      'gpt-image-2.6-flare gpt-image-2.6-sunburst',
    input: 5,
    cachedInput: 1.25,
    imageInput: 8,
    imageOutput: 30,
  },
  { names: 'chatgpt-image-latest', input: 5, cachedInput: 1.25, output: 10, imageInput: 8, imageOutput: 32 },
  { names: 'computer-use-preview computer-use-preview-2025-03-11', input: 3, output: 12 },
  {
    names: 'gpt-4o-realtime-preview-2025-06-03',
    input: 5,
    cachedInput: 2.5,
    output: 20,
    audioInput: 40,
    audioOutput: 80,
  },
  { names: 'gpt-4o-audio-preview-2025-06-03', input: 2.5, output: 10, audioInput: 40, audioOutput: 80 },
  {
    names: 'gpt-4o-mini-transcribe-2025-03-20 gpt-4o-mini-transcribe-2025-12-15',
    input: 1.25,
    output: 5,
    audioInput: 1.25,
  },

  { names: 'claude-mythos-5 claude-mythos-preview', input: 10, cachedInput: 1, output: 50 },
  { names: 'claude-mythos-5-1', input: 10, cachedInput: 0.25, output: 50 },
  { names: 'claude-opus-4-6-20260205 claude-opus-4-7-20260416', input: 5, cachedInput: 0.5, output: 25 },

  { names: 'gemini-4-argon', input: 2, cachedInput: 0.1, output: 10 },
  { names: 'gemini-4-hydrogen', input: 1.5, cachedInput: 0.075, output: 7.5 },
  { names: 'gemini-flash-latest', input: 0.75, cachedInput: 0.075, output: 3.75 },
  { names: 'gemini-flash-lite-latest', input: 0.3, cachedInput: 0.03, output: 2.5 },
  {
    names: 'gemini-pro-latest gemini-3.1-pro-preview-customtools',
    input: 2,
    cachedInput: 0.2,
    output: 12,
    tiers: geminiTiers,
  },
  { names: 'gemini-nano-banana-2.1', input: 1.5, cachedInput: 0.15, output: 7.5, imageOutput: 30 },
  { names: 'nano-banana-pro-preview', input: 2, output: 12, imageOutput: 120 },
  { names: 'gemini-3.1-flash-lite-preview', input: 0.25, cachedInput: 0.025, output: 1.5, audioInput: 0.5 },
  { names: 'gemini-2.5-computer-use-preview-10-2025', input: 1.25, output: 10, tiers: geminiTiers },
  { names: 'gemini-3.1-flash-tts-preview', input: 1, output: 20 },
  { names: 'gemini-3.8-flash-tts', input: 0.5, cachedInput: 0.125, output: 9 },
  { names: 'gemini-3.8-flash-lite-tts', input: 0.5, cachedInput: 0.125, output: 6 },
  { names: 'gemini-robotics-er-2-preview', input: 1, cachedInput: 0.1, output: 5, audioInput: 1 },

  { names: 'grok-4.7', input: 2, cachedInput: 0.5, output: 6, tiers: grokTiers },
  { names: 'grok-build-latest', input: 2, cachedInput: 0.3, output: 6, tiers: grokTiers },
  {
    names:
      'grok-4.20-reasoning grok-4.20-non-reasoning grok-4.20-multi-agent-latest grok-4.20-0309 grok-4.20-0309-reasoning grok-4.20-0309-non-reasoning grok-4.20-multi-agent-0309 grok-4.20-reasoning-latest grok-4.20-non-reasoning-latest',
    input: 1.25,
    cachedInput: 0.2,
    output: 2.5,
    tiers: grokTiers,
  },

  { names: 'deepseek-flash', input: 0.3, cachedInput: 0.006, output: 1.2 },
  { names: 'deepseek-r1', input: 0.55, cachedInput: 0.14, output: 2.19 },
  { names: 'deepseek-v3', input: 0.27, cachedInput: 0.07, output: 1.1 },
  { names: 'kimi-k3.1-pro', input: 2, cachedInput: 0.2, cacheWrite: 2, output: 10 },
  { names: 'kimi-k3.1-pro-highspeed', input: 4, cachedInput: 0.2, cacheWrite: 4, output: 20 },
  { names: 'moonshot-v1-auto', input: 2, output: 5 },
  { names: 'mistral-large-4 mistral-large-4-0', input: 0.7, cachedInput: 0.07, output: 2.1 },
  { names: 'mistral-large-3', input: 0.5, cachedInput: 0.05, output: 1.5 },
  { names: 'mistral-medium-2604 magistral-medium-latest', input: 1.5, cachedInput: 0.15, output: 7.5 },
  { names: 'magistral-small-latest', input: 0.15, cachedInput: 0.015, output: 0.6 },
  { names: 'devstral-latest devstral-medium-latest', input: 0.4, cachedInput: 0.04, output: 2 },
  { names: 'mistral-small', input: 0.1, cachedInput: 0.01, output: 0.3 },
  { names: 'ministral-3-8b-2512', input: 0.15, cachedInput: 0.015, output: 0.15 },
  { names: 'ministral-14b-latest ministral-3-14b-2512', input: 0.2, cachedInput: 0.02, output: 0.2 },
  { names: 'ministral-3b-latest ministral-3-3b-2512', input: 0.1, cachedInput: 0.01, output: 0.1 },
  { names: 'codestral-embed codestral-embed-2505', input: 0.15, cachedInput: 0.015 },
];
