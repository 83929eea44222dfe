import { isList, isObject, type JsonObject, textIn } from './json.js';

/*
 * The neutral form, in which wires and dialects meet, is that of OpenAI's chat bodies, chunks and completions. What other
 * wires have beyond it rides in members that are known in the field, and never in inventions of ours:
 *
 * - `reasoning_content` of a message or delta: thinking as plain text; beside it `reasoning_details`, below;
 * - `tool_calls[].extra_content.google.thought_signature`: the signature of a call, as Google's OpenAI interface has it;
 * - `cache_control` on parts of a message, on tools and on parts of a system message: Anthropic's object;
 * - `file` parts with `file_data`, `file_url` or `file_id`, and `filename`; `image_url` with a data URL or an address;
 * - `is_error` on a message of a tool;
 * - `reasoning_effort`, `thinking` ({ type, budget_tokens }), `top_k` and `parallel_tool_calls` of a request;
 * - `native_finish_reason` and `stop_sequence` of a choice, `annotations` of a message for citations.
 */

/** Thinking that can be shown to its model again; what is encrypted only its model can read. */
export type ReasoningDetail =
  | { readonly type: 'reasoning.text'; readonly text: string; readonly signature?: string }
  | { readonly type: 'reasoning.encrypted'; readonly data: string; readonly format?: string };

/** Functions of these names are tools that a provider runs by itself. */
export const providerTools: ReadonlySet<string> = new Set(['googleSearch', 'codeExecution', 'urlContext']);

/** What of a body asks for an answer in sound. */
export const asksForSound = ({ modalities, audio }: JsonObject): boolean =>
  isObject(audio) || (isList(modalities) && modalities.includes('audio'));

/** The `format` of what is encrypted by Anthropic's models. */
export const anthropicReasoning = 'anthropic-claude-v1';

/** The `format` of what is encrypted by Google's models. */
export const googleReasoning = 'google-gemini-v1';

/** What Anthropic's models can be shown again; what says nothing of its format may be theirs. */
export const isAnthropicReasoning = ({ format }: JsonObject): boolean =>
  textIn(format) === null || format === anthropicReasoning;

/** null: the call is not signed. */
export const toolCallSignature = ({ extra_content: extra }: JsonObject): string | null =>
  isObject(extra) && isObject(extra.google) ? textIn(extra.google.thought_signature) : null;

/** The member of a call that bears its signature. */
export const signedToolCall = (signature: string): JsonObject => ({
  extra_content: { google: { thought_signature: signature } },
});
