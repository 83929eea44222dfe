import type { BodySlot } from '../../../../http/body-room.js';
import { isObject, type JsonObject, objectsIn, parseJson, scalarText, textIn } from '../../../json/json.js';
import type { Frame } from '../../../upstream/sse.js';
import { dataOf, isNamed } from '../../named-events.js';
import { isPortableItem } from '../input-items.js';
import { memberText } from '../member-text.js';

/*
 * What a connection remembers: the items of its last response, input and output, so that the next one can name it by
 * `previous_response_id` and bring new items alone. What a provider has stored is named to the provider instead.
 */

interface Remembered {
  readonly id: string;
  /** Items as JSON with commas between them. */
  readonly items: Buffer;
}

const comma = Buffer.from(',');
const itemDone = 'response.output_item.done';
const ended: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete']);

const joined = (parts: readonly Buffer[]): Buffer =>
  Buffer.concat(parts.filter(({ length }) => length > 0).flatMap((part, at) => (at === 0 ? [part] : [comma, part])));

export class Conversation {
  private last: Remembered | null = null;
  /** Input of the response under way; null: there is none, or no room to remember it. */
  private input: Buffer | null = null;
  private output: { readonly index: number; readonly bytes: Buffer }[] = [];

  /** `slot`: what is remembered counts in it. */
  constructor(private readonly slot: BodySlot) {
    slot.finish();
  }

  /** The items of that response, as JSON with commas between them; null: it is not remembered. */
  itemsOf(id: string): string | null {
    return this.last?.id === id ? this.last.items.toString('utf8') : null;
  }

  /** A response is made of these items. */
  begin(items: string): void {
    const bytes = Buffer.from(items);
    this.output = [];
    this.input = this.slot.take(bytes.length) === null ? bytes : null;
  }

  /** An event of it. */
  event(frame: Frame): void {
    if (this.input === null || !concernsItems(frame)) return;
    const text = dataOf(frame);
    const event = parseJson(text);
    if (!isObject(event)) return;
    const { type, item, response } = event;
    if (type === itemDone && isObject(item) && isPortableItem(item))
      this.put(Number(scalarText(event.output_index)), Buffer.from(memberText({ text, value: event }, 'item')));
    else if (ended.has(scalarText(type)) && isObject(response)) this.complete(response);
  }

  /** A response that generates nothing, and is remembered all the same. */
  warmedUp(id: string): void {
    this.remember(id, this.input);
  }

  /** Nothing more comes of the response under way. One that failed leaves what was remembered before it. */
  end(): void {
    if (this.input === null) return;
    this.abandon();
  }

  forget(): void {
    this.last = null;
    this.end();
    this.slot.leave();
  }

  /** An item of its output. Where there is no room for it, the response is not remembered. */
  private put(index: number, bytes: Buffer): void {
    if (this.slot.take(bytes.length) === null) this.output.push({ index, bytes });
    else this.abandon();
  }

  private abandon(): void {
    this.input = null;
    this.output = [];
    this.recount();
  }

  private complete(response: JsonObject): void {
    const id = textIn(response.id);
    if (id === null || this.input === null) return;
    if (response.store === true) {
      this.remember(id, null);
      return;
    }
    const done = this.output.sort((one, other) => one.index - other.index).map(({ bytes }) => bytes);
    // Some upstreams tell what is done at the end alone.
    const items =
      done.length > 0
        ? done
        : objectsIn(response.output)
            .filter(isPortableItem)
            .map((one) => Buffer.from(JSON.stringify(one)));
    this.remember(id, joined([this.input, ...items]));
  }

  /** `items` null: the response is known by its id to whoever has stored it, or there is no room for it. */
  private remember(id: string, items: Buffer | null): void {
    this.last = items === null ? null : { id, items };
    this.abandon();
  }

  private recount(): void {
    this.slot.leave();
    if (this.last !== null && this.slot.take(this.last.items.length) !== null) this.last = null;
  }
}

const namePrefix = 'event: '.length;
const dataPrefix = '\ndata: '.length;

/** Hardly an event does; few are read. One that the network has cut may. */
function concernsItems({ bytes, start, from }: Frame): boolean {
  if (!isNamed(bytes, from)) return true;
  const name = bytes.toString('latin1', from + namePrefix, start - dataPrefix);
  return name === itemDone || ended.has(name);
}
