import { answerIdOf } from '../../../domain/call/call-texts.js';
import { isKeptId, type KeptKind, type KeptObject, maxKeptOfCall } from '../../../domain/call/kept-object.js';
import { noUsage, plus, type Usage } from '../../../domain/call/usage.js';
import type { Generated } from '../../contracts/protocol.js';
import { jsonText } from '../../json/exact-number.js';
import { countIn, isObject, type JsonObject, type JsonValue, objectsIn, textIn } from '../../json/json.js';
import { SeenText } from '../../text/seen-text.js';
import { placeOf } from './response-parts.js';

/* What a response says, item by item, and which tools its provider has run for it. */

/** Beyond these nothing is remembered, or a stream without end would take memory without end. */
const maxItems = 4096;

/** Items in which the model calls a tool of its caller's. */
const callsOfClients: ReadonlySet<string> = new Set(['function_call', 'custom_tool_call']);

/** Members of an item in which a model's own words stand. */
const wordy = ['name', 'arguments', 'input', 'code', 'refusal', 'text', 'transcript'] as const;

/** Members that hold what the model wants done, as an object. */
const orders = ['action', 'operation'] as const;

const isSearch = ({ action }: JsonObject): boolean =>
  !isObject(action) || (textIn(action.type) ?? 'search') === 'search';

/** How many searches upstream bills; null: it does not say. */
const billedSearches = ({ tool_usage: reported }: JsonObject): number | null =>
  isObject(reported) && isObject(reported.web_search) ? countIn(reported.web_search.num_requests) : null;

/** Adds up what was produced. */
export class ResponseWords implements Generated {
  readonly said = new SeenText();
  toolsBytes = 0;
  toolCalls = 0;
  finishReason: string | null = null;
  serviceTier: string | undefined = undefined;
  upstreamCost: string | undefined = undefined;
  answerId: string | undefined = undefined;
  readonly kept: KeptObject[] = [];
  runsOn = false;
  private searched = 0;
  private billed: number | null = null;
  private ranCode = false;
  /** Places of items whose words have come in pieces. */
  private readonly inPieces = new Set<JsonValue>();
  /** Places of items that have ended. */
  private readonly ended = new Set<JsonValue>();

  /** `stores`: the request does not say that nothing is to be kept. */
  constructor(private stores = false) {}

  /** Every search costs, and what runs code does so once an answer. */
  get searches(): Usage {
    const searched = plus(noUsage, 'calls:web_search', this.billed ?? this.searched);
    return this.ranCode ? plus(searched, 'calls:code_interpreter', 1) : searched;
  }

  /** A piece of an item's words. `summary`: of thinking, which costs what was thought and not what is shown of it. */
  piece(text: string, event: JsonObject, summary: boolean): void {
    if (this.inPieces.size < maxItems) this.inPieces.add(this.placeOf(event));
    this.add(text, summary);
  }

  /** An item that has ended, once by its place. `event`: that ends it, with the item. */
  item(event: JsonObject): void {
    const { item } = event;
    if (!isObject(item)) return;
    const at = this.placeOf(event);
    if (this.ended.has(at) || this.ended.size >= maxItems) return;
    this.ended.add(at);
    const type = textIn(item.type) ?? '';
    if (callsOfClients.has(type)) this.toolCalls++;
    if (type === 'web_search_call' && isSearch(item)) this.searched++;
    if (type === 'code_interpreter_call') this.ranCode = true;
    this.keep('item', item.id, this.stores);
    this.keep('container', item.container_id, true);
    if (isObject(item.environment)) this.keep('container', item.environment.container_id, true);
    if (this.inPieces.has(at)) {
      // Pieces are of what it is called with.
      if (typeof item.name === 'string') this.add(item.name, false);
      return;
    }
    this.words(item);
    for (const name of orders) if (isObject(item[name])) this.add(jsonText(item[name]), false);
    for (const part of objectsIn(item.content)) this.words(part);
    for (const { text } of objectsIn(item.summary)) if (typeof text === 'string') this.add(text, true);
  }

  /** A response that has ended, with its items where none has come by itself. */
  response(response: JsonObject): void {
    this.named(response);
    if (this.ended.size === 0)
      for (const [index, item] of objectsIn(response.output).entries()) this.item({ item, output_index: index });
    this.billed = billedSearches(response);
  }

  /** Told once, by the first event that names the response, or by all of it. */
  named({ id, store }: JsonObject): void {
    if (store === false) this.stores = false;
    this.answerId ??= answerIdOf(id);
    if (!this.kept.some(({ kind }) => kind === 'response')) this.keep('response', id, this.stores);
  }

  private keep(kind: KeptKind, id: JsonValue | undefined, keeps: boolean): void {
    if (!keeps || typeof id !== 'string' || !isKeptId(id) || this.kept.length >= maxKeptOfCall) return;
    if (!this.kept.some((one) => one.id === id)) this.kept.push({ kind, id });
  }

  /** By its number or its id; who states neither sends items one after the other. */
  private placeOf(event: JsonObject): JsonValue {
    return placeOf(event) ?? this.ended.size;
  }

  private words(holder: JsonObject): void {
    for (const name of wordy) {
      const value = holder[name];
      if (typeof value === 'string') this.add(value, false);
    }
  }

  private add(text: string, summary: boolean): void {
    this.said.add(text);
    if (summary) this.toolsBytes += Buffer.byteLength(text);
  }
}

/** By how a response says it has ended; null: it has not, or not so that there is an answer. */
export function responseFinish({ status, incomplete_details: details }: JsonObject): string | null {
  switch (status) {
    case 'completed':
    case 'cancelled':
      return 'stop';
    case 'incomplete': {
      const reason = isObject(details) ? textIn(details.reason) : null;
      return reason === 'content_filter' ? reason : 'length';
    }
    default:
      return null;
  }
}
