import { isAnthropicReasoning } from '../../../contracts/neutral.js';
import { isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../../json/json.js';
import { JsonEnd } from '../../../json/json-end.js';
import { LineTooLong } from '../../../upstream/sse.js';
import { responseAnnotations } from './called-items.js';
import { CallItem, MessageItem, ReasoningItem } from './open-items.js';
import type { ToolForm } from './tool-forms.js';

/*
 * Neutral deltas as items of a response. Items are numbered in the order in which they begin; messages and reasoning end
 * where something else begins, calls where their arguments do.
 */

/** Items of a response. Whoever sends more sends without end. */
const maxItems = 4096;

/** Told of each event, in its order. */
type Emit = (type: string, event: JsonObject) => void;

type EndStatus = 'completed' | 'incomplete';

/** Where events and ids of a response come from. */
export interface ItemsOf {
  readonly callId: string;
  /** By the names of functions: those tools that are anything else. */
  readonly forms: ReadonlyMap<string, ToolForm>;
  readonly emit: Emit;
}

export class ResponseItems {
  /** By their numbers, those that have ended. */
  private readonly ended: JsonObject[] = [];
  private begun = 0;
  private words: MessageItem | ReasoningItem | null = null;
  /** By the number of the call: those that have not ended; null: it has. */
  private readonly calls = new Map<JsonValue, CallItem | null>();
  /** Characters that are remembered of it. */
  kept = 0;

  constructor(private readonly of: ItemsOf) {}

  /** In their order, once all have ended. */
  get output(): readonly JsonObject[] {
    return this.ended;
  }

  delta(delta: JsonObject, logprobs: JsonValue | undefined = undefined): void {
    const details = objectsIn(delta.reasoning_details);
    const member = textIn(delta.reasoning_content) === null ? 'reasoning' : 'reasoning_content';
    const thought = textIn(delta[member]);
    // A whole answer has its thinking block by block in the details.
    if (thought !== null && !details.some(isSignedText)) this.reasoning(member).think(thought, this);
    for (const detail of details) this.detail(detail);
    const said = textIn(delta.content);
    if (said !== null)
      this.message('output_text').say(said, objectsIn(isObject(logprobs) ? logprobs.content : null), this);
    const declined = textIn(delta.refusal);
    if (declined !== null) this.message('refusal').say(declined, [], this);
    const cited = responseAnnotations(delta.annotations);
    if (cited.length > 0) this.message('output_text').cite(cited, this);
    for (const [at, call] of objectsIn(delta.tool_calls).entries()) this.call(call.index ?? at, call);
  }

  /** Ends what is open. `status`: of what has not come to its own end. */
  close(status: EndStatus): void {
    this.closeWords(status);
    for (const [index, call] of this.calls)
      if (call !== null) {
        this.end(call.end(status === 'incomplete' && !call.reached ? status : 'completed'), call.index);
        this.calls.set(index, null);
      }
  }

  private reasoning(member: 'reasoning' | 'reasoning_content'): ReasoningItem {
    const { words } = this;
    if (words instanceof ReasoningItem && !words.isSigned) return words;
    const opened = new ReasoningItem(this.of, this.begin(), member);
    this.words = opened;
    return opened;
  }

  private message(kind: 'output_text' | 'refusal'): MessageItem {
    const { words } = this;
    const open = words instanceof MessageItem ? words : new MessageItem(this.of, this.begin());
    this.words = open;
    open.part(kind);
    return open;
  }

  /** What lets a model be shown its thinking again. */
  private detail(detail: JsonObject): void {
    if (isSignedText(detail)) this.signedText(detail);
    else if (detail.type === 'reasoning.encrypted') {
      const alone = new ReasoningItem(this.of, this.begin(), 'reasoning_content');
      alone.keep(detail, this);
      this.words = alone;
    } else if (detail.type === 'reasoning.text' && isAnthropicReasoning(detail) && textIn(detail.signature) !== null)
      // What is signed has come before it, or is not shown at all.
      this.reasoning('reasoning_content').keep(detail, this);
  }

  private signedText(detail: JsonObject): void {
    const block = new ReasoningItem(this.of, this.begin(), 'reasoning_content');
    this.words = block;
    block.think(textIn(detail.text) ?? '', this);
    block.keep(detail, this);
  }

  /** A piece of a call that has ended says nothing more. */
  private call(index: JsonValue, piece: JsonObject): void {
    const { name, arguments: given } = isObject(piece.function) ? piece.function : {};
    let call = this.calls.get(index);
    if (call === undefined) {
      const named = textIn(name);
      if (named === null) return;
      const callId = textIn(piece.id) ?? `call_${this.of.callId}_${this.calls.size}`;
      this.extraContent(callId, piece);
      const form = this.of.forms.get(named) ?? { kind: 'function', name: named };
      call = new CallItem(this.of, this.begin(), { callId, form, end: new JsonEnd() });
      this.calls.set(index, call);
      this.kept += callId.length + named.length;
    }
    if (call !== null && typeof given === 'string') call.give(given, this);
  }

  /** What else an upstream says of a call stands before it. */
  private extraContent(call: string, { extra_content: extraContent }: JsonObject): void {
    if (!isObject(extraContent)) return;
    const alone = new ReasoningItem(this.of, this.begin(), 'reasoning_content');
    alone.carry(call, extraContent, this);
    this.words = alone;
  }

  /** The number of an item that begins: what can end does. */
  private begin(): number {
    this.closeWords('completed');
    for (const [index, call] of this.calls)
      if (call?.reached) {
        this.end(call.end('completed'), call.index);
        this.calls.set(index, null);
      }
    if (this.begun === maxItems) throw new LineTooLong();
    return this.begun++;
  }

  private closeWords(status: EndStatus): void {
    const { words } = this;
    this.words = null;
    if (words !== null) this.end(words.end(status), words.index);
  }

  private end(item: JsonObject, index: number): void {
    this.ended[index] = item;
    this.of.emit('response.output_item.done', { output_index: index, item });
  }
}

const isSignedText = (detail: JsonObject): boolean =>
  detail.type === 'reasoning.text' &&
  isAnthropicReasoning(detail) &&
  textIn(detail.text) !== null &&
  textIn(detail.signature) !== null;
