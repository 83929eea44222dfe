import { isList, isObject, type JsonObject, textIn } from '../json/json.js';

/*
 * What both the requests and the answers of the neutral form hold: thinking that its model can be shown again, signatures
 * of calls, and the tools of a provider's own. Members are those that are known in the field, never inventions of ours.
 */

/** Thinking that can be shown to its model again; what is encrypted only its model can read. */
export type ReasoningDetail =
  | { readonly type: 'reasoning.text'; readonly text: string; readonly signature?: string }
  | { readonly type: 'reasoning.encrypted'; readonly data: string; readonly format?: string; readonly id?: string };

/** Functions of these names, in OpenAI's dialect, are tools that Google runs by itself. */
export const providerTools: ReadonlySet<string> = new Set(['googleSearch', 'codeExecution', 'urlContext']);

/** What of a body asks for an answer in sound. */
export const asksForAudio = ({ modalities, audio }: JsonObject): boolean =>
  isObject(audio) || (isList(modalities) && modalities.includes('audio'));

/** The `format` of what is encrypted by Anthropic's models. */
export const anthropicReasoning = 'anthropic-claude-v1';
const sealed = new RegExp(`^${anthropicReasoning}:(signed|sealed):(.+)$`, 's');

/** The `format` of what is encrypted by Google's models. */
export const googleReasoning = 'google-gemini-v1';

/** The `format` of what is encrypted behind the Responses interface; `id` is that of the item it came in. */
export const openAiReasoning = 'openai-responses-v1';

/** Formats of what only its model can read and its upstream wants back as it came, wherever that stands. */
const encryptedFormats = [openAiReasoning, 'azure-openai-responses-v1', 'xai-responses-v1', googleReasoning];

/** Its id may be left out; none has a colon in it. */
const sealedByOthers = new RegExp(`^(${encryptedFormats.join('|')}):([^:]*):(.+)$`, 's');

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/**
 * What lets a model be shown its thinking again, as one text for dialects that have but one place for it: in base64, which
 * is what such places hold. null: it is of no format that is known.
 */
export function sealOf(detail: JsonObject): string | null {
  const { type, signature, data, format, id } = detail;
  const text = textIn(type === 'reasoning.text' ? signature : data);
  if (text === null) return null;
  const named = textIn(format) ?? '';
  if (encryptedFormats.includes(named)) return base64(`${named}:${textIn(id)?.replaceAll(':', '') ?? ''}:${text}`);
  if (!isAnthropicReasoning(detail)) return null;
  return base64(`${anthropicReasoning}:${type === 'reasoning.text' ? 'signed' : 'sealed'}:${text}`);
}

/** The detail that a seal was made of; null: it is none of ours. `text`: the thinking that is signed by it. */
export function detailOfSeal(seal: string, text: string): JsonObject | null {
  const opened = Buffer.from(seal, 'base64').toString('utf8');
  const [, format, id, data] = sealedByOthers.exec(opened) ?? [];
  if (format !== undefined && data !== undefined)
    return { type: 'reasoning.encrypted', data, format, ...(id && { id }) };
  const [, kind, value] = sealed.exec(opened) ?? [];
  if (value === undefined) return null;
  return kind === 'signed'
    ? { type: 'reasoning.text', text, signature: value }
    : { type: 'reasoning.encrypted', data: value, format: anthropicReasoning };
}

/** Seals begin like these, as far as whole groups of base64 go. */
const sealBeginnings = [anthropicReasoning, ...encryptedFormats].map((format) => base64(`${format}:`.slice(0, 15)));

/** Whether it was made here, and says nothing to Google's models. */
export const isSeal = (signature: string): boolean =>
  sealBeginnings.some((beginning) => signature.startsWith(beginning));

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
