import { isObject, type JsonObject, objectsIn } from '../../../src/relay/json/json.js';

/* Whether the events of a response fit together as the official SDKs put them together. */

interface Seen {
  readonly items: Map<unknown, { readonly id: unknown; text: string; ended: JsonObject | null }>;
  readonly output: JsonObject[];
}

const object = (value: unknown): JsonObject => (isObject(value) ? value : {});

const lastEvents: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete']);

const textsIn = (item: JsonObject): string =>
  [
    ...objectsIn(item.content).map(({ text, refusal }) => text ?? refusal),
    ...objectsIn(item.summary).map(({ text }) => text),
    item.arguments,
    item.input,
  ]
    .filter((one) => typeof one === 'string')
    .join('');

function itemFault(event: JsonObject, { items, output }: Seen): string | null {
  const { type, output_index: at, item, item_id: id, delta } = event;
  if (type === 'response.output_item.added') {
    if (items.has(at) || at !== items.size) return `item ${at} begins out of turn`;
    items.set(at, { id: object(item).id, text: '', ended: null });
    return null;
  }
  const open = items.get(at);
  if (open === undefined || open.ended !== null) return `${type} of an item that is not open`;
  if (type === 'response.output_item.done') {
    open.ended = object(item);
    output[Number(at)] = open.ended;
    if (open.ended.id !== open.id) return 'an item ends under another id';
    const isWhole = open.text === textsIn(open.ended) || (open.text === '' && open.ended.arguments === '{}');
    return isWhole ? null : `item ${at} is not the sum of its deltas`;
  }
  if (id !== open.id) return `${type} names the item ${String(id)}`;
  if (typeof delta === 'string') open.text += delta;
  return null;
}

/** The first thing that is wrong with the events of a stream; null: nothing. Of one that has come to its end. */
export function responseEventsFault(events: readonly JsonObject[]): string | null {
  const seen: Seen = { items: new Map(), output: [] };
  for (const [number, event] of events.entries()) {
    const { type, sequence_number: sequence, response } = event;
    if (sequence !== number) return `event ${number} is numbered ${String(sequence)}`;
    const head = ['response.created', 'response.in_progress'][number];
    if (head !== undefined) {
      if (type !== head) return `event ${number} is ${String(type)}`;
    } else if (lastEvents.has(type)) {
      if (number !== events.length - 1) return 'something follows the end';
      if (JSON.stringify(object(response).output) !== JSON.stringify(seen.output)) return 'the output is another';
      if (!isObject(object(response).usage)) return 'the end tells no usage';
      return [...seen.items.values()].every(({ ended }) => ended !== null) ? null : 'an item has not ended';
    } else {
      const fault = itemFault(event, seen);
      if (fault !== null) return fault;
    }
  }
  return 'there is no end';
}
