import { countIn, isObject, type JsonObject } from '../json/json.js';

/* Budgets of thinking that are a part of the limit to the answer, and have to be below it. */

/** Vendors refuse a smaller one. */
const minBudget = 1_024;

const budgetIn = (body: JsonObject, holder: string, name: string): number | null => {
  const said = body[holder];
  return isObject(said) ? countIn(said[name]) : null;
};

/** Where such a budget may stand in a body in neutral words. */
const paths = [
  ['thinking', 'budget_tokens'],
  ['reasoning', 'max_tokens'],
] as const;

/** What a limit that is lowered must leave to thinking; 0: the request gives it no budget. */
export const minThinkingTokens = (said: JsonObject): number =>
  paths.some(([holder, name]) => (budgetIn(said, holder, name) ?? 0) > 0) ? minBudget : 0;

/** With budgets below a limit that was lowered. */
export function budgetsBelow(body: JsonObject, limit: number): JsonObject {
  let fitted = body;
  for (const [holder, name] of paths) {
    const budget = budgetIn(fitted, holder, name);
    if (budget !== null && budget >= limit)
      fitted = { ...fitted, [holder]: { ...(fitted[holder] as JsonObject), [name]: Math.max(limit - 1, 1) } };
  }
  return fitted;
}
