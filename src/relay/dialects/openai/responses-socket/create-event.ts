import { RelayError } from '../../../contracts/errors.js';
import { type JsonObject, textIn } from '../../../json/json.js';
import { carried, type JsonSource } from '../../../protocols/carried.js';
import { JsonBody } from '../../json-body.js';
import { itemsText, joinedItems, withEarlierItems } from '../input-items.js';

/* What a client sends over the WebSocket: `response.create`, whose other members are those of a request over HTTP. */

export interface CreateEvent {
  /** The request, streamed, with all its items. */
  readonly request: JsonSource;
  /** Nothing is to be generated: the next one will name this response. */
  readonly warmsUp: boolean;
  /**
   * The items of its input, earlier ones included, as JSON with commas between them. null: it goes on from what is known
   * elsewhere, so the connection does not know all of them.
   */
  readonly items: string | null;
}

interface Remembering {
  itemsOf(id: string): string | null;
}

const invalid = (param: string, message: string): RelayError =>
  new RelayError(400, 'invalid_request', message, { type: 'invalid_request_error', param });

/** Throws RelayError. */
function check({ type, generate, background, stream_id: stream }: JsonObject): void {
  if (type !== 'response.create') throw invalid('type', 'type must be response.create: nothing else is taken here');
  if ((generate ?? null) !== null && typeof generate !== 'boolean')
    throw invalid('generate', 'generate must be true or false');
  if (background === true) throw invalid('background', 'background must be false here: it is for requests over HTTP');
  if ((stream ?? null) !== null)
    throw invalid('stream_id', 'stream_id is not served: open a WebSocket for each stream of responses');
}

/** Without the members that only a WebSocket has. */
function requestOf(source: JsonSource): JsonSource {
  const { type: _type, generate: _generate, ...members } = source.value;
  const value: JsonObject = { ...members, stream: true };
  return { text: carried(source, value), value };
}

/** Yields where others may have the process. `maxBytes`: of a request with all its items. Throws RelayError. */
export function* readCreateEvent(
  bytes: Buffer,
  remembering: Remembering,
  maxBytes: number,
): Generator<void, CreateEvent> {
  const body = new JsonBody();
  const wrong = body.take(bytes);
  if (wrong !== null) throw wrong;
  const source = yield* body.read();
  check(source.value);
  yield;
  const request = requestOf(source);
  const items = itemsText(request);
  const warmsUp = source.value.generate === false;
  const previous = textIn(source.value.previous_response_id);
  const earlier = previous === null ? null : remembering.itemsOf(previous);
  yield;
  const goesOn = previous !== null || (source.value.conversation ?? null) !== null;
  if (earlier === null) return { request, warmsUp, items: goesOn ? null : items };
  if (bytes.length + earlier.length > maxBytes)
    throw new RelayError(413, 'read_request_body_failed', `the conversation is larger than ${maxBytes} bytes`);
  return { request: withEarlierItems(request, earlier), warmsUp, items: joinedItems(earlier, items) };
}
