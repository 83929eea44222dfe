import type { AnswerMessage, ChatChunk, ChunkChoice, ChunkHead } from '../../contracts/neutral-answer.js';
import type { CallInfo } from '../../contracts/protocol.js';
import { isObject, type JsonObject, type JsonValue, objectsIn, scalarText, textIn } from '../../json/json.js';
import { DistinctCallIds } from '../tool-call-ids.js';
import {
  type CustomTools,
  callIdOf,
  chatCallOf,
  chatHeadOf,
  citationOf,
  isCall,
  logprobsIn,
  outputTextIn,
  paragraph,
  placeInOutput,
  placeOf,
  refusalTextIn,
  sealedIn,
  thoughtsIn,
} from './response-parts.js';

/* The events of one response as the chunks of a chat. */

/** Beyond these nothing is remembered, or a stream without end would take memory without end. */
const maxItems = 4096;

type Words = 'content' | 'refusal' | 'reasoning_content';

interface Item {
  /** Its number among the calls; null: it is no call, or has not begun. */
  call: number | null;
  /** The event by which its words come; another one repeats them. null: none has come. */
  sentAs: string | null;
  /** Where its text begins in all that was said. */
  start: number;
  cited: boolean;
  /** Pieces of a call came before the call: they are sent when it has ended. */
  late: boolean;
  ended: boolean;
}

/** Events by which words come, and what they are. */
const wordsBy: Readonly<Record<string, Words>> = {
  'response.output_text.delta': 'content',
  'response.refusal.delta': 'refusal',
  'response.reasoning_summary_text.delta': 'reasoning_content',
  'response.reasoning_text.delta': 'reasoning_content',
};

const argumentsBy: Readonly<Record<string, 'function' | 'custom'>> = {
  'response.function_call_arguments.delta': 'function',
  'response.custom_tool_call_input.delta': 'custom',
};

const given = (kind: 'function' | 'custom', text: string): JsonObject =>
  kind === 'function' ? { function: { arguments: text } } : { custom: { input: text } };

export class ResponseAsChunks {
  calls = 0;
  private head: ChunkHead | null = null;
  private readonly items = new Map<JsonValue, Item>();
  private readonly ids = new DistinctCallIds();
  /** Where the last words of each kind were: a new place begins a paragraph. */
  private readonly places = new Map<Words, string>();
  private spoken = 0;

  constructor(
    private readonly info: CallInfo,
    private readonly custom: CustomTools,
    private readonly out: (chunk: ChatChunk) => void,
  ) {}

  event(type: string, event: JsonObject): void {
    const { item, response } = event;
    const place = placeOf(event);
    if (this.head === null) this.begin(isObject(response) ? response : {});
    const words = wordsBy[type];
    const called = argumentsBy[type];
    if (words !== undefined) this.piece(type, words, place, event);
    else if (called !== undefined) this.argumentsPiece(called, place, event.delta);
    else if (type === 'response.output_item.added' && isObject(item)) this.added(item, place);
    else if (type === 'response.output_item.done' && isObject(item)) this.ended(item, place);
    else if (type === 'response.output_text.annotation.added') this.annotation(place, event.annotation);
  }

  /** What the response holds and no event has sent, and why it ended. */
  end(response: JsonObject, finishOf: (called: boolean) => string | null): void {
    const numbered = ![...this.items.keys()].some((place) => typeof place === 'string');
    for (const [at, item] of objectsIn(response.output).entries()) this.ended(item, placeInOutput(item, at, numbered));
    this.choice({ index: 0, delta: {}, finish_reason: finishOf(this.calls > 0) });
  }

  private begin(response: JsonObject): void {
    this.head = { ...chatHeadOf(response, this.info), object: 'chat.completion.chunk' };
    this.delta({ role: 'assistant', content: '' });
  }

  private itemAt(place: JsonValue): Item | null {
    let found = this.items.get(place);
    if (found !== undefined) return found;
    if (this.items.size >= maxItems) return null;
    found = { call: null, sentAs: null, start: this.spoken, cited: false, late: false, ended: false };
    this.items.set(place, found);
    return found;
  }

