import { isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../protocols/json.js';
import { isAnthropicReasoning } from '../../protocols/neutral.js';
import { LineTooLong } from '../../upstream/sse.js';
import { eventText } from './event.js';
import { JsonEnd } from './json-end.js';

/* Neutral deltas as blocks of content, of which one is open at a time. */

/** Characters of calls that wait for another to end, and calls. Whoever sends more sends without end. */
const mostWaiting = 4 * 1024 * 1024;
const mostCalls = 4096;

interface Call {
  /** Upstream's number of it. */
  readonly index: JsonValue;
  readonly id: string;
  readonly name: string;
  /** Pieces of arguments that came while another block was open. */
  waiting: string;
  readonly end: JsonEnd;
}

export class BlockWriter {
  /** Of the open block; null: none is open. */
  private open: 'text' | 'thinking' | Call | null = null;
  private index = -1;
  /** In the order in which they began; those before `at` are written to their end. */
  private readonly calls: Call[] = [];
  private at = 0;
  private waiting = 0;

  constructor(
    private readonly callId: string,
    private readonly out: (frame: string) => void,
  ) {}

  /** How many tools have been called. */
  get toolCalls(): number {
    return this.calls.length;
  }

  delta(delta: JsonObject): void {
    const thought = textIn(delta.reasoning_content) ?? textIn(delta.reasoning);
    if (thought !== null) this.words('thinking', { type: 'thinking_delta', thinking: thought });
    for (const detail of objectsIn(delta.reasoning_details)) this.detail(detail);
    const said = textIn(delta.content) ?? textIn(delta.refusal);
    if (said !== null) this.words('text', { type: 'text_delta', text: said });
    for (const [position, call] of objectsIn(delta.tool_calls).entries()) this.call(call.index ?? position, call);
  }

  close(): void {
    for (; this.at < this.calls.length; this.at++) {
      const call = this.calls[this.at] as Call;
      this.begin(call);
      this.flush(call);
    }
    this.end();
  }

  private words(kind: 'text' | 'thinking', delta: JsonObject): void {
    if (this.open !== kind) {
      this.close();
      this.start(kind === 'text' ? { type: 'text', text: '' } : { type: 'thinking', thinking: '', signature: '' });
      this.open = kind;
    }
    this.say(delta);
  }

  /** What lets a model be shown its thinking again. */
  private detail(detail: JsonObject): void {
    const { type, signature, data } = detail;
    if (!isAnthropicReasoning(detail)) return;
    if (type === 'reasoning.text' && textIn(signature) !== null && this.open === 'thinking')
      this.say({ type: 'signature_delta', signature });
    if (type !== 'reasoning.encrypted' || textIn(data) === null) return;
    this.close();
    this.start({ type: 'redacted_thinking', data });
    this.stop();
  }

  private call(index: JsonValue, told: JsonObject): void {
    const { name, arguments: given } = isObject(told.function) ? told.function : {};
    const named = textIn(name);
    const id = textIn(told.id);
    const known = this.calls.findLast((call, at) => at >= this.at && call.index === index);
    // The same number with another id is another call.
    const other = known === undefined || (named !== null && id !== null && id !== known.id);
    if (other && named === null) return;
    const call = other ? this.added(index, id, String(named)) : known;
    const piece = typeof given === 'string' ? given : '';
    call.waiting += piece;
    this.waiting += piece.length;
    if (this.waiting > mostWaiting) throw new LineTooLong();
    this.advance();
  }

  private added(index: JsonValue, id: string | null, name: string): Call {
    if (this.calls.length === mostCalls) throw new LineTooLong();
    const call = {
      index,
      id: id ?? `toolu_${this.callId}_${this.calls.length}`,
      name,
      waiting: '',
      end: new JsonEnd(),
    };
    this.calls.push(call);
    return call;
  }

  /** Writes the first call that has not ended; one that has makes room for the next. */
  private advance(): void {
    for (;;) {
      const call = this.calls[this.at];
      if (call === undefined) return;
      this.begin(call);
      this.flush(call);
      if (!call.end.reached || this.at === this.calls.length - 1) return;
      this.at++;
    }
  }

  private begin(call: Call): void {
    if (this.open === call) return;
    this.end();
    this.start({ type: 'tool_use', id: call.id, name: call.name, input: {} });
    this.open = call;
  }

  private flush(call: Call): void {
    if (call.waiting === '') return;
    this.say({ type: 'input_json_delta', partial_json: call.waiting });
    call.end.add(call.waiting);
    this.waiting -= call.waiting.length;
    call.waiting = '';
  }

  private end(): void {
    if (this.open === null) return;
    this.open = null;
    this.stop();
  }

  private start(block: JsonObject): void {
    this.index++;
    this.out(eventText('content_block_start', { index: this.index, content_block: block }));
  }

  private say(delta: JsonObject): void {
    this.out(eventText('content_block_delta', { index: this.index, delta }));
  }

  private stop(): void {
    this.out(eventText('content_block_stop', { index: this.index }));
  }
}
