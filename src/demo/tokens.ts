import type { Habit } from './cast.js';
import { around, type Random } from './random.js';

/** The limit that callers of the demo set. */
export const maxOutput = 4_096;

export interface CallTokens {
  /** `cached` of them from a cache. */
  readonly prompt: number;
  readonly cached: number;
  /** `reasoning` of them unseen. */
  readonly completion: number;
  readonly reasoning: number;
}

/** What one call of a habit uses. */
export function tokensOf({ model, prompt, answer, cached }: Habit, random: Random): CallTokens {
  const asked = around(prompt, 0.6, random);
  const known = random() < cached ? Math.floor(asked * (0.4 + 0.5 * random())) : 0;
  const completion = answer === 0 ? 0 : Math.min(around(answer, 0.5, random), maxOutput);
  const reasoning = model.includes('reason') ? Math.floor(completion * (0.5 + 0.3 * random())) : 0;
  return { prompt: asked, cached: known, completion, reasoning };
}
