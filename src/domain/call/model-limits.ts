/* How much a model can put out, and take in: public facts of its maker, by the name's family. */

export interface ModelLimits {
  /** Tokens of one answer, thinking included. */
  readonly output: number;
  /** Tokens of prompt and answer together; null: not known. */
  readonly context: number | null;
  /** Nobody has said so: a guess, which an upstream may refuse to be given as a limit. */
  readonly guessed: boolean;
}

/** By the last part of a name such as `openai/gpt-4o:free`; the first that fits. Longer names before their families. */
const families: readonly (readonly [names: RegExp, output: number, context: number])[] = [
  [/^gpt-3\.5-turbo-(instruct|0301|0613)/, 4_096, 4_096],
  [/^gpt-3\.5-turbo-16k/, 16_385, 16_385],
  [/^gpt-3(\.5|5)-turbo/, 4_096, 16_385],
  [/^gpt-4-32k/, 32_768, 32_768],
  [/^gpt-4-(turbo|1106|0125|vision|all|gizmo)/, 4_096, 128_000],
  [/^gpt-4(-0314|-0613)?$/, 8_192, 8_192],
  [/^gpt-4o-2024-05-13/, 4_096, 128_000],
  [/^(gpt-4o|chatgpt-4o|gpt-4\.5)/, 16_384, 128_000],
  [/^gpt-4\.1/, 32_768, 1_047_576],
  [/^gpt-5(\.\d+)?-chat/, 16_384, 128_000],
  [/^gpt-5(\.[0-3])?(-|$)/, 128_000, 400_000],
  [/^gpt-([5-9]|\d\d)/, 128_000, 1_050_000],
  [/^gpt-oss/, 131_072, 131_072],
  [/^o1-mini/, 65_536, 128_000],
  [/^o1-preview/, 32_768, 128_000],
  [/^(o\d|codex-)/, 100_000, 200_000],
  [/^computer-use/, 1_024, 8_192],
  [/^(davinci|babbage)-002/, 16_384, 16_384],
  [/^claude-(instant|2)/, 4_096, 200_000],
  [/^claude-3-(opus|sonnet|haiku)/, 4_096, 200_000],
  [/^claude-3-5/, 8_192, 200_000],
  [/^claude-3-7/, 128_000, 200_000],
  [/^claude-opus-4(-[01]|-2025|@2025|$)/, 32_000, 200_000],
  [/^claude-(opus-4[-.]5|haiku-4)/, 64_000, 200_000],
  [/^claude-sonnet-4/, 64_000, 1_000_000],
  [/^claude-/, 128_000, 1_000_000],
  [/^gemini-(1\.5|2\.0-flash(-lite|-001|-exp|$))/, 8_192, 2_097_152],
  [/^gemini-/, 65_536, 2_097_152],
  [/^imagen-/, 258, 4_096],
  [/^gemma-/, 8_192, 131_072],
  [/^deepseek-(chat|v3)/, 8_192, 131_072],
  [/^deepseek-(reasoner|r1)/, 65_536, 131_072],
  [/^grok-2/, 32_768, 131_072],
  [/^grok-3/, 131_072, 131_072],
  [/^kimi-k2/, 262_144, 262_144],
  [/^moonshot-v1-8k/, 8_192, 8_192],
  [/^moonshot-v1-32k/, 32_768, 32_768],
  [/^(moonshot-v1-128k|kimi-latest)/, 131_072, 131_072],
  [/^glm-4\.5/, 98_304, 131_072],
  [/^glm-(4\.[67]|5)/, 131_072, 204_800],
  [/^(qwen3-max|qwen3-coder)/, 65_536, 1_000_000],
  [/^command-a/, 32_768, 256_000],
  [/^command/, 4_096, 128_000],
  [/^MiniMax-M2/i, 131_072, 204_800],
];

/** No model takes more, as far as anybody has said. */
export const maxContext = 10_000_000;

const remembered = new Map<string, ModelLimits | null>();

const builtIn = (model: string): ModelLimits | null => {
  const known = remembered.get(model);
  if (known !== undefined) return known;
  const name = model.slice(model.lastIndexOf('/') + 1);
  const family = families.find(([names]) => names.test(name));
  const limits = family === undefined ? null : { output: family[1], context: family[2], guessed: false };
  // Names come from callers: emptied rather than allowed to grow.
  if (remembered.size >= 4_096) remembered.clear();
  remembered.set(model, limits);
  return limits;
};

/** `configured`: what the operator says of models by name; it wins. `otherwise`: for models nobody has said anything of. */
export function limitsOf(model: string, configured: ReadonlyMap<string, number>, otherwise: number): ModelLimits {
  const output = configured.get(model);
  const known = builtIn(model);
  // An operator who knows of a larger answer than we do knows of a larger context as well.
  if (output !== undefined)
    return { output, context: known?.context == null ? null : Math.max(known.context, output), guessed: false };
  return known ?? { output: otherwise, context: null, guessed: true };
}
