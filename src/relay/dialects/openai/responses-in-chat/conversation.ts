import type { ChatMessage } from '../../../contracts/neutral-request.js';
import { NotConvertible } from '../../../contracts/protocol.js';
import { isList, isObject, type JsonObject, type JsonValue, textIn } from '../../../json/json.js';
import { openedReasoning } from '../../../protocols/openai/carried-reasoning.js';
import { AssistantTurn } from './assistant-turn.js';
import { callOf, hasFailed, isOfProvider, isOutputItem, outputOf } from './called-tools.js';
import { partsOf, plainContent, textOf } from './parts.js';

/* The input of a response as the messages of a chat. */

const refused = (what: string): NotConvertible => new NotConvertible('caller', what);

/**
 * What a provider's own tools have done is left out, for nobody else can go on from it; so are tools that are brought,
 * which are offered.
 */
const leftOut: ReadonlySet<unknown> = new Set([
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
  'image_generation_call',
  'mcp_list_tools',
  'mcp_call',
  'additional_tools',
]);

/** An item of an output, and where it stands. */
interface Output {
  readonly item: JsonObject;
  readonly path: string;
}

const idsOf = ({ call_id: callId, id }: JsonObject): string | null => textIn(callId) ?? textIn(id);

class Conversation {
  private readonly messages: ChatMessage[] = [];
  private turn: AssistantTurn | null = null;
  /** An output of the open turn has come: what the model says next, it says in a turn of its own. */
  private answered = false;
  /** By the ids of their calls, in their order: upstreams are known that give an id again in every turn. */
  private readonly outputs = new Map<string, Output[]>();

  constructor(input: readonly JsonValue[]) {
    for (const [at, item] of input.entries()) {
      if (!isObject(item) || !isOutputItem(item) || isOfProvider(item)) continue;
      const path = `input[${at}]`;
      const id = idsOf(item);
      if (id === null) throw refused(`${path}.call_id is required: that of the call whose output it is`);
      const others = this.outputs.get(id);
      if (others === undefined) this.outputs.set(id, [{ item, path }]);
      else others.push({ item, path });
    }
  }

  /** Neighbours at the head are one: many a model takes but one message of instructions. */
  instruct(parts: JsonObject[]): void {
    this.close();
    const last = this.messages.length === 1 ? this.messages[0] : undefined;
    const before = last?.role === 'system' ? textIn(last.content) : null;
    const more = textOf(parts);
    if (before !== null && more !== null) this.messages[0] = { role: 'system', content: `${before}\n\n${more}` };
    else this.messages.push({ role: 'system', content: more ?? plainContent(parts) });
  }

  item(item: JsonObject, path: string): void {
    const call = callOf(item);
    if (leftOut.has(item.type) || isOfProvider(item)) return;
    if (isOutputItem(item)) {
      this.output(idsOf(item));
      return;
    }
    if (call !== null) {
      const id = idsOf(item);
      if (id === null) throw refused(`${path}.call_id is required`);
      this.current().call({ id, path }, call.name, call.arguments);
    } else if (item.type === 'reasoning') this.reasoning(item);
    else if ((item.type ?? 'message') === 'message') this.message(item, path);
    else
      throw refused(
        `${path}.type: ${(textIn(item.type) ?? 'this').slice(0, 100)} cannot be put to this channel, which has chat alone; leave the item out`,
      );
  }

  /** Throws NotConvertible: an output is that of no call. */
  whole(): ChatMessage[] {
    this.close();
    for (const [first] of this.outputs.values())
      if (first !== undefined) throw refused(`${first.path}.call_id: the call of this id is not in the input`);
    return this.messages;
  }

  private message({ role, content }: JsonObject, path: string): void {
    const parts = partsOf(content, `${path}.content`);
    switch (role) {
      case 'assistant':
        this.current().say(parts);
        return;
      case 'system':
      case 'developer':
        this.instruct(parts);
        return;
      case 'user':
        this.close();
        this.messages.push({ role: 'user', content: plainContent(parts) });
        return;
      default:
        throw refused(`${path}.role must be user, assistant, system or developer`);
    }
  }

  /** What another's model has sealed is left out: no other can read it. */
  private reasoning({ encrypted_content: sealed }: JsonObject): void {
    const carried = openedReasoning(textIn(sealed) ?? '');
    if (carried !== null) this.current().think(carried);
  }

  /** Its result is looked up when the turn is closed: it may stand elsewhere. */
  private output(of: string | null): void {
    this.answered ||= this.turn?.calls.some(({ id }) => id === of) ?? false;
  }

  private current(): AssistantTurn {
    if (this.answered) this.close();
    this.turn ??= new AssistantTurn();
    return this.turn;
  }

  /** Outputs stand right behind their calls, wherever their caller has put them. */
  private close(): void {
    const { turn } = this;
    if (turn === null) return;
    this.turn = null;
    this.answered = false;
    if (turn.isEmpty) return;
    this.messages.push(turn.message());
    for (const { id, path } of turn.calls) this.messages.push(this.resultOf(id, path));
  }

  private resultOf(id: string, path: string): ChatMessage {
    const open = this.outputs.get(id);
    const output = open?.shift();
    if (open === undefined || output === undefined)
      throw refused(`${path}.call_id: the output of this call is not in the input`);
    if (open.length === 0) this.outputs.delete(id);
    const { item } = output;
    const parts = partsOf(outputOf(item), `${output.path}.output`);
    return {
      role: 'tool',
      tool_call_id: id,
      content: textOf(parts) ?? parts,
      ...(hasFailed(item) && { is_error: true }),
    };
  }
}

/** Throws NotConvertible naming the item, or the input where nothing in it can be put. */
export function messagesOf({ instructions, input }: JsonObject): ChatMessage[] {
  const conversation = new Conversation(isList(input) ? input : []);
  const instructed = textIn(instructions);
  if (instructed !== null) conversation.instruct([{ type: 'text', text: instructed }]);
  if (typeof input === 'string') conversation.item({ role: 'user', content: input }, 'input');
  else if (isList(input))
    for (const [at, item] of input.entries()) if (isObject(item)) conversation.item(item, `input[${at}]`);
  const messages = conversation.whole();
  if (messages.length === 0) throw refused('input: nothing in it can be put to this channel, which has chat alone');
  return messages;
}
