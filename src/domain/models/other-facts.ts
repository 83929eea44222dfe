import type { ModelFacts, SeparateThinking } from './fact-kinds.js';
import { type FactRow, family, limits, wholeName } from './fact-row.js';

/* Models of other makers, and names that say of what kind a model is. The first row that states a fact decides it. */

const separate = (
  max: number,
  when: SeparateThinking['when'],
  budgeted: boolean,
): Pick<ModelFacts, 'separateThinking'> => ({ separateThinking: { max, when, budgeted } });

/** So many tokens for each square of a picture, and a base. */
const squares = (base: number, each: number, side: number, max: number): Pick<ModelFacts, 'pictures'> => ({
  pictures: { by: 'squares', base, each, side, max },
});

const families: readonly FactRow[] = [
  // It searches as often as its preset lets it: https://docs.perplexity.ai/docs/agent-api/presets
  family(/^(sonar\b|llama-3-sonar-.*-online$)/, { searchesUnasked: true, readsWhatItFinds: true }),
  // OpenRouter's: https://openrouter.ai/docs/features/web-search
  family(/:online$/, { searchesAlways: true, readsWhatItFinds: true }),

  family(/^(qwen[12]|qwen3.*-instruct|qwen3?-(coder|math|mt|long))/i, separate(0, 'never', false)),
  family(/^(qwq|qvq)/i, separate(32_768, 'always', false)),
  family(/^qwen3.*-thinking/i, separate(81_920, 'always', true)),
  family(/^qwen3\.\d/i, separate(81_920, 'unless-refused', true)),
  family(/^qwen3-[\d.]+b/i, separate(38_912, 'unless-refused', true)),
  family(/^qwen/i, separate(81_920, 'if-asked', true)),
  family(/^(qwen[\d.]*-(max|plus|flash|turbo)|qwq-plus|qvq-(max|plus))/i, { separateEverywhere: true }),
  wholeName(/^qwen3-\d+(\.\d+)?b(-a\d+b)?$/, { thinksInStreamsOnly: true }),
  family(/^(qwen3-max|qwen3-coder)/, limits(65_536, 1_000_000)),
  family(/^(qwen|qvq)/i, squares(2, 1, 28, 2_560)),

  family(/^doubao-(seed-1|1[-.]5-thinking)/i, separate(65_536, 'unless-refused', false)),
  family(/^doubao-(seedream|seedance|embedding)/i, separate(0, 'never', false)),
  family(/^doubao-seed-/i, separate(262_144, 'unless-refused', false)),
  family(/^doubao-/i, { ...separate(0, 'never', false), separateEverywhere: true }),

  family(/^deepseek-(r1|reasoner)/i, separate(32_768, 'always', true)),
  family(/^deepseek-(chat|v3)/, limits(8_192, 131_072)),
  family(/^deepseek-(reasoner|r1)/, limits(65_536, 131_072)),
  wholeName(/^deepseek-v4/, { wantsAllReasoning: true }),
  family(/^deepseek-(chat|reasoner|flash|pro|v[4-9])/, { knowsMaxEffort: true }),

  family(/^glm-(4\.[5-9]|[5-9])/i, separate(131_072, 'unless-refused', true)),
  family(/^glm-(5\.[2-9]|[6-9])/i, { knowsMaxEffort: true }),
  family(/^kimi-k([3-9]|\d\d)/i, { knowsMaxEffort: true }),
  family(/^glm-4\.5/, limits(98_304, 131_072)),
  family(/^glm-(4\.[67]|5)/, limits(131_072, 204_800)),
  family(/^glm-4v/i, squares(1_047, 0, 1, 0)),

  wholeName(/^grok-3-mini/, { effortSuffixOf: 'grok' }, 'convention'),
  wholeName(/^grok-3-mini/, { minEffort: 'low' }),
  wholeName(/^grok-.*non-reasoning/, { refusesStops: false }),
  wholeName(/^grok-(3-mini|4|[5-9]|code)/, { refusesStops: true }),
  // They decide on their own how long to think.
  wholeName(/^grok-4\.20-.*reasoning/, { refusesEffort: true }),
  family(/^grok-.*image/, { drawsOnly: true }),
  family(
    /^(cogview|glm-image|doubao-seed(ream|edit)|wanx|wan[\d.]+-(t2i|i2i|image)|qwen-image|z-image|(ernie-)?irag)/,
    {
      drawsOnly: true,
    },
  ),
  family(/^(flux|kolors|stable-diffusion|sdxl|sd-turbo|lucid-origin|phoenix-)/i, { drawsOnly: true }),
  family(/^grok-2/, limits(32_768, 131_072)),
  family(/^grok-3/, limits(131_072, 131_072)),
  family(/^grok-/i, squares(256, 256, 448, 6)),

  family(/^kimi-/, { lastingCacheWrite: '2' }),
  family(/^kimi-k2/, limits(262_144, 262_144)),
  family(/^moonshot-v1-8k/, limits(8_192, 8_192)),
  family(/^moonshot-v1-32k/, limits(32_768, 32_768)),
  family(/^(moonshot-v1-128k|kimi-latest)/, limits(131_072, 131_072)),

  // Amazon's, with a group of regions before the maker:
  // https://docs.aws.amazon.com/bedrock/latest/userguide/model-cards-amazon.html
  wholeName(/(^|\.)amazon\.nova-2-lite/, limits(65_536, 1_000_000)),
  wholeName(/(^|\.)amazon\.nova-premier/, limits(32_000, 1_000_000)),
  wholeName(/(^|\.)amazon\.nova-(lite|pro)/, limits(10_000, 300_000)),
  wholeName(/(^|\.)amazon\.nova-micro/, limits(10_000, 128_000)),

  family(/^command-a/, limits(32_768, 256_000)),
  family(/^command/, limits(4_096, 128_000)),
  family(/^MiniMax-M2/i, limits(131_072, 204_800)),
];

/** Families that think unasked without showing all of it, under whatever prefix. Claude thinks only when it is asked to. */
const unseenThinking: readonly FactRow[] = [
  wholeName(/non?-?(thinking|reasoning)/i, { thinksUnasked: false }, 'convention'),
  wholeName(
    /(^|[/.:_-])(o[1-9](-|$)|gpt-([5-9]|oss)|codex|computer-use|gemini-(2\.5(?!-flash-lite)|[3-9]|\d\d|(flash|pro)(-lite)?-latest)|grok-(3-mini|[4-9]|code)|magistral)/i,
    { thinksUnasked: true },
  ),
  wholeName(/think|reason/i, { thinksUnasked: true }, 'convention'),
];

const kinds: readonly FactRow[] = [
  family(/think|reason/i, separate(131_072, 'always', true), 'convention'),
  wholeName(/rerank/i, { reranks: true, embeds: false }, 'convention'),
  wholeName(/moderation/i, { moderates: true }, 'convention'),
  wholeName(/embed|bge-/i, { embeds: true }, 'convention'),
  wholeName(/^m3e/, { embeds: true }),
  family(/^(multilingual-)?e5-/i, { embeds: true }),
  // Enough for an answer, and for a thought where the model thinks first. A picture has as many tokens as it has.
  wholeName(/claude.*thinking|thinking.*claude/, { testLimit: {} }, 'observed'),
  wholeName(/thinking/, { testLimit: { max_tokens: 50 } }, 'observed'),
  wholeName(/imagen/, { testLimit: {} }, 'observed'),
  wholeName(/gemini/, { testLimit: { max_tokens: 300 } }, 'observed'),
];

export const otherFacts: readonly FactRow[] = [...families, ...unseenThinking, ...kinds];
