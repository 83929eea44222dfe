import { isAnthropicReasoning } from '../../contracts/neutral.js';
import type { ChatMessage } from '../../contracts/neutral-request.js';
import { NotConvertible } from '../../contracts/protocol.js';
import { parseExactly } from '../../json/exact-json.js';
import { isObject, type JsonObject, type JsonValue, objectsIn, scalarText, textIn } from '../../json/json.js';
import { instructionText } from '../instructions.js';
import { anthropicCallId } from '../tool-call-ids.js';
import { blocksOf, isBlank } from './content.js';

/* A neutral conversation as Anthropic's: instructions apart, user and assistant in turn, results of tools among the user's words. */

/** Stands where something must be said and nothing was. */
const nothing = '...';

/** A text as long as it is one, or blocks. Results of tools come first among them. */
interface Turn {
  readonly role: 'user' | 'assistant';
  text: string | null;
  readonly results: JsonObject[];
  readonly blocks: JsonObject[];
}

const idOf = (id: JsonValue | undefined, path: string): string => {
  const text = textIn(id);
  if (text === null) throw new NotConvertible('caller', `${path} is required`);
  return anthropicCallId(text);
};

const inputOf = (given: JsonValue | undefined): JsonObject => {
  const input = typeof given === 'string' ? parseExactly(given) : given;
  return isObject(input) ? input : {};
};

const cached = ({ cache_control: control }: JsonObject): JsonObject =>
  isObject(control) ? { cache_control: control } : {};

function callsOf(message: ChatMessage, path: string): JsonObject[] {
  const calls = objectsIn(message.tool_calls).map((call, at): JsonObject => {
    const { name, arguments: given } = isObject(call.function) ? call.function : {};
    if (textIn(name) === null)
      throw new NotConvertible('caller', `${path}.tool_calls[${at}].function.name is required`);
    const id = idOf(call.id, `${path}.tool_calls[${at}].id`);
    return { type: 'tool_use', id, name, input: inputOf(given), ...cached(call) };
  });
  const { function_call: called } = message;
  if (isObject(called) && textIn(called.name) !== null)
    calls.push({ type: 'tool_use', id: functionId(called.name), name: called.name, input: inputOf(called.arguments) });
  return calls;
}

/** Calls of the older kind have no id but their name. */
const functionId = (name: JsonValue | undefined): string => anthropicCallId(`function_${scalarText(name)}`);

/** What its model can be shown again of its thinking: unsigned, it would be refused. */
function thinkingOf({ reasoning_details: details, reasoning_content: plain }: ChatMessage): JsonObject[] {
  const listed = objectsIn(details);
  const alone = listed.filter(({ type }) => type === 'reasoning.text').length === 1;
  return listed.flatMap((detail): JsonObject[] => {
    const { type, text, signature, data } = detail;
    if (!isAnthropicReasoning(detail)) return [];
    if (type === 'reasoning.encrypted') return textIn(data) === null ? [] : [{ type: 'redacted_thinking', data }];
    if (type !== 'reasoning.text' || textIn(signature) === null) return [];
    // A stream sends the words apart from what signs them.
    const thinking = textIn(text) ?? (alone ? textIn(plain) : null) ?? '';
    return [{ type: 'thinking', thinking, signature }];
  });
}

function resultOf(message: ChatMessage, id: string, path: string): JsonObject {
  const { content, is_error: failed } = message;
  return {
    type: 'tool_result',
    tool_use_id: id,
    content: typeof content === 'string' ? content : blocksOf(content, `${path}.content`),
    ...(failed === true && { is_error: true }),
    ...cached(message),
  };
}

/** Blocks that stand before and after what a message says. */
interface Around {
  readonly before: readonly JsonObject[];
  readonly after: readonly JsonObject[];
}

const nothingAround: Around = { before: [], after: [] };

class Turns {
  readonly system: { readonly text: string | null; readonly blocks: JsonObject[] }[] = [];
  private readonly turns: Turn[] = [];

  add(message: ChatMessage, path: string): void {
    const { role, content } = message;
    switch (role) {
      case 'system':
      case 'developer':
        if (this.turns.length > 0) {
          this.instruct(content, path);
          return;
        }
        this.system.push({
          text: typeof content === 'string' ? content : null,
          blocks: blocksOf(content, `${path}.content`),
        });
        return;
      case 'assistant':
        this.say('assistant', content, path, { before: thinkingOf(message), after: callsOf(message, path) });
        return;
      case 'tool':
        this.turn('user').results.push(resultOf(message, idOf(message.tool_call_id, `${path}.tool_call_id`), path));
        return;
      case 'function':
        this.turn('user').results.push(resultOf(message, functionId(message.name), path));
        return;
      case 'user':
        this.say('user', content, path);
        return;
      default:
        throw new NotConvertible('caller', `${path}.role must be system, developer, user, assistant or tool`);
    }
  }

  /** Later instructions keep their place: at the head they would change what is kept in a cache with every turn. */
  private instruct(content: JsonValue | undefined, path: string): void {
    const blocks = blocksOf(content, `${path}.content`).map((block) =>
      block.type === 'text' ? { ...block, text: instructionText(textIn(block.text) ?? '') } : block,
    );
    this.say('user', blocks, path);
  }

  messages(): JsonObject[] {
    const { turns } = this;
    const first: JsonObject[] = turns[0]?.role === 'user' ? [] : [{ role: 'user', content: nothing }];
    return [
      ...first,
      ...turns.map(({ role, text, results, blocks }) => ({
        role,
        content:
          text !== null && results.length + blocks.length === 0
            ? isBlank(text)
              ? nothing
              : text
            : [...results, ...spoken(text), ...blocks],
      })),
    ];
  }

  private say(
    role: Turn['role'],
    content: JsonValue | undefined,
    path: string,
    { before, after }: Around = nothingAround,
  ): void {
    const turn = this.turn(role);
    const plain = typeof content === 'string' && before.length + after.length === 0;
    const nothingElse = turn.results.length + turn.blocks.length === 0;
    if (plain && nothingElse) {
      turn.text = turn.text === null ? content : `${turn.text} ${content}`;
      return;
    }
    if (turn.text !== null) turn.blocks.push(...spoken(turn.text));
    turn.text = null;
    turn.blocks.push(...before, ...blocksOf(content, `${path}.content`), ...after);
    if (turn.results.length + turn.blocks.length === 0) turn.text = '';
  }

  private turn(role: Turn['role']): Turn {
    const last = this.turns.at(-1);
    if (last?.role === role) return last;
    const turn: Turn = { role, text: null, results: [], blocks: [] };
    this.turns.push(turn);
    return turn;
  }
}

const spoken = (text: string | null): JsonObject[] => (text === null || isBlank(text) ? [] : [{ type: 'text', text }]);

/** Blocks where some are to be kept in a cache; else a text. */
function systemOf(instructions: Turns['system']): JsonObject {
  const blocks = instructions.flatMap((one) => one.blocks);
  if (blocks.length === 0) return {};
  if (blocks.some(({ cache_control: control }) => (control ?? null) !== null)) return { system: blocks };
  return { system: blocks.map(({ text }) => text).join('\n') };
}

/** `system` and `messages`. Throws NotConvertible naming the message. */
export function conversationOf(messages: readonly ChatMessage[]): JsonObject {
  const turns = new Turns();
  for (const [at, message] of messages.entries()) turns.add(message, `messages[${at}]`);
  return { ...systemOf(turns.system), messages: turns.messages() };
}
