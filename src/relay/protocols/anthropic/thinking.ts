import { factsOf } from '../../../domain/models/model-facts.js';
import type { ReasoningOverheadRule } from '../../contracts/protocol.js';
import { countIn, isObject, type JsonObject, numberIn, objectsIn, textIn } from '../../json/json.js';

/* How models at Anthropic's interface are asked to think, and which of the sampling parameters they take. */

export const anthropicThinkingSuffix = '-thinking';
/** The least limit with which a model that is named so is asked, and the least budget any takes. */
export const minThinkingLimit = 1_280;
const minBudget = 1_024;

/** Thinking is a part of the limit, but for a name that asks for it the limit may be raised. */
export const thinksByName: ReasoningOverheadRule = (_body, names) => {
  for (const name of names)
    if (name.endsWith(anthropicThinkingSuffix)) return { wanted: true, budget: minThinkingLimit };
  return { wanted: null, budget: 0 };
};

const effortBudgets: ReadonlyMap<string, number> = new Map([
  ['minimal', 1_280],
  ['low', 1_280],
  ['medium', 2_048],
  ['high', 4_096],
  ['xhigh', 8_192],
  ['max', 16_384],
]);

/** In the words of the models that take an effort. */
const efforts: ReadonlyMap<string, string> = new Map([
  ['minimal', 'low'],
  ['low', 'low'],
  ['medium', 'medium'],
  ['high', 'high'],
  ['xhigh', 'xhigh'],
  ['max', 'max'],
]);

/** Models that take budgets beside efforts know none between high and max; of others' nobody has said. */
function effortFor(model: string, effort: string): string | undefined {
  const known = efforts.get(effort);
  const { isClaude, messages } = factsOf(model);
  return known === 'xhigh' && (!isClaude || messages.budgeted) ? 'max' : known;
}

/** A budget leaves room for the answer; null: there is not enough for both. */
const budgetWithin = (wanted: number, limit: number): number | null => {
  const budget = Math.min(wanted, limit - 1);
  return budget < minBudget ? null : Math.trunc(budget);
};

export const unsampled = ({ temperature: _, top_p: __, top_k: ___, ...body }: JsonObject): JsonObject => body;

/** A model that thinks takes no sampling of the caller's. */
const budgeted = (body: JsonObject, budget: number): JsonObject => ({
  ...unsampled(body),
  temperature: 1,
  thinking: { type: 'enabled', budget_tokens: budget },
});

const adaptive = (body: JsonObject, model: string, effort: string | undefined): JsonObject => ({
  ...(factsOf(model).isClaude ? unsampled(body) : body),
  thinking: { type: 'adaptive' },
  ...(effort !== undefined && {
    output_config: { ...(isObject(body.output_config) ? body.output_config : {}), effort },
  }),
});

/** Refused together with thinking. */
const forcesTool = ({ tool_choice: choice }: JsonObject): boolean =>
  isObject(choice) && (choice.type === 'any' || choice.type === 'tool');

/** A model that is to go on thinking after its tools have answered must be shown what it had thought. */
function goesOnUnthought({ messages }: JsonObject): boolean {
  const last = objectsIn(messages).findLast(({ role }) => role === 'assistant');
  const blocks = last === undefined ? [] : objectsIn(last.content);
  const calls = blocks.some(({ type }) => type === 'tool_use');
  return calls && !blocks.some(({ type }) => type === 'thinking' || type === 'redacted_thinking');
}

const mayThink = (body: JsonObject): boolean => !forcesTool(body) && !goesOnUnthought(body);

/** For a name that asks for thinking. `limit`: of the body. The same body: nothing can be thought within it. */
export function thoughtful(body: JsonObject, model: string, limit: number, share: number): JsonObject {
  const { thinking, budgeted: takesBudget } = factsOf(model).messages;
  if (thinking === 'none' || !mayThink(body)) return body;
  if (!takesBudget) return adaptive(body, model, undefined);
  const budget = budgetWithin(Math.max(Math.trunc(limit * share), minBudget), limit);
  return budget === null ? body : budgeted(body, budget);
}

/** For an effort that OpenAI's clients asked for. */
export function withEffort(body: JsonObject, model: string, limit: number, effort: string): JsonObject {
  const { thinking } = factsOf(model).messages;
  if (thinking === 'none' || !mayThink(body)) return body;
  const known = effortFor(model, effort);
  if (known === undefined) return body;
  if (thinking === 'adaptive') return adaptive(body, model, known);
  const budget = budgetWithin(effortBudgets.get(effort) ?? 0, limit);
  return budget === null ? body : budgeted(body, budget);
}

/** Of an effort that stands beside adaptive thinking, where the model takes it. */
export function effortBeside({ output_config: config }: JsonObject, model: string, effort: string): JsonObject {
  const known = factsOf(model).messages.thinking === 'adaptive' ? effortFor(model, effort) : undefined;
  return known === undefined ? {} : { output_config: { ...(isObject(config) ? config : {}), effort: known } };
}

/** As little thinking as the model accepts. */
export function minAnthropicThinking({ output_config: config }: JsonObject, model: string): JsonObject {
  const { messages, alwaysThinks } = factsOf(model);
  if (messages.thinking === 'none') return {};
  if (!alwaysThinks) return { thinking: { type: 'disabled' } };
  return { output_config: { ...(isObject(config) ? config : {}), effort: 'low' } };
}

/** A budget that a lower limit than the caller's own has no room for is made smaller, or thinking left out. */
export function fitted(body: JsonObject): JsonObject {
  const { thinking, max_tokens: limit } = body;
  const budget = isObject(thinking) ? countIn(thinking.budget_tokens) : null;
  const max = countIn(limit);
  if (!isObject(thinking) || budget === null || max === null || budget < max) return body;
  const fits = budgetWithin(budget, max);
  if (fits !== null) return { ...body, thinking: { ...thinking, budget_tokens: fits } };
  const { thinking: _, ...rest } = body;
  return rest;
}

/** Sampling parameters that the model would refuse are left out. */
export function sampled(body: JsonObject, model: string): JsonObject {
  const { isClaude, messages } = factsOf(model);
  const { sampling } = messages;
  if (sampling === 'none') return unsampled(body);
  const { temperature } = body;
  const bounded = isClaude && (numberIn(temperature) ?? 0) > 1 ? { ...body, temperature: 1 } : body;
  if (sampling === 'any' || bounded.temperature === undefined || bounded.top_p === undefined) return bounded;
  const { top_p: _, ...rest } = bounded;
  return rest;
}

export const isEffort = (value: unknown): value is string => textIn(value) !== null && efforts.has(String(value));
