import type { ThinkingRange } from '../../../domain/models/fact-kinds.js';
import { factsOf } from '../../../domain/models/model-facts.js';
import type { ThinkingWords } from '../../contracts/neutral-request.js';
import { countIn, isObject, type JsonObject, textIn } from '../../json/json.js';
import { memberIn, objectIn, withMember } from './names.js';

/* How long a Gemini model is to think: in its own words, from an effort, a budget or a suffix of the name. */

export interface ThinkingSuffix {
  /** The name without it. */
  readonly model: string;
  /** null: as long as its share of the limit. */
  readonly budget: number | null;
}

/** `…-thinking`, `…-thinking-8192`, `…-nothinking`; null: none of them. */
export function geminiThinkingSuffix(model: string): ThinkingSuffix | null {
  const [, name, no, budget] = /^(.+)-(no)?thinking(?:-(\d{1,6}))?$/.exec(model) ?? [];
  if (name === undefined || (no !== undefined && budget !== undefined)) return null;
  if (no !== undefined) return { model: name, budget: 0 };
  return { model: name, budget: budget === undefined ? null : Number(budget) };
}

const within = (budget: number, { min, max, refusable }: ThinkingRange): number =>
  budget === 0 && refusable ? 0 : Math.min(Math.max(budget, min), max);

const levels: ReadonlyMap<string, string> = new Map([
  ['none', 'minimal'],
  ['minimal', 'minimal'],
  ['low', 'low'],
  ['medium', 'medium'],
  ['high', 'high'],
  ['xhigh', 'xhigh'],
  ['max', 'xhigh'],
]);

/** Pro models have none below low, and earlier ones none above high. */
function knownLevel(model: string, level: string): string {
  const { minThinkingLevel, knowsXhighLevel } = factsOf(model);
  if (level === 'minimal') return minThinkingLevel;
  return level === 'xhigh' && !knowsXhighLevel ? 'high' : level;
}

const effortBudgets: ReadonlyMap<string, number> = new Map([
  ['none', 0],
  ['minimal', 0],
  ['low', 1_024],
  ['medium', 8_192],
  ['high', 24_576],
  ['xhigh', 32_768],
  ['max', 32_768],
]);

const levelFor = (budget: number): string => {
  if (budget <= 512) return 'minimal';
  if (budget <= 1_024) return 'low';
  return budget <= 8_192 ? 'medium' : 'high';
};

/** So many tokens of thought; they are shown where there were to be some. */
function budgeted(model: string, budget: number): JsonObject {
  const thinkingBudget = within(budget, factsOf(model).thinkingRange);
  return budget === 0 ? { thinkingBudget } : { includeThoughts: true, thinkingBudget };
}

function byLevel(model: string, level: string): JsonObject {
  const thinkingLevel = knownLevel(model, level);
  return thinkingLevel === 'minimal' ? { thinkingLevel } : { includeThoughts: true, thinkingLevel };
}

const byBudget = (model: string, budget: number): JsonObject =>
  factsOf(model).thinksByLevel ? byLevel(model, levelFor(budget)) : budgeted(model, budget);

/** `share`: of the limit, for a suffix that names no budget. `limit`: of the output; null: none. */
function bySuffix(model: string, { budget }: ThinkingSuffix, share: number, limit: number | null): JsonObject {
  if (budget !== null) return byBudget(model, budget);
  if (factsOf(model).thinksByLevel) return byLevel(model, 'high');
  const { max } = factsOf(model).thinkingRange;
  const part = Math.trunc((limit ?? 0) * share);
  return budgeted(model, part === 0 ? max : part);
}

/** By a budget as Anthropic's clients give it, else by an effort; null: nothing is said. */
function asAsked(model: string, { reasoning_effort: effort, thinking }: ThinkingWords): JsonObject | null {
  if (isObject(thinking)) {
    const budget = countIn(thinking.budget_tokens);
    if (thinking.type === 'disabled') return byBudget(model, 0);
    if (thinking.type === 'enabled' && budget !== null) return byBudget(model, budget);
  }
  // An effort says how much is to be thought, and does not decline what is asked for beside it.
  const wanted = isObject(thinking) && (thinking.type === 'enabled' || thinking.type === 'adaptive');
  const asked = textIn(effort)?.toLowerCase() ?? '';
  const level = levels.get(asked);
  const budget = effortBudgets.get(asked);
  if (level === undefined || budget === undefined || (wanted && budget === 0))
    return wanted ? { includeThoughts: true } : null;
  return factsOf(model).thinksByLevel ? byLevel(model, level) : budgeted(model, budget);
}

export interface ThinkingRules {
  /** Without the suffix. */
  readonly model: string;
  readonly suffix: ThinkingSuffix | null;
  /** The part of the limit that a suffix without a budget gives to thinking. */
  readonly thinkingShare: number;
  /** Of each answer; null: none. */
  readonly limit: number | null;
}

/** `thinkingConfig`; null: the model's own way. A suffix wins: it is what is priced. */
export function thinkingConfig(
  body: ThinkingWords,
  { model, suffix, thinkingShare, limit }: ThinkingRules,
): JsonObject | null {
  if (!factsOf(model).takesThinking) return null;
  return suffix === null ? asAsked(model, body) : bySuffix(model, suffix, thinkingShare, limit);
}

/** No model refuses a budget of so much. */
const takenByAll = 512;

/** A `generationConfig` whose budget of thinking, if it has one, is below a limit that was lowered, as far as it may be. */
export function thinkingWithin(config: JsonObject, limit: number): JsonObject {
  const thinking = objectIn(config, 'thinkingConfig');
  const budget = thinking === null ? null : countIn(memberIn(thinking, 'thinkingBudget'));
  if (thinking === null || budget === null || budget < limit || limit <= takenByAll) return config;
  return withMember(config, 'thinkingConfig', withMember(thinking, 'thinkingBudget', limit - 1));
}
