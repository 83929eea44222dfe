import { isList, type JsonValue } from '../../json/json.js';
import type { PromptTally } from '../../metering/prompt-tally.js';

/* Input that is a text, token ids, or a list of either. */

export function tallyInput(tally: PromptTally, input: JsonValue | undefined): void {
  for (const part of isList(input) ? input.flat() : [input]) {
    if (typeof part === 'number') tally.fixed++;
    else tally.text(part);
  }
}

export const inputTexts = (input: unknown): string[] =>
  typeof input === 'string' ? [input] : Array.isArray(input) ? input.flatMap(inputTexts) : [];