  private piece(type: string, words: Words, place: JsonValue, event: JsonObject): void {
    const item = this.itemAt(place);
    const text = textIn(event.delta);
    if (item === null || text === null || item.ended) return;
    item.sentAs ??= type;
    if (words === 'reasoning_content' && item.sentAs !== type) return;
    const part = words === 'reasoning_content' ? ` ${scalarText(event.summary_index ?? event.content_index ?? 0)}` : '';
    this.words(words, `${scalarText(place)}${part}`, text, words === 'content' ? logprobsIn([event]) : null);
  }

  private words(words: Words, part: string, text: string, logprobs: JsonObject | null = null): void {
    const before = this.places.get(words);
    const said = before !== undefined && before !== part ? paragraph + text : text;
    this.places.set(words, part);
    if (words === 'content') this.spoken += said.length;
    const delta = { [words]: said };
    this.choice({ index: 0, delta, ...(logprobs !== null && { logprobs }), finish_reason: null });
  }

  private added(item: JsonObject, place: JsonValue): void {
    const known = this.itemAt(place);
    if (known !== null) this.call(item, known);
  }

  /** Names a call, whose arguments are to come. */
  private call(item: JsonObject, known: Item): void {
    if (known.call !== null || !isCall(item, this.custom)) return;
    const call = chatCallOf({ ...item, arguments: '', input: '' }, this.idOf(item));
    known.call = this.calls++;
    this.delta({ tool_calls: [{ index: known.call, ...call }] });
  }

  private idOf(item: JsonObject): string {
    return this.ids.of(callIdOf(item) || `call_${this.info.callId}_${this.calls}`);
  }

  private argumentsPiece(kind: 'function' | 'custom', place: JsonValue, piece: JsonValue | undefined): void {
    const item = this.itemAt(place);
    const text = textIn(piece);
    if (item === null || text === null || item.ended) return;
    if (item.call === null) item.late = true;
    if (item.call === null || item.late) return;
    item.sentAs = kind;
    this.delta({ tool_calls: [{ index: item.call, ...given(kind, text) }] });
  }

  /** Once by its place: what has not come in pieces is sent now. */
  private ended(item: JsonObject, place: JsonValue): void {
    const known = this.itemAt(place);
    if (known === null || known.ended) return;
    if (item.type === 'message') this.said(item, known, scalarText(place));
    else if (item.type === 'reasoning') this.thought(item, known, scalarText(place));
    else if (isCall(item, this.custom)) this.called(item, known);
    known.ended = true;
  }

  private called(item: JsonObject, known: Item): void {
    this.call(item, known);
    if (known.call === null || known.sentAs !== null) return;
    const kind = item.type === 'custom_tool_call' ? 'custom' : 'function';
    const text = textIn(kind === 'custom' ? item.input : item.arguments);
    if (text !== null) this.delta({ tool_calls: [{ index: known.call, ...given(kind, text) }] });
  }

  private said(item: JsonObject, known: Item, place: string): void {
    const [text, refusal] = [outputTextIn(item), refusalTextIn(item)];
    if (known.sentAs === null) {
      if (text !== '') this.words('content', place, text, logprobsIn(item.content));
      if (refusal !== '') this.words('refusal', place, refusal);
    }
    if (known.cited) return;
    for (const { annotations } of objectsIn(item.content))
      for (const cited of objectsIn(annotations)) this.cite(cited, known);
  }

  private thought(item: JsonObject, known: Item, place: string): void {
    const thoughts = thoughtsIn(item);
    if (known.sentAs === null && thoughts !== '') this.words('reasoning_content', place, thoughts);
    const sealed = sealedIn(item);
    if (sealed !== null) this.delta({ reasoning_details: [sealed] });
  }

  private annotation(place: JsonValue, cited: JsonValue | undefined): void {
    const item = this.itemAt(place);
    if (item === null || !isObject(cited)) return;
    item.cited = true;
    this.cite(cited, item);
  }

  private cite(cited: JsonObject, { start }: Item): void {
    const citation = citationOf(cited, start);
    if (citation !== null) this.delta({ annotations: [citation] });
  }

  private delta(delta: AnswerMessage): void {
    this.choice({ index: 0, delta, finish_reason: null });
  }

  private choice(choice: ChunkChoice): void {
    if (this.head !== null) this.out({ ...this.head, choices: [choice] });
  }
}
