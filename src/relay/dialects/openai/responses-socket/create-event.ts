import { RelayError } from '../../../contracts/errors.js';
import { isList, type JsonObject, type JsonValue, parseJson, textIn } from '../../../json/json.js';
import { carried, type JsonSource } from '../../../protocols/carried.js';
import { invalidBody } from '../../body-sink.js';
import { JsonBody } from '../../json-body.js';
import { memberText } from './member-text.js';

/* What a client sends over the WebSocket: `response.create`, whose other members are those of a request over HTTP. */

export interface CreateEvent {
  /** The request, streamed, with all its items. */
  readonly request: JsonSource;
  /** Nothing is to be generated: the next one will name this response. */
  readonly warmsUp: boolean;
  /** The items of its input, earlier ones included, as JSON with commas between them. */
  readonly items: string;
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

/** A text is one message of the user. */
function itemsText(source: JsonSource): string {
  const { input } = source.value;
  if (input === undefined || input === null) return '';
  const text = memberText(source, 'input');
  if (typeof input === 'string') return `{"type":"message","role":"user","content":${text}}`;
  return isList(input) ? text.slice(1, -1).trim() : '';
}

const itemsIn = (input: JsonValue | undefined): readonly JsonValue[] => {
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }];
  return isList(input) ? input : [];
};

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
  if (earlier === null) return { request, warmsUp, items };
  const whole = [earlier, items].filter((text) => text !== '').join(',');
  if (bytes.length + earlier.length > maxBytes)
    throw new RelayError(413, 'read_request_body_failed', `the conversation is larger than ${maxBytes} bytes`);
  return { request: withItems(request, earlier, whole), warmsUp, items: whole };
}

function withItems(request: JsonSource, earlier: string, whole: string): JsonSource {
  const { input, previous_response_id: _named, ...rest } = request.value;
  const text = carried(request, rest);
  const before = parseJson(`[${earlier}]`);
  if (!isList(before)) throw invalidBody('what was said before cannot be read', 'previous_response_id');
  const end = text.lastIndexOf('}');
  return {
    text: `${text.slice(0, end)},"input":[${whole}]}`,
    value: { ...rest, input: [...before, ...itemsIn(input)] },
  };
}
