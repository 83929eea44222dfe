import { errorForCaller, type RelayError } from '../../contracts/errors.js';
import { isObject, type JsonObject, scalarText, textIn } from '../../json/json.js';
import { textDeltas } from '../../protocols/openai/realtime-events.js';
import { readRealtimeUsage } from '../../protocols/openai/realtime-usage.js';
import type { UpstreamError } from '../../upstream/upstream-error.js';
import type { AccountWatch } from '../channels/account-watch.js';
import type { EndedResponse } from './billing.js';

/* Events of an upstream that cost something, or that must not be passed on as they are. */

/** How long a response may still take on a session that is to end. */
export const lastResponseMs = 60_000;
/** How long an upstream has to say what a response has cost whose caller has left. */
export const reckoningMs = 3_000;

export const transcribed = 'conversation.item.input_audio_transcription.completed';

/** Events that are read. Of all others not even the name matters. */
export const eventsRead: ReadonlySet<string> = new Set([
  ...textDeltas,
  ...['session.created', 'session.updated', 'response.created', 'response.done', 'error'],
  ...['input_audio_buffer.committed', 'input_audio_buffer.speech_started', 'input_audio_buffer.cleared'],
  ...[transcribed, 'conversation.item.input_audio_transcription.failed', 'mcp_list_tools.failed'],
]);

export const responseIn = (event: JsonObject): JsonObject => (isObject(event.response) ? event.response : {});

export function responseEnd(event: JsonObject): EndedResponse {
  const response = responseIn(event);
  return {
    id: scalarText(response.id),
    failed: response.status === 'failed',
    usage: readRealtimeUsage(response.usage),
    inConversation: textIn(response.conversation_id) !== null,
  };
}

/** As the session says it: in words of the beta, or in those after it. null: it does not. */
export function soundFormat(event: JsonObject): string | null {
  const session = isObject(event.session) ? event.session : {};
  const audio = isObject(session.audio) ? session.audio : {};
  const input = isObject(audio.input) ? audio.input : {};
  const format = isObject(input.format) ? input.format.type : input.format;
  return textIn(format) ?? textIn(session.input_audio_format);
}

/** The model that writes down what is spoken, in words of the beta or in those after it; null: none does. */
export function transcribedBy(event: JsonObject): { readonly param: string; readonly model: unknown } | null {
  const session = isObject(event.session) ? event.session : {};
  const audio = isObject(session.audio) ? session.audio : {};
  const input = isObject(audio.input) ? audio.input : {};
  if (isObject(input.transcription))
    return { param: 'session.audio.input.transcription.model', model: input.transcription.model };
  const { input_audio_transcription: transcription } = session;
  if (!isObject(transcription)) return null;
  return { param: 'session.input_audio_transcription.model', model: transcription.model };
}

interface Failures {
  readonly failureIn: (event: JsonObject) => UpstreamError;
  readonly faulted: AccountWatch;
}

const membersOf = ({ type, code, message, param }: RelayError): JsonObject => ({ type, code, message, param });

/** A failure that an event reports, without what is the operator's business; null: it reports none. */
function shownError({ failureIn, faulted }: Failures, error: unknown): JsonObject | null {
  if (!isObject(error)) return null;
  const failure = failureIn({ error });
  faulted(failure);
  const id = textIn(error.event_id);
  return { ...membersOf(errorForCaller(failure, failure.status)), ...(id !== null && { event_id: id }) };
}

/** The event with failures as callers may read them; null: it reports none. */
export function withShownFailures(failures: Failures, event: JsonObject): JsonObject | null {
  const shown = shownError(failures, event.error);
  if (shown !== null) return { ...event, error: shown };
  const response = responseIn(event);
  const details = isObject(response.status_details) ? response.status_details : {};
  const inResponse = shownError(failures, details.error);
  if (inResponse === null) return null;
  return { ...event, response: { ...response, status_details: { ...details, error: inResponse } } };
}
