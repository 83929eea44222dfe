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

/** Of documents as Cohere takes them beside the messages: texts, or objects of texts. */
export const documentTexts = (documents: JsonValue | undefined): string[] =>
  (isList(documents) ? documents : []).flatMap((one) => {
    const data = isObject(one) ? (one.data ?? one) : one;
    return isObject(data) ? Object.values(data).flatMap(inputTexts) : inputTexts(data);
  });

/** What a list of messages or items begins with, up to the first words of the user. */
export function untilUser(messages: JsonValue | undefined): readonly JsonValue[] {
  if (!isList(messages)) return [];
  const first = messages.findIndex((message) => isObject(message) && message.role === 'user');
  return first < 0 ? messages : messages.slice(0, first + 1);
}
