import { isModelName } from '../../../domain/call/call-texts.js';
import { searchWords } from '../../admission/sensitive-words.js';
import { RelayError } from '../../contracts/errors.js';
import { isObject, type JsonObject, type JsonValue, textIn } from '../../json/json.js';
import { foundWords } from '../call-checks.js';

/* What a client's event may ask for. Each check throws RelayError, and the event is not passed on. */

export const invalidEvent = (param: string, message: string): RelayError =>
  new RelayError(400, 'invalid_request', message, { type: 'invalid_request_error', param });

export type ClientEvent = JsonObject & { readonly type: string };

/** Throws RelayError. */
export function readClientEvent(event: JsonValue | null): ClientEvent {
  if (!isObject(event)) throw invalidEvent('', 'each message must be a JSON object');
  const { type } = event;
  if (typeof type !== 'string' || type === '')
    throw invalidEvent('type', 'type must be the name of an event, as a text');
  return { ...event, type };
}

/** The session is of one model, and of speech. `models`: as asked for, and as it is called upstream. */
export function checkSession(event: JsonObject, [model, upstreamModel]: readonly [string, string]): void {
  const { session } = event;
  if ((session ?? null) === null) return;
  if (!isObject(session)) throw invalidEvent('session', 'session must be an object');
  const { type, model: named } = session;
  if ((type ?? null) !== null && type !== 'realtime')
    throw invalidEvent('session.type', 'session.type must be realtime: sessions of transcription are not served');
  if ((named ?? null) !== null && named !== model && named !== upstreamModel)
    throw invalidEvent('session.model', 'session.model cannot be changed: open another session for another model');
}

/** Throws RelayError: what writes down what is spoken must be named, as it has a price of its own. */
export function checkTranscription({ param, model }: { readonly param: string; readonly model: unknown }): string {
  if (typeof model !== 'string' || !isModelName(model) || model === '')
    throw invalidEvent(param, `${param} must name the model that transcribes, as a text`);
  return model;
}

/** Sound and pictures, where they are texts. */
const noWords: ReadonlySet<string> = new Set(['audio', 'image_url']);

/** Whatever of an event a model may read. */
function textsIn(event: JsonObject): string[] {
  const texts: string[] = [];
  const waiting: unknown[] = [event];
  for (let holder = waiting.pop(); holder !== undefined; holder = waiting.pop())
    for (const [name, value] of Object.entries(holder as object))
      if (typeof value === 'string') {
        if (!noWords.has(name)) texts.push(value);
      } else if (typeof value === 'object' && value !== null) waiting.push(value);
  return texts;
}

/** Throws RelayError. */
export function* checkEventWords(event: JsonObject, words: readonly string[]): Generator<void, void> {
  if (words.length === 0) return;
  if (yield* searchWords(textsIn(event), words)) throw foundWords();
}

/** Without the name that the model has here. */
export function withUpstreamModel(event: JsonObject, upstreamModel: string): JsonObject {
  const { session } = event;
  if (!isObject(session) || textIn(session.model) === null || session.model === upstreamModel) return event;
  return { ...event, session: { ...session, model: upstreamModel } };
}

const partsOf = (event: JsonObject): readonly JsonObject[] => [event.session, event.response].filter(isObject);

/** It asks for a response that takes in what it names, instead of the conversation. */
export const asksApart = (event: JsonObject): boolean => partsOf(event).some(({ input }) => (input ?? null) !== null);

/** It has the upstream bring in what does not pass here: answers of its tools, a prompt that is stored there. */
export const bringsUnseen = (event: JsonObject): boolean =>
  partsOf(event).some(
    ({ tools, prompt }) =>
      (prompt ?? null) !== null ||
      (Array.isArray(tools) && tools.some((tool) => isObject(tool) && tool.type !== 'function')),
  );
