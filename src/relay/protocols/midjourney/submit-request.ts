import type { RequestOptions } from '../../contracts/protocol.js';
import { isObject, type JsonObject, textIn } from '../../json/json.js';
import { dashes } from './dashes.js';

/* A submission as it goes upstream: what the operator does not allow is left out. */

/** With `/mj-fast` and the like before it. */
const modePrefix = /^\/[^/]+(?=\/mj\/)/;

export const withoutMode = (path: string): string => path.replace(modePrefix, '');

const modeWords = new RegExp(`(^|\\s)(?:${dashes})(?:fast|relax|turbo)(?=\\s|$)`, 'gi');

/** A prompt without the words that choose its speed, and so what it costs. */
const withoutModeWords = (prompt: string): string => prompt.replace(modeWords, '').trim();

export function submittedBody(
  { model: _, accountFilter, notifyHook, ...rest }: JsonObject,
  { midjourney, callback }: Pick<RequestOptions, 'midjourney' | 'callback'>,
): JsonObject {
  const sent: JsonObject = rest;
  const prompt = textIn(rest.prompt);
  if (midjourney.clearsModes && prompt !== null) sent.prompt = withoutModeWords(prompt);
  if (midjourney.takesAccountFilter && isObject(accountFilter)) sent.accountFilter = accountFilter;
  const hook = midjourney.notifies ? (textIn(notifyHook) ?? callback) : null;
  if (hook !== null) sent.notifyHook = hook;
  return sent;
}
