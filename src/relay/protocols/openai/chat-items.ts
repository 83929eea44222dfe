import { openAiReasoning } from '../../contracts/neutral.js';
import type { ChatMessage } from '../../contracts/neutral-request.js';
import { NotConvertible } from '../../contracts/protocol.js';
import { isList, isObject, type JsonObject, type JsonValue, objectsIn, scalarText, textIn } from '../../json/json.js';
import { openAiCallId } from '../tool-call-ids.js';

/* Neutral messages as items of the Responses interface. */

const refused = (what: string): NotConvertible => new NotConvertible('caller', what);

const usualFilename = 'document.pdf';

const breakpointOf = ({ prompt_cache_breakpoint: mark }: JsonObject): JsonObject =>
  (mark ?? null) === null ? {} : { prompt_cache_breakpoint: mark };

function pictureOf({ image_url: image }: JsonObject, place: string): JsonObject {
  const { url, detail } = isObject(image) ? image : { url: image };
  if (textIn(url) === null) throw refused(`${place}.image_url.url is required`);
  return { type: 'input_image', image_url: url, detail: textIn(detail) ?? 'auto' };
}

function fileOf({ file }: JsonObject, place: string): JsonObject {
  const { file_data: data, file_url: url, filename } = isObject(file) ? file : {};
  if (textIn(data) !== null)
    return { type: 'input_file', filename: textIn(filename) ?? usualFilename, file_data: data };
  if (textIn(url) !== null) return { type: 'input_file', file_url: url };
  throw refused(`${place}.file: a file is to come as file_data or file_url`);
}

function partOf(part: JsonValue, place: string): JsonObject {
  if (typeof part === 'string') return { type: 'input_text', text: part };
  if (!isObject(part)) throw refused(`${place} must be an object`);
  switch (part.type) {
    case 'text':
      return { type: 'input_text', text: textIn(part.text) ?? '', ...breakpointOf(part) };
    case 'image_url':
      return { ...pictureOf(part, place), ...breakpointOf(part) };
    case 'file':
      return { ...fileOf(part, place), ...breakpointOf(part) };
    default:
      throw refused(
        `${place}.type: the Responses API, the only one of this upstream, takes text, image_url and file here`,
      );
  }
}

/** A text stays one. Throws NotConvertible naming the part. */
function contentOf(content: JsonValue | undefined, place: string): JsonValue {
  if (typeof content === 'string') return content;
  const parts: readonly JsonValue[] = isList(content) ? content : [content ?? ''];
  return parts.map((part, at) => partOf(part, `${place}[${at}]`));
}

/** The result of a call: a text, where it is nothing else. */
function outputOf({ content, is_error: failed }: ChatMessage, place: string): JsonValue {
  const given = contentOf(content, place);
  const parts = objectsIn(given);
  const plain = isList(given) && parts.every(({ type }) => type === 'input_text');
  const output = plain ? parts.map(({ text }) => text).join('\n') : given;
  if (failed !== true) return output;
  return typeof output === 'string'
    ? `Error: ${output}`
    : [{ type: 'input_text', text: 'Error:' }, ...(isList(output) ? output : [])];
}

/** What the model has said before, in the words of an answer. */
function spokenIn({ content, refusal }: ChatMessage, place: string): JsonObject[] {
  const parts = (isList(content) ? content : [content ?? '']).map((part, at): JsonObject | null => {
    if (typeof part === 'string') return part === '' ? null : { type: 'output_text', text: part };
    if (!isObject(part)) throw refused(`${place}[${at}] must be an object`);
    if (part.type === 'text') return textIn(part.text) === null ? null : { type: 'output_text', text: part.text };
    if (part.type === 'refusal') return { type: 'refusal', refusal: textIn(part.refusal) ?? '' };
    throw refused(`${place}[${at}].type must be text or refusal`);
  });
  const declined = textIn(refusal);
  return [
    ...parts.filter((part) => part !== null),
    ...(declined === null ? [] : [{ type: 'refusal', refusal: declined }]),
  ];
}

