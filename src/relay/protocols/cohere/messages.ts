import type { ChatMessage } from '../../contracts/neutral-request.js';
import { NotConvertible } from '../../contracts/protocol.js';
import { isList, isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../json/json.js';

/* A neutral conversation as Cohere's: the same roles, plans beside calls of tools, documents apart from the messages. */

interface CohereConversation {
  readonly messages: readonly JsonObject[];
  /** Texts that were sent as files: the model cites them. */
  readonly documents: readonly JsonObject[];
}

const refused = (path: string, what: string): NotConvertible => new NotConvertible('caller', `${path}: ${what}`);

const isText = ({ type, text }: JsonObject): boolean =>
  type === 'text' || ((type ?? null) === null && text !== undefined);

/** Throws NotConvertible. */
function textsOf(content: JsonValue | undefined, path: string): string {
  if (!isList(content)) return textIn(content) ?? '';
  return objectsIn(content)
    .map((part, at) => {
      if (isText(part)) return textIn(part.text) ?? '';
      throw refused(`${path}[${at}]`, 'this provider takes text only here');
    })
    .join('\n');
}

/** Throws NotConvertible. */
function documentOf(file: JsonValue | undefined, path: string): JsonObject {
  const { file_data: data, filename } = isObject(file) ? file : {};
  const inline = /^data:text\/[\w.+-]+(?:;[^;,]*)*;base64,/i.exec(textIn(data)?.slice(0, 256) ?? '');
  if (inline === null) throw refused(path, 'this provider takes documents that are text, as data URLs in base64');
  const text = Buffer.from(String(data).slice(inline[0].length), 'base64').toString('utf8');
  const title = textIn(filename);
  return { data: { ...(title !== null && { title }), text } };
}

/** Throws NotConvertible. */
function imageOf({ image_url: image }: JsonObject, path: string): JsonObject {
  const { url, detail } = isObject(image) ? image : { url: image };
  if (textIn(url) === null) throw refused(`${path}.image_url`, 'url is required');
  return { type: 'image_url', image_url: { url, ...(textIn(detail) !== null && { detail }) } };
}

/** Throws NotConvertible. `documents` gets what stands in it as a file. */
function userContent(content: JsonValue | undefined, path: string, documents: JsonObject[]): JsonValue {
  if (!isList(content)) return textIn(content) ?? '';
  const parts = objectsIn(content).flatMap((part, at): JsonObject[] => {
    const name = `${path}[${at}]`;
    if (isText(part)) return [{ type: 'text', text: textIn(part.text) ?? '' }];
    if (part.type === 'image_url') return [imageOf(part, name)];
    if (part.type !== 'file') throw refused(`${name}.type`, 'this provider takes text, image_url and file');
    documents.push(documentOf(part.file, `${name}.file`));
    return [];
  });
  return parts.every(isText) ? parts.map(({ text }) => text).join('\n') : parts;
}

/** Calls of the older kind have no id but their name. */
const functionId = (name: JsonValue | undefined): string => `function_${textIn(name) ?? ''}`;

const callOf = (id: JsonValue | undefined, { name, arguments: given }: JsonObject): JsonObject => ({
  id,
  type: 'function',
  function: { name, arguments: textIn(given) ?? '{}' },
});

function callsIn({ tool_calls: calls, function_call: legacy }: ChatMessage): JsonObject[] {
  const listed = objectsIn(calls).map(({ id, function: called }) => callOf(id, isObject(called) ? called : {}));
  return isObject(legacy) ? [...listed, callOf(functionId(legacy.name), legacy)] : listed;
}

/** What was said beside calls is their plan. Throws NotConvertible. */
function assistantMessage(message: ChatMessage, path: string): JsonObject {
  const said = [textsOf(message.content, `${path}.content`), textIn(message.refusal) ?? '']
    .filter((text) => text !== '')
    .join('\n');
  const thought = textIn(message.reasoning_content) ?? textIn(message.reasoning);
  const thinking: JsonObject[] = thought === null ? [] : [{ type: 'thinking', thinking: thought }];
  const calls = callsIn(message);
  if (calls.length > 0)
    return {
      role: 'assistant',
      tool_calls: calls,
      ...(said !== '' && { tool_plan: said }),
      ...(thinking.length > 0 && { content: thinking }),
    };
  const content: JsonValue = thinking.length > 0 ? [...thinking, { type: 'text', text: said }] : said;
  return { role: 'assistant', content };
}

/** Throws NotConvertible. */
function messageOf(message: ChatMessage, path: string, documents: JsonObject[]): JsonObject {
  const { role, content } = message;
  switch (role) {
    case 'system':
    case 'developer':
      return { role: 'system', content: textsOf(content, `${path}.content`) };
    case 'assistant':
      return assistantMessage(message, path);
    case 'tool':
    case 'function': {
      const id = role === 'tool' ? message.tool_call_id : functionId(message.name);
      return { role: 'tool', tool_call_id: id, content: textsOf(content, `${path}.content`) };
    }
    default:
      return { role: 'user', content: userContent(content, `${path}.content`, documents) };
  }
}

/** Throws NotConvertible. */
export function cohereConversation(messages: JsonValue | undefined): CohereConversation {
  const documents: JsonObject[] = [];
  const list = objectsIn(messages).map((message, at) => messageOf(message, `messages[${at}]`, documents));
  return { messages: list, documents };
}
