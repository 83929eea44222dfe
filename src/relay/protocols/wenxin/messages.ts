import type { ChatMessage } from '../../contracts/neutral-request.js';
import { NotConvertible } from '../../contracts/protocol.js';
import { type JsonObject, textIn } from '../../json/json.js';
import { callsSaid, plainText, resultText, type SaidCall } from '../chat-words.js';
import { instructionText } from '../instructions.js';

/*
 * A neutral conversation as Wenxin's: instructions apart, then user (or the result of a function) and assistant in turn.
 * A message has one call, so calls that were made at once become one after the other, each before its result.
 */

/** Stands where something must be said and nothing was. */
const nothing = '...';

interface Turn {
  readonly role: 'user' | 'assistant' | 'function';
  content: string;
  /** Of a call, or of the result of one. */
  readonly rest: JsonObject;
}

const joined = (...texts: readonly string[]): string => texts.filter((text) => text !== '').join('\n');

class Turns {
  readonly instructions: string[] = [];
  private readonly turns: Turn[] = [];
  /** Of the last message that called functions; `text`: what it said, until it is written. */
  private calling: { text: string; readonly calls: Map<string, SaidCall>; readonly path: string } | null = null;

  add(message: ChatMessage, path: string): void {
    const { role } = message;
    if (role === 'tool' || role === 'function') {
      this.result(message, path);
      return;
    }
    this.closeCalls();
    const text = plainText(message.content, `${path}.content`);
    if (role === 'assistant') this.answered(message, text, path);
    else if (role !== 'system' && role !== 'developer') this.say('user', text);
    else if (this.turns.length === 0) this.instructions.push(text);
    else this.say('user', instructionText(text));
  }

  /** Throws NotConvertible. */
  messages(): JsonObject[] {
    this.closeCalls();
    const last = this.turns.at(-1)?.role;
    if (last !== 'user' && last !== 'function')
      throw new NotConvertible('caller', 'messages: the last one must be of the user or of a tool for this provider');
    return this.turns.map(({ role, content, rest }) => ({ role, content, ...rest }));
  }

  private answered(message: ChatMessage, text: string, path: string): void {
    const said = joined(text, textIn(message.refusal) ?? '');
    const calls = callsSaid(message, path);
    if (calls.length === 0) this.say('assistant', said);
    else this.calling = { text: said, calls: new Map(calls.map((call) => [call.id, call])), path };
  }

  private result(message: ChatMessage, path: string): void {
    const id = textIn(message.tool_call_id) ?? textIn(message.name) ?? '';
    const call = this.calling?.calls.get(id);
    if (this.calling === null || call === undefined)
      throw new NotConvertible('caller', `${path}.tool_call_id is that of no call right before it`);
    this.calling.calls.delete(id);
    const { name, arguments: given } = call;
    this.turn('assistant', this.calling.text, { function_call: { name, arguments: given } });
    this.calling.text = '';
    this.turn('function', resultText(message, `${path}.content`) || nothing, { name });
  }

  private closeCalls(): void {
    if (this.calling !== null && this.calling.calls.size > 0)
      throw new NotConvertible('caller', `${this.calling.path}.tool_calls: each must have its result right behind it`);
    this.calling = null;
  }

  private say(role: 'user' | 'assistant', text: string): void {
    const last = this.turns.at(-1);
    if (last?.role === role && Object.keys(last.rest).length === 0)
      last.content = joined(last.content === nothing ? '' : last.content, text) || nothing;
    else this.turn(role, text || nothing);
  }

  private turn(role: Turn['role'], content: string, rest: JsonObject = {}): void {
    const last = this.turns.at(-1)?.role ?? 'assistant';
    if ((last === 'assistant') === (role === 'assistant'))
      this.turns.push({ role: role === 'assistant' ? 'user' : 'assistant', content: nothing, rest: {} });
    this.turns.push({ role, content, rest });
  }
}

/** `system` and `messages`. Throws NotConvertible naming the message. */
export function wenxinConversation(messages: readonly ChatMessage[]): JsonObject {
  const turns = new Turns();
  for (const [at, message] of messages.entries()) turns.add(message, `messages[${at}]`);
  const said = turns.messages();
  const system = joined(...turns.instructions);
  return { messages: said, ...(system !== '' && { system }) };
}
