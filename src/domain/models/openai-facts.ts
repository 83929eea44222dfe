import type { AudioPrice, ModelFacts, PatchBudgetName } from './fact-kinds.js';
import { type FactRow, family, limits, wholeName } from './fact-row.js';

/* OpenAI's models. The first row that states a fact decides it: longer names stand before their families. */

const tiles = (base: number, tile: number): Pick<ModelFacts, 'pictures'> => ({ pictures: { by: 'tiles', base, tile } });

const patches = (perPatch: number, budget: PatchBudgetName): Pick<ModelFacts, 'pictures'> => ({
  pictures: { by: 'patches', perPatch, budget },
});

/** Rules of OpenAI's own interface: a name with a maker before it is served elsewhere, by other rules. */
const interfaceRules: readonly FactRow[] = [
  wholeName(/^(gpt-|chatgpt|o\d)/, { isOpenAi: true }),
  wholeName(/^o1-(mini|preview)/, { takesEffort: false, minEffort: null, instructionsAs: 'user' }),
  wholeName(/^(gpt-[34]|chatgpt)|-chat(-|$)/, { takesEffort: false, minEffort: null }),
  wholeName(/-pro\b|deep-research/, { minEffort: null }),
  wholeName(/-codex/, { minEffort: 'low' }),
  wholeName(/^(o\d|gpt-oss)/, { minEffort: 'low', highestIsHigh: true }),
  wholeName(/^gpt-5(?![.\d])/, { minEffort: 'minimal', highestIsHigh: true }),
  wholeName(/^gpt-5\.1(?!-codex-max)/, { highestIsHigh: true }),
  wholeName(/^gpt-([6-9]|\d\d)/, { minEffort: 'none', knowsMaxEffort: true }),
  wholeName(/^gpt-5\./, { minEffort: 'none' }),
  wholeName(/^gpt-5\.[1-9]/, { samplesUnthinking: true }),
  wholeName(/^gpt-.*-chat/, { takesReasoningParameters: false }),
  wholeName(/^(o\d|gpt-([5-9]|\d\d))/, { takesReasoningParameters: true }),
  wholeName(/^(o\d|gpt-[5-9])/, { effortSuffixOf: 'gpt' }, 'convention'),
  wholeName(/^gpt-4o(-mini)?-search-preview/, { takesTemperature: false }),
  wholeName(/^gpt-.+-search-(preview|api)/, { searchesAlways: true }),
  wholeName(/^o[13]/, { startsSlowly: true, testLimit: { max_completion_tokens: 10 } }, 'observed'),
  wholeName(/^gpt-3\.5-turbo-0301$/, { messageTokens: { message: 4, name: -1 } }),
  wholeName(/^(gpt-4o|chatgpt-4o|gpt-4\.1|gpt-4\.5|gpt-[5-9]|o\d)/, { encoding: 'o200k_base' }),
  wholeName(/^(gpt-|chatgpt-|o\d|text-embedding-)/, { hasOwnEncoding: true }),
];

