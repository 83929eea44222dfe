import type { ChatMessage } from '../../contracts/neutral-request.js';
import { NotConvertible } from '../../contracts/protocol.js';
import { isList, isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../json/json.js';
import { callsSaid, plainText, resultText, textOfPart, withCallIds } from '../chat-words.js';

/* A neutral conversation as Cohere's: the same roles, plans beside calls of tools, documents apart from the messages. */

interface CohereConversation {
  readonly messages: readonly JsonObject[];
  /** Texts that were sent as files: the model cites them. */
  readonly documents: readonly JsonObject[];
}

const refused = (path: string, what: string): NotConvertible => new NotConvertible('caller', `${path}: ${what}`);

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
  const parts = content.flatMap((part, at): JsonObject[] => {
    const name = `${path}[${at}]`;
    const text = textOfPart(part);
    if (text !== null) return [{ type: 'text', text }];
    if (isObject(part) && part.type === 'image_url') return [imageOf(part, name)];
    if (!isObject(part) || part.type !== 'file')
      throw refused(`${name}.type`, 'this provider takes text, image_url and file');
    documents.push(documentOf(part.file, `${name}.file`));
    return [];
  });
  return parts.every(({ type }) => type === 'text') ? parts.map(({ text }) => text).join('\n') : parts;
}

/** Throws NotConvertible. */
const callsIn = (message: ChatMessage, path: string): JsonObject[] =>
  callsSaid(message, path).map(({ id, name, arguments: given }) => ({
    id,
    type: 'function',
    function: { name, arguments: given },
  }));

/** What was said beside calls is their plan. Throws NotConvertible. */
function assistantMessage(message: ChatMessage, path: string): JsonObject {
  const said = [plainText(message.content, `${path}.content`), textIn(message.refusal) ?? '']
    .filter((text) => text !== '')
    .join('\n');
  const thought = textIn(message.reasoning_content) ?? textIn(message.reasoning);
  const thinking: JsonObject[] = thought === null ? [] : [{ type: 'thinking', thinking: thought }];
  const calls = callsIn(message, path);
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
      return { role: 'system', content: plainText(content, `${path}.content`) };
    case 'assistant':
      return assistantMessage(message, path);
    case 'tool':
      return { role, tool_call_id: message.tool_call_id, content: resultText(message, `${path}.content`) };
    default:
      return { role: 'user', content: userContent(content, `${path}.content`, documents) };
  }
}

/** Throws NotConvertible. */
export function cohereConversation(messages: JsonValue | undefined): CohereConversation {
  const documents: JsonObject[] = [];
  const list = withCallIds(objectsIn(messages) as unknown as ChatMessage[]).map((message, at) =>
    messageOf(message, `messages[${at}]`, documents),
  );
  return { messages: list, documents };
}
