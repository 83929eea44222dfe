import { isList, isObject, type JsonValue } from '../../json/json.js';
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

/**
 * Of documents as Cohere takes them beside the messages, and of variables of an app: texts, or objects of them, at any
 * depth. Names of members are read by the model too.
 */
export function documentTexts(documents: JsonValue | undefined): string[] {
  const texts: string[] = [];
  const waiting: JsonValue[] = isList(documents) ? [...documents].reverse() : [];
  for (let one = waiting.pop(); one !== undefined; one = waiting.pop()) {
    if (typeof one === 'string') texts.push(one);
    else if (isList(one)) for (let at = one.length - 1; at >= 0; at--) waiting.push(one[at] ?? null);
    else if (isObject(one))
      for (const [name, value] of Object.entries(one).reverse()) waiting.push(value ?? null, name);
  }
  return texts;
}

/** What a list of messages or items begins with, up to the first words of the user. */
export function untilUser(messages: JsonValue | undefined): readonly JsonValue[] {
  if (!isList(messages)) return [];
  const first = messages.findIndex((message) => isObject(message) && message.role === 'user');
  return first < 0 ? messages : messages.slice(0, first + 1);
}