const conversations: readonly FactRow[] = [
  family(/^gpt-(5[.-]([6-9]|[1-9]\d)|[6-9]|[12]\d|daybreak)(?!\d)/, { paysForCacheWrites: true }),
  family(/^(gpt-|chatgpt|o\d|codex-)/, { paysForCacheWrites: false }),
  family(/^gpt-3\.5-turbo-(instruct|0301|0613)/, limits(4_096, 4_096)),
  family(/^gpt-3\.5-turbo-16k/, limits(16_385, 16_385)),
  family(/^gpt-3(\.5|5)-turbo/, limits(4_096, 16_385)),
  family(/^(davinci|babbage)-002/, limits(16_384, 16_384)),

  family(/^gpt-4-32k/, limits(32_768, 32_768)),
  family(/^gpt-4-(turbo|1106|0125|vision|all|gizmo)/, limits(4_096, 128_000)),
  family(/^gpt-4(-0314|-0613)?$/, limits(8_192, 8_192)),
  family(/^gpt-realtime-2/, limits(32_000, 128_000)),
  family(/^gpt-realtime-mini/, limits(4_096, 128_000)),
  family(/^gpt-realtime/, limits(4_096, 32_000)),
  family(/^gpt-4o-2024-05-13/, limits(4_096, 128_000)),
  family(/^(gpt-4o|chatgpt-4o|gpt-4\.5)/, limits(16_384, 128_000)),
  // Makes the tokens of a cheap model as dear as another's.
  family(/^gpt-4o-mini/i, { pictures: { by: 'tiles', base: 2_833, tile: 5_667, inflated: true } }),
  family(/^gpt-4\.1/, limits(32_768, 1_047_576)),

  family(/^gpt-(4\.1|5(\.[0-3])?)(-codex)?-mini/i, patches(1.62, 'guide')),
  family(/^gpt-(4\.1|5(\.[0-3])?)-nano/i, patches(2.46, 'guide')),
  // Reported at these rates and at 1.2; the larger is counted.
  family(/^gpt-5\.[4-9](-codex)?-mini/i, patches(1.62, 'sharp-if-asked'), 'observed'),
  family(/^gpt-5\.[4-9]-nano/i, patches(2.46, 'sharp-if-asked'), 'observed'),
  family(/^gpt-5(\.1)?(-|$)/i, tiles(70, 140)),
  family(/^gpt-5\.[23](-|$)/i, patches(1.2, 'guide')),
  family(/^gpt-5\.4(-|$)/i, patches(1.2, 'sharp-if-asked')),
  family(/^gpt-5\.5(-|$)/i, patches(1.2, 'sharp')),
  family(/^gpt-([5-9]|1\d)(\D|$)/i, patches(1.2, 'unbounded')),
  family(/^(gpt-4|chatgpt-4o)/i, tiles(85, 170)),
  family(/^gpt-5(\.\d+)?-chat/, limits(16_384, 128_000)),
  family(/^gpt-5(\.[0-3])?(-|$)/, limits(128_000, 400_000)),
  family(/^gpt-([5-9]|\d\d)/, limits(128_000, 1_050_000)),
  family(/^gpt-oss/, limits(131_072, 131_072)),

  family(/^o1-mini/, limits(65_536, 128_000)),
  family(/^o1-preview/, limits(32_768, 128_000)),
  family(/^(o\d|codex-)/, limits(100_000, 200_000)),
  family(/^o4-mini/i, patches(1.72, 'guide')),
  family(/^o[13](-|$)/i, tiles(75, 150)),
  family(/^computer-use-preview/i, tiles(65, 129)),
  family(/^computer-use/, limits(1_024, 8_192)),
];

const audio = (input: string, output: string, cached?: string): { readonly audioPrice: AudioPrice } => ({
  audioPrice: { input, output, ...(cached !== undefined && { cached }) },
});

/** What goes out costs twice what comes in. */
const sound: readonly FactRow[] = [
  wholeName(/gpt-4o-realtime-preview-(2024-12-17|2025-06-03)$/, audio('8', '16', '0.5')),
  wholeName(/gpt-4o-realtime-preview$/, audio('20', '40', '0.5')),
  wholeName(/^gpt-realtime(-[\d.]+)?(-\d{4}-\d\d-\d\d)?$/, audio('8', '16', '0.1')),
  wholeName(/gpt(?=-.*mini).*-realtime/, audio('16.666666666667', '33.333333333334', '0.5')),
  wholeName(/gpt(?=-).*-realtime/, audio('20', '40')),
  wholeName(/gpt-4o-audio-preview-2024-12-17$/, audio('16', '32')),
  wholeName(/gpt(?=-.*mini).*-audio/, audio('66.666666666667', '133.333333333334')),
  wholeName(/gpt(?=-).*-audio/, audio('40', '80')),
  wholeName(/transcribe/, { transcribesByToken: true }),
  wholeName(/^tts/, { speaksByCharacter: true }),
];

const drawing: readonly FactRow[] = [
  family(/^gpt-image-1/, { drawsByToken: 'listed', ...tiles(65, 129) }),
  family(/^(gpt|chatgpt)-image/, { drawsByToken: 'open' }),
  family(/^dall-e-3/, { drawsInHd: true }),
  family(/^((gpt|chatgpt)-image|dall-e-)/, { drawsOnly: true }),
];

export const openAiFacts: readonly FactRow[] = [...interfaceRules, ...conversations, ...sound, ...drawing];
