import { factsOf } from '../../../domain/models/model-facts.js';
import type { JsonObject } from '../../json/json.js';

/* Which efforts a model accepts: what it does not know it refuses. */

const aboveHigh = new Set(['xhigh', 'max']);

/** As little thinking as the model accepts. */
export function minEffort(model: string): JsonObject {
  const { minEffort: effort } = factsOf(model);
  return effort === null ? {} : { reasoning_effort: effort };
}

/**
 * An effort as other vendors' models know it: some have `max` above `high`, and nothing between. Never more than was
 * asked for.
 */
export function effortOfOthers(model: string, effort: string): string {
  if (!aboveHigh.has(effort)) return effort;
  return effort === 'max' && factsOf(model).knowsMaxEffort ? effort : 'high';
}

/** An effort as the model knows it; null: it is sent none. */
export function knownEffort(model: string, effort: string): string | null {
  const { takesEffort, highestIsHigh, knowsMaxEffort } = factsOf(model);
  if (!takesEffort) return null;
  if (aboveHigh.has(effort) && highestIsHigh) return 'high';
  return effort === 'max' && !knowsMaxEffort ? 'xhigh' : effort;
}
