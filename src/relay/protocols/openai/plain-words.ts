import { isList, isObject, type JsonObject, type JsonValue, objectsIn } from '../json.js';
import { NotConvertible } from '../protocol.js';
import type { Edit, OpenAiVariant } from './variant.js';

/*
 * Neutral bodies of callers with other dialects have more in them than OpenAI's upstreams know, which refuse what they do
 * not know. OpenAI's own callers say what they mean: their bodies are left alone.
 */

/** Models of OpenAI's that are told neither an effort nor how many words to choose among. */
const plainModel = /^(gpt-[34]|chatgpt)/;
const openAiModel = /^(gpt-|chatgpt|o\d)/;

const withoutCache = ({ cache_control: _, ...part }: JsonObject): JsonObject => part;

function partOf(part: JsonObject, place: string): JsonObject {
  const { file } = part;
  if (part.type === 'file' && isObject(file) && file.file_url !== undefined)
    throw new NotConvertible('caller', `${place}: this provider takes documents as data, not by their address`);
  return withoutCache(part);
}

const isText = ({ type }: JsonObject): boolean => type === 'text';

const textOf = (parts: readonly JsonObject[]): string => parts.map(({ text }) => text).join('\n');

/** Many an upstream of the family takes nothing but a text where there is nothing else. */
const plainContent = (parts: readonly JsonObject[], place: string): JsonValue =>
  parts.every(isText) ? textOf(parts) : parts.map((part, at) => partOf(part, `${place}[${at}]`));

/** A result of a tool is a text here; pictures in it are shown by the user right after. */
function resultOf(
  { is_error: failed, content, ...message }: JsonObject,
  shown: JsonObject[],
  place: string,
): JsonObject {
  const parts = isList(content) ? objectsIn(content).map((part, at) => partOf(part, `${place}[${at}]`)) : [];
  shown.push(...parts.filter((part) => !isText(part)));
  const text = isList(content) ? textOf(parts.filter(isText)) : content;
  return { ...message, content: failed === true ? `Error: ${text ?? ''}` : text };
}

/** A model that goes on after its tools have answered is shown its own thinking by some, and by no other. */
function plainMessages(messages: JsonValue | undefined, replaysReasoning: boolean): JsonObject[] {
  const plain: JsonObject[] = [];
  let shown: JsonObject[] = [];
  const show = (): void => {
    if (shown.length > 0) plain.push({ role: 'user', content: shown });
    shown = [];
  };
  for (const [at, message] of objectsIn(messages).entries()) {
    const place = `messages[${at}].content`;
    const { reasoning_details: _, reasoning_content: thought, ...rest } = message;
    if (rest.role === 'tool') {
      plain.push(resultOf(rest, shown, place));
      continue;
    }
    show();
    const { content } = rest;
    const said = isList(content) ? { ...rest, content: plainContent(objectsIn(content), place) } : rest;
    plain.push(replaysReasoning && thought !== undefined ? { ...said, reasoning_content: thought } : said);
  }
  show();
  return plain;
}

/** Nobody here is given a budget, or left to decide. */
const switchOf = (thinking: JsonValue | undefined): JsonObject =>
  isObject(thinking) ? { thinking: { type: thinking.type === 'disabled' ? 'disabled' : 'enabled' } } : {};

/** Throws NotConvertible. */
export const inPlainWords =
  ({ replaysReasoning = false, knowsThinking = false }: OpenAiVariant): Edit =>
  (body, { model }) => {
    const { thinking, ...rest } = body;
    const plain: JsonObject = {
      ...rest,
      messages: plainMessages(body.messages, replaysReasoning),
      ...(knowsThinking && switchOf(thinking)),
    };
    if (isList(body.tools)) plain.tools = objectsIn(body.tools).map(withoutCache);
    if (openAiModel.test(model)) delete plain.top_k;
    if (plainModel.test(model)) delete plain.reasoning_effort;
    return plain;
  };
