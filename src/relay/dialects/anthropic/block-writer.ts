import { isAnthropicReasoning } from '../../contracts/neutral.js';
import { isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../json/json.js';
import { JsonEnd } from '../../json/json-end.js';
import { carryingBlock, signatureOf } from '../../protocols/anthropic/carried-members.js';
import { anthropicShownId } from '../../protocols/tool-call-ids.js';
import { LineTooLong } from '../../upstream/sse.js';
import { eventText } from '../named-events.js';

/*
 * Neutral deltas as blocks of content, of which one is open at a time. Blocks stand in the order in which they begin; what
 * comes of a later one waits until the arguments of the call before it are whole.
 */

/** Characters that wait for a block before theirs to end, and blocks that do. Whoever sends more sends without end. */
const maxWaiting = 4 * 1024 * 1024;
const maxBlocks = 4096;

type Kind = 'text' | 'thinking' | 'redacted_thinking' | 'tool_use';

interface Block {
  readonly kind: Kind;
  readonly start: JsonObject;
  /** Words or arguments that are not written yet. */
  waiting: string;
  /** Goes behind the words. */
  signature: string | null;
  /** Goes behind all of its words; '': nothing does. */
  readonly seal: string;
  /** Of the arguments of a call; null: the block ends as soon as another begins. */
  readonly end: JsonEnd | null;
}

export class BlockWriter {
  /** Not yet ended. The first is the one that may be open. */
  private readonly blocks: Block[] = [];
  private open = false;
  private index = -1;
  /** By the number of the call. */
  private readonly calls = new Map<JsonValue, Block>();
  private waiting = 0;

  constructor(
    private readonly callId: string,
    private readonly out: (frame: string) => void,
  ) {}

  /** How many tools have been called. */
  get toolCalls(): number {
    return this.calls.size;
  }

  delta(delta: JsonObject): void {
    const thought = textIn(delta.reasoning_content) ?? textIn(delta.reasoning);
    if (thought !== null) this.words('thinking', thought, signatureOf(delta));
    for (const detail of objectsIn(delta.reasoning_details)) this.detail(detail);
    const said = textIn(delta.content) ?? textIn(delta.refusal);
    if (said !== null) this.words('text', said, '');
    for (const [position, call] of objectsIn(delta.tool_calls).entries()) this.call(call.index ?? position, call);
  }

  close(): void {
    while (this.blocks.length > 0) this.next();
  }

  private words(kind: 'text' | 'thinking', text: string, seal: string): void {
    const last = this.blocks.at(-1);
    const start: JsonObject =
      kind === 'text' ? { type: 'text', text: '' } : { type: 'thinking', thinking: '', signature: '' };
    this.wait(last?.kind === kind ? last : this.added(kind, start, null, seal), text);
  }

  /** What lets a model be shown its thinking again. */
  private detail(detail: JsonObject): void {
    const { type, signature, data } = detail;
    if (!isAnthropicReasoning(detail)) {
      if (type === 'reasoning.encrypted')
        this.wait(this.added('redacted_thinking', carryingBlock({ detail }), null), '');
      return;
    }
    const last = this.blocks.at(-1);
    const signed = textIn(signature);
    if (type === 'reasoning.text' && signed !== null && last?.kind === 'thinking') {
      last.signature = signed;
      this.wait(last, '');
    }
    if (type !== 'reasoning.encrypted' || textIn(data) === null) return;
    this.wait(this.added('redacted_thinking', { type: 'redacted_thinking', data }, null), '');
  }

  /** A piece of a call that has ended says nothing more. */
  private call(index: JsonValue, piece: JsonObject): void {
    const { name, arguments: given } = isObject(piece.function) ? piece.function : {};
    const named = textIn(name);
    let call = this.calls.get(index);
    if (call === undefined) {
      if (named === null) return;
      const id = textIn(piece.id) ?? `toolu_${this.callId}_${this.calls.size}`;
      this.extraContent(id, piece);
      const start = { type: 'tool_use', id: anthropicShownId(id), name: named, input: {} };
      call = this.added('tool_use', start, new JsonEnd());
      this.calls.set(index, call);
    }
    if (this.blocks.includes(call)) this.wait(call, typeof given === 'string' ? given : '');
  }

  /** What else an upstream says of a call stands before it, so that the call keeps its place at the end of an answer. */
  private extraContent(call: string, { extra_content: extraContent }: JsonObject): void {
    if (!isObject(extraContent)) return;
    this.wait(this.added('redacted_thinking', carryingBlock({ call, extraContent }), null), '');
  }

  private added(kind: Kind, start: JsonObject, end: JsonEnd | null, seal = ''): Block {
    if (this.blocks.length === maxBlocks || (end !== null && this.calls.size === maxBlocks)) throw new LineTooLong();
    const block = { kind, start, waiting: '', signature: null, seal, end };
    this.blocks.push(block);
    return block;
  }

  private wait(block: Block, words: string): void {
    block.waiting += words;
    this.waiting += words.length;
    if (this.waiting > maxWaiting) throw new LineTooLong();
    this.advance();
  }

  /** Writes the first block; one that has ended makes room for the next. */
  private advance(): void {
    for (;;) {
      const [block] = this.blocks;
      if (block === undefined) return;
      this.write(block);
      if (this.blocks.length === 1 || block.end?.reached === false) return;
      this.next();
    }
  }

  private next(): void {
    const block = this.blocks.shift();
    if (block === undefined) return;
    this.write(block);
    if (block.seal !== '') this.say({ type: 'signature_delta', signature: block.seal });
    this.open = false;
    this.out(eventText('content_block_stop', { index: this.index }));
  }

  private write(block: Block): void {
    if (!this.open) {
      this.open = true;
      this.index++;
      this.out(eventText('content_block_start', { index: this.index, content_block: block.start }));
    }
    const { kind, waiting, signature } = block;
    if (waiting !== '') {
      block.waiting = '';
      this.waiting -= waiting.length;
      block.end?.add(waiting);
      this.say(deltaOf(kind, waiting));
    }
    if (signature === null) return;
    block.signature = null;
    this.say({ type: 'signature_delta', signature });
  }

  private say(delta: JsonObject): void {
    this.out(eventText('content_block_delta', { index: this.index, delta }));
  }
}

const deltaOf = (kind: Kind, words: string): JsonObject => {
  if (kind === 'text') return { type: 'text_delta', text: words };
  if (kind === 'thinking') return { type: 'thinking_delta', thinking: words };
  return { type: 'input_json_delta', partial_json: words };
};
