import { countIn, isObject, type JsonObject, textIn } from '../../json/json.js';
import { memberIn, objectIn, withMember } from './names.js';

/* How long a Gemini model is to think: in its own words, from an effort, a budget or a suffix of the name. */

/** Tokens. */
interface Range {
  readonly least: number;
  readonly most: number;
  /** It can be told not to think at all. */
  readonly refusable: boolean;
}

const ranges: readonly (readonly [names: RegExp, Range])[] = [
  [/gemini-2\.5-pro/, { least: 128, most: 32_768, refusable: false }],
  [/gemini-2\.5-flash-lite/, { least: 512, most: 24_576, refusable: true }],
];
const usualRange: Range = { least: 0, most: 24_576, refusable: true };

const rangeOf = (model: string): Range => ranges.find(([names]) => names.test(model))?.[1] ?? usualRange;

/** They are told a level, and cannot be kept from thinking altogether. */
export const thinksByLevel = (model: string): boolean => /gemini-([3-9]|\d\d)/.test(model);

/** Families from before there was thinking refuse to be told of it. */
const neverThinks = (model: string): boolean =>
  /gemini-(1|2\.0)|gemini-2.*-image|-tts|gemma|embedding|imagen/.test(model);

export interface ThinkingSuffix {
  /** The name without it. */
  readonly model: string;
  /** null: as long as its share of the limit. */
  readonly budget: number | null;
}

/** `…-thinking`, `…-thinking-8192`, `…-nothinking`; null: none of them. */
export function thinkingSuffix(model: string): ThinkingSuffix | null {
  const [, name, no, budget] = /^(.+)-(no)?thinking(?:-(\d{1,6}))?$/.exec(model) ?? [];
  if (name === undefined || (no !== undefined && budget !== undefined)) return null;
  if (no !== undefined) return { model: name, budget: 0 };
  return { model: name, budget: budget === undefined ? null : Number(budget) };
}

const within = (budget: number, { least, most, refusable }: Range): number =>
  budget === 0 && refusable ? 0 : Math.min(Math.max(budget, least), most);

const levels: ReadonlyMap<string, string> = new Map([
  ['none', 'minimal'],
  ['minimal', 'minimal'],
  ['low', 'low'],
  ['medium', 'medium'],
  ['high', 'high'],
  ['xhigh', 'high'],
]);

/** Pro models have no level below this. */
const minLevelOf = (model: string, level: string): string =>
  level === 'minimal' && /-pro/.test(model) ? 'low' : level;

const effortBudgets: ReadonlyMap<string, number> = new Map([
  ['none', 0],
  ['minimal', 0],
  ['low', 1_024],
  ['medium', 8_192],
  ['high', 24_576],
  ['xhigh', 32_768],
]);

const levelFor = (budget: number): string => {
  if (budget <= 512) return 'minimal';
  if (budget <= 1_024) return 'low';
  return budget <= 8_192 ? 'medium' : 'high';
};

/** So many tokens of thought; they are shown where there were to be some. */
function budgeted(model: string, budget: number): JsonObject {
  const thinkingBudget = within(budget, rangeOf(model));
  return budget === 0 ? { thinkingBudget } : { includeThoughts: true, thinkingBudget };
}

function byLevel(model: string, level: string): JsonObject {
  const thinkingLevel = minLevelOf(model, level);
  return thinkingLevel === 'minimal' ? { thinkingLevel } : { includeThoughts: true, thinkingLevel };
}

const byBudget = (model: string, budget: number): JsonObject =>
  thinksByLevel(model) ? byLevel(model, levelFor(budget)) : budgeted(model, budget);

/** `share`: of the limit, for a suffix that names no budget. `limit`: of the output; null: none. */
function bySuffix(model: string, { budget }: ThinkingSuffix, share: number, limit: number | null): JsonObject {
  if (budget !== null) return byBudget(model, budget);
  if (thinksByLevel(model)) return byLevel(model, 'high');
  const { most } = rangeOf(model);
  const part = Math.trunc((limit ?? 0) * share);
  return budgeted(model, part === 0 ? most : part);
}

/** By OpenAI's effort, or by a budget as Anthropic's clients give it; null: nothing is said. */
function asAsked(model: string, { reasoning_effort: effort, thinking }: JsonObject): JsonObject | null {
  if (isObject(thinking)) {
    const budget = countIn(thinking.budget_tokens);
    if (thinking.type === 'disabled') return byBudget(model, 0);
    if (thinking.type === 'enabled' && budget !== null) return byBudget(model, budget);
    if (thinking.type === 'enabled' || thinking.type === 'adaptive') return { includeThoughts: true };
  }
  const asked = textIn(effort)?.toLowerCase() ?? '';
  const level = levels.get(asked);
  const budget = effortBudgets.get(asked);
  if (level === undefined || budget === undefined) return null;
  return thinksByLevel(model) ? byLevel(model, level) : budgeted(model, budget);
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
  body: JsonObject,
  { model, suffix, thinkingShare, limit }: ThinkingRules,
): JsonObject | null {
  if (neverThinks(model)) return null;
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
