import type { JsonObject } from '../../json/json.js';

/* Which efforts OpenAI's own models can be told: what a model does not know it refuses. */

type LeastEffort = 'none' | 'minimal' | 'low';

/** By the name's family, the first that fits; null: they are told no effort, or nothing so low. */
const families: readonly (readonly [names: RegExp, least: LeastEffort | null])[] = [
  [/^(gpt-[34]|chatgpt)|-chat(-|$)|-pro\b|^o1-(mini|preview)|deep-research/, null],
  [/^(o\d|gpt-oss)|-codex/, 'low'],
  [/^gpt-5(?![.\d])/, 'minimal'],
  [/^gpt-(5\.|[6-9]|\d\d)/, 'none'],
];

/** Neither think longer than `high`. */
const highAtMost = /^(o\d|gpt-5(?![.\d])|gpt-5\.1(?!-codex-max)|gpt-oss)/;
const aboveHigh = new Set(['xhigh', 'max']);
const untold = /^(gpt-[34]|chatgpt)|-chat(-|$)|^o1-(mini|preview)/;

/** As little thinking as the model can be told. */
export function minThinking(model: string): JsonObject {
  const least = families.find(([names]) => names.test(model))?.[1] ?? null;
  return least === null ? {} : { reasoning_effort: least };
}

/** An effort as the model knows it; null: it is told none. */
export function knownEffort(model: string, effort: string): string | null {
  if (untold.test(model)) return null;
  return aboveHigh.has(effort) && highAtMost.test(model) ? 'high' : effort;
}
