import type { JsonObject } from '../../json/json.js';
import { dashes } from './dashes.js';

/*
 * Words by which Midjourney makes several jobs of one prompt, and members by which it makes several videos. The price is
 * that of one submission, so they are refused by name.
 */

/** Anything but the number 1 alone behind it may be read as another number. */
const counted = new RegExp(`(?:^|\\s)(?:${dashes})(repeat|r|bs)(?![\\w-])(?!\\s+1(?:\\s|$))`, 'i');

/** `{red, green}`: one job for each, within others too. A backslash takes a brace or a comma for itself. */
function hasChoices(prompt: string): boolean {
  let depth = 0;
  let listed = false;
  for (const [mark] of prompt.matchAll(/\\.|[{},]/gs)) {
    if (mark === '{') depth++;
    else if (mark === ',') listed ||= depth > 0;
    else if (mark === '}') {
      if (listed) return true;
      depth = Math.max(depth - 1, 0);
    }
  }
  return false;
}

/** What in the prompt asks for several; null: nothing does. */
function severalIn(prompt: string): string | null {
  const [, name] = counted.exec(prompt) ?? [];
  if (name !== undefined) return `--${name.toLowerCase()}`;
  return hasChoices(prompt) ? '{…, …}' : null;
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
