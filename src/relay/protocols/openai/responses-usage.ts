import type { Usage } from '../../../domain/call/usage.js';
import type { JsonObject } from '../../json/json.js';
import { withoutCost } from './reported-cost.js';
import { correctedOpenAiUsage, readOpenAiUsage, type Unreported, writeOpenAiUsage } from './usage.js';

/* Usage as the Responses interface reports it: what chat reports, by other names. */

const names = [
  ['input_tokens', 'prompt_tokens'],
  ['input_tokens_details', 'prompt_tokens_details'],
  ['output_tokens', 'completion_tokens'],
  ['output_tokens_details', 'completion_tokens_details'],
  ['total_tokens', 'total_tokens'],
] as const;

function inChatWords(reported: JsonObject): JsonObject {
  const chat: JsonObject = {};
  for (const [own, other] of names) if (reported[own] !== undefined) chat[other] = reported[own];
  return chat;
}

function inOwnWords(chat: JsonObject): JsonObject {
  const renamed: JsonObject = {};
  for (const [own, other] of names) if (chat[other] !== undefined) renamed[own] = chat[other];
  return renamed;
}

/** null: nothing usable. Reasoning is a part of the output here, whoever serves it. */
export const readResponsesUsage = (reported: JsonObject, unreported: Unreported): Usage | null =>
  readOpenAiUsage(inChatWords(reported), false, unreported);

/** The upstream's own usage object, made to say what is charged; the same object when it does. */
export function correctedResponsesUsage(reported: JsonObject, usage: Usage): JsonObject {
  const shown = withoutCost(reported);
  const chat = inChatWords(shown);
  const corrected = correctedOpenAiUsage(chat, usage);
  return corrected === chat ? shown : { ...shown, ...inOwnWords(corrected) };
}

/** Its clients look for both details. */
export const writeResponsesUsage = (usage: Usage): JsonObject => ({
  input_tokens_details: { cached_tokens: 0 },
  output_tokens_details: { reasoning_tokens: 0 },
  ...inOwnWords(writeOpenAiUsage(usage)),
});
