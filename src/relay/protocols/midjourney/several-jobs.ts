import type { JsonObject } from '../../json/json.js';
import { dashes } from './dashes.js';

/*
 * Words by which Midjourney makes several jobs of one prompt, and members by which it makes several videos. The price is
 * that of one submission, so they are refused by name.
 */

const counted = new RegExp(`(?:^|\\s)(?:${dashes})(repeat|r|bs)\\s+(\\d{1,9})(?=\\s|$)`, 'gi');

/** `{red, green}`: one job for each. A backslash takes a brace or a comma for itself. */
const choices = /(?<!\\)\{([^{}]*)\}/g;

/** What in the prompt asks for several; null: nothing does. */
function severalIn(prompt: string): string | null {
  for (const [, name = '', count] of prompt.matchAll(counted))
    if (Number(count) !== 1) return `--${name.toLowerCase()}`;
  for (const [, inner = ''] of prompt.matchAll(choices)) if (/(?<!\\),/.test(inner)) return '{…, …}';
  return null;
}

interface SeveralJobs {
  readonly param: 'prompt' | 'batchSize';
  readonly message: string;
}

/** null: the body asks for one. */
export function severalJobs({ prompt, batchSize = null }: JsonObject): SeveralJobs | null {
  if (batchSize !== null && batchSize !== 1)
    return { param: 'batchSize', message: 'batchSize must be 1: submit a video for each' };
  const several = typeof prompt === 'string' ? severalIn(prompt) : null;
  if (several === null) return null;
  return { param: 'prompt', message: `${several} is not taken in prompt: submit a task for each` };
}
