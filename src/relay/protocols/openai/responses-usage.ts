import type { Usage } from '../../../domain/call/usage.js';
import { countIn, isObject, type JsonObject, type JsonValue } from '../../json/json.js';
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

/** What Perplexity calls the parts of the input; the same object where it has OpenAI's names. */
function inputDetails(details: JsonValue | undefined): JsonValue | undefined {
  if (!isObject(details)) return details;
  const { cache_read_input_tokens: read, cache_creation_input_tokens: written, ...rest } = details;
  if (read === undefined && written === undefined) return details;
  return {
    ...(read !== undefined && { cached_tokens: read }),
    ...(written !== undefined && { cache_write_tokens: written }),
    ...rest,
  };
}

/** How often Perplexity says that it has searched; null: it does not say. */
function searchesIn({ tool_calls_details: calls }: JsonObject): number | null {
  if (!isObject(calls)) return null;
  let searches = 0;
  for (const [name, call] of Object.entries(calls))
    if (/search/.test(name) && isObject(call)) searches += countIn(call.invocation) ?? 0;
  return searches;
}

function inChatWords(reported: JsonObject): JsonObject {
  const chat: JsonObject = {};
  for (const [own, other] of names) if (reported[own] !== undefined) chat[other] = reported[own];
  const details = inputDetails(chat.prompt_tokens_details);
  if (details !== undefined) chat.prompt_tokens_details = details;
  const searches = searchesIn(reported);
  if (searches !== null) chat.num_search_queries = searches;
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
