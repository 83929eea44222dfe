import type { ChatMessage } from '../../contracts/neutral-request.js';
import { NotConvertible } from '../../contracts/protocol.js';
import { isList, isObject, type JsonObject, type JsonValue, textIn } from '../../json/json.js';
import { callsSaid, plainText, resultText, textOfPart, withCallIds } from '../chat-words.js';
import { instructionText } from '../instructions.js';

/*
 * A neutral conversation as Hunyuan's: instructions first and once, then user (or results of tools) and assistant in
 * turn. Neighbours of one role become one message, for the interface refuses them.
 */

/** Stands where something must be said and nothing was. */
const nothing = '...';

interface Turn {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly texts: string[];
  /** In the interface's form, texts among them, once there is a picture. */
  readonly parts: JsonObject[];
  readonly calls: JsonObject[];
  readonly callId: string | null;
}

const turn = (role: Turn['role'], callId: string | null = null): Turn => ({
  role,
  texts: [],
  parts: [],
  calls: [],
  callId,
});

function partOf(part: JsonValue, path: string): JsonObject {
  const text = textOfPart(part);
  if (text !== null) return { Type: 'text', Text: text };
  const url = isObject(part) && part.type === 'image_url' ? part.image_url : null;
  const address = textIn(isObject(url) ? url.url : url);
  if (address === null) throw new NotConvertible('caller', `${path}: this provider takes text and image_url`);
  return { Type: 'image_url', ImageUrl: { Url: address } };
}

const isAllText = (content: readonly JsonValue[]): boolean => content.every((part) => textOfPart(part) !== null);

/** Words of the user, with pictures where there are some. */
function say(to: Turn, content: JsonValue | undefined, path: string): void {
  if (!isList(content) || isAllText(content)) {
    const text = plainText(content, path);
    to.texts.push(text);
    to.parts.push({ Type: 'text', Text: text });
    return;
  }
  to.texts.push('');
  to.parts.push(...content.map((part, at) => partOf(part, `${path}[${at}]`)));
}

const hasPicture = ({ parts }: Turn): boolean => parts.some(({ Type: type }) => type !== 'text');

/** A picture must have a text beside it. */
function contents({ parts }: Turn): JsonObject[] {
  const said = parts.filter(({ Type: type, Text: text }) => type !== 'text' || text !== '');
  return said.some(({ Type: type }) => type === 'text') ? said : [...said, { Type: 'text', Text: nothing }];
}

function written(one: Turn): JsonObject {
  const { role, texts, calls, callId } = one;
  const text = texts.filter((words) => words !== '').join('\n');
  const said: JsonObject = hasPicture(one)
    ? { Contents: contents(one) }
    : { Content: text === '' && calls.length === 0 ? nothing : text };
  return {
    Role: role,
    ...said,
    ...(calls.length > 0 && { ToolCalls: calls }),
    ...(callId !== null && { ToolCallId: callId }),
  };
}

class Turns {
  private readonly turns: Turn[] = [];

  add(message: ChatMessage, path: string): void {
    const { role, content } = message;
    switch (role) {
      case 'system':
      case 'developer': {
        const text = plainText(content, `${path}.content`);
        const begins = this.turns.every((one) => one.role === 'system');
        if (begins) this.turn('system').texts.push(text);
        else say(this.turn('user'), instructionText(text), path);
        return;
      }
      case 'assistant':
        this.answered(message, path);
        return;
      case 'tool':
      case 'function': {
        const id = textIn(message.tool_call_id) ?? textIn(message.name);
        if (id === null) throw new NotConvertible('caller', `${path}.tool_call_id is required`);
        const result = turn('tool', id);
        result.texts.push(resultText(message, `${path}.content`));
        this.turns.push(result);
        return;
      }
      default:
        say(this.turn('user'), content, `${path}.content`);
    }
  }

  /** Throws NotConvertible. */
  messages(): JsonObject[] {
    const last = this.turns.at(-1);
    if (last?.role !== 'user' && last?.role !== 'tool')
      throw new NotConvertible('caller', 'messages: the last one must be of the user or of a tool for this provider');
    const first = this.turns.findIndex(({ role }) => role !== 'system');
    if (this.turns[first]?.role === 'assistant') this.turns.splice(first, 0, turn('user'));
    return this.turns.map(written);
  }

  private answered(message: ChatMessage, path: string): void {
    const to = this.turn('assistant');
    to.texts.push(plainText(message.content, `${path}.content`), textIn(message.refusal) ?? '');
    for (const { id, name, arguments: given } of callsSaid(message, path))
      to.calls.push({ Id: id, Type: 'function', Function: { Name: name, Arguments: given }, Index: to.calls.length });
  }

  private turn(role: Turn['role']): Turn {
    const last = this.turns.at(-1);
    if (last?.role === role) return last;
    // Results of tools are the user's turn: what the user adds comes after the assistant's next one.
    if (role === 'user' && last?.role === 'tool') this.turns.push(turn('assistant'));
    const fresh = turn(role);
    this.turns.push(fresh);
    return fresh;
  }
}

/** Throws NotConvertible naming the message. */
export function hunyuanMessages(messages: readonly ChatMessage[]): JsonObject[] {
  const turns = new Turns();
  for (const [at, message] of withCallIds(messages).entries()) turns.add(message, `messages[${at}]`);
  return turns.messages();
}