/** What only this interface can read of its model's thinking; what others have sealed is nothing to it. */
const thoughtIn = ({ reasoning_details: details }: ChatMessage): JsonObject[] =>
  objectsIn(details)
    .filter(({ type, format, data }) => type === 'reasoning.encrypted' && format === openAiReasoning && textIn(data))
    .map(({ id, data }) => ({
      type: 'reasoning',
      ...(textIn(id) !== null && { id }),
      summary: [],
      encrypted_content: data,
    }));

/** Members of a message that have no place here, and change what it says. */
const unknownMembers = ['name', 'audio', 'prefix'] as const;

class Items {
  readonly all: JsonObject[] = [];
  /** Ids of calls of custom tools: their results have a type of their own. */
  private readonly custom = new Set<string>();

  add(message: ChatMessage, place: string): void {
    switch (message.role) {
      case 'system':
      case 'developer':
      case 'user':
        this.say(message, contentOf(message.content, `${place}.content`), place);
        return;
      case 'assistant':
        this.answered(message, place);
        return;
      case 'tool':
        this.result(message, this.id(message.tool_call_id, `${place}.tool_call_id`), place);
        return;
      case 'function':
        this.result(message, functionId(message.name), place);
        return;
      default:
        throw refused(`${place}.role must be system, developer, user, assistant or tool`);
    }
  }

  private say(message: ChatMessage, content: JsonValue, place: string): void {
    const unknown = unknownMembers.find((member) => (message[member] ?? null) !== null);
    if (unknown !== undefined)
      throw refused(`${place}.${unknown}: the Responses API, the only one of this upstream, has no such member`);
    this.all.push({ type: 'message', role: message.role, content });
  }

  private answered(message: ChatMessage, place: string): void {
    this.all.push(...thoughtIn(message));
    const spoken = spokenIn(message, `${place}.content`);
    if (spoken.length > 0 || (message.audio ?? null) !== null) this.say(message, spoken, place);
    for (const [at, call] of objectsIn(message.tool_calls).entries()) this.call(call, `${place}.tool_calls[${at}]`);
    const { function_call: called } = message;
    if (isObject(called) && textIn(called.name) !== null)
      this.all.push({
        type: 'function_call',
        call_id: functionId(called.name),
        name: called.name,
        arguments: textIn(called.arguments) ?? '{}',
      });
  }

  private call(call: JsonObject, place: string): void {
    const call_id = this.id(call.id, `${place}.id`);
    const { custom, function: called } = call;
    if (call.type === 'custom') {
      const { name, input } = isObject(custom) ? custom : {};
      if (textIn(name) === null) throw refused(`${place}.custom.name is required`);
      this.custom.add(call_id);
      this.all.push({ type: 'custom_tool_call', call_id, name, input: textIn(input) ?? '' });
      return;
    }
    const { name, arguments: given } = isObject(called) ? called : {};
    if (textIn(name) === null) throw refused(`${place}.function.name is required`);
    this.all.push({ type: 'function_call', call_id, name, arguments: textIn(given) ?? '{}' });
  }

  private result(message: ChatMessage, call_id: string, place: string): void {
    const type = this.custom.has(call_id) ? 'custom_tool_call_output' : 'function_call_output';
    this.all.push({ type, call_id, output: outputOf(message, `${place}.content`) });
  }

  private id(id: JsonValue | undefined, place: string): string {
    const text = textIn(id);
    if (text === null) throw refused(`${place} is required`);
    return openAiCallId(text);
  }
}

/** Calls of the older kind have no id but their name. */
const functionId = (name: JsonValue | undefined): string => openAiCallId(`function_${scalarText(name)}`);

/** `input`. Throws NotConvertible naming the message. */
export function itemsOf(messages: readonly ChatMessage[]): JsonObject[] {
  const items = new Items();
  for (const [at, message] of messages.entries()) items.add(message, `messages[${at}]`);
  return items.all;
}
