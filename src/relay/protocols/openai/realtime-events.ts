/*
 * Events of a realtime session, as far as they are looked at without being read. Nearly all of them are sound in base64:
 * to parse it would cost more than everything else that is done with it.
 */

/** Bytes at the beginning that are looked at. */
const head = 512;
const quote = 0x22;

const someId = String.raw`"event_id"\s*:\s*"[^"\\]*"\s*,\s*`;
const sound = new RegExp(
  String.raw`^\s*\{\s*(?:${someId})?"type"\s*:\s*"input_audio_buffer\.append"\s*,\s*(?:${someId})?"audio"\s*:\s*"`,
);
const end = /^"\s*(?:,\s*"event_id"\s*:\s*"[^"\\]*"\s*)?\}\s*$/;

/**
 * Characters of the sound that a client's event appends, where the event holds that and its id alone; null: it is
 * another, or is written otherwise. No member behind the sound can make another event of it.
 */
export function appendedSound(event: Buffer): number | null {
  const found = sound.exec(event.toString('latin1', 0, head));
  if (found === null) return null;
  const from = found[0].length;
  const to = event.indexOf(quote, from);
  if (to < 0 || event.length - to > head) return null;
  return end.test(event.toString('latin1', to)) ? to - from : null;
}

const named = new RegExp(String.raw`^\s*\{\s*(?:${someId})?"type"\s*:\s*"([\w.]{1,96})"`);

/** What an upstream's event is called, where it says so at its beginning; null: it must be read. */
export const eventName = (event: Buffer): string | null => named.exec(event.toString('latin1', 0, head))?.[1] ?? null;

/** Sound that is put out, by the name of the beta as well. */
export const soundDeltas: ReadonlySet<string> = new Set(['response.output_audio.delta', 'response.audio.delta']);

/** What is put out as text: words, the transcript of what is spoken, arguments of calls. */
export const textDeltas: ReadonlySet<string> = new Set([
  'response.output_text.delta',
  'response.text.delta',
  'response.output_audio_transcript.delta',
  'response.audio_transcript.delta',
  'response.function_call_arguments.delta',
  'response.mcp_call_arguments.delta',
]);

const response = /"response_id"\s*:\s*"([^"\\]{1,128})"/;

/** The response that an upstream's event is a piece of, where it says so at its beginning; '': it does not. */
export const responseNamed = (event: Buffer): string => response.exec(event.toString('latin1', 0, head))?.[1] ?? '';
