import { isObject, type JsonObject, numberIn, objectsIn, scalarText, textIn } from '../../json/json.js';

/*
 * A transcript that comes while a recording is heard, in the events of OpenAI's interface:
 * https://developers.openai.com/api/reference/resources/audio/subresources/transcriptions/streaming-events. Others say
 * the same in words of their own: Mistral (https://docs.rs/crate/mistral-openapi-client), and vLLM in chunks like those of
 * a chat, which were not compared with a server of it.
 */

export const textDelta = 'transcript.text.delta';
export const textSegment = 'transcript.text.segment';
export const textDone = 'transcript.text.done';

const chunk = 'transcription.chunk';

const wordsIn = ({ choices }: JsonObject): string =>
  objectsIn(choices)
    .map(({ delta }) => (isObject(delta) ? (textIn(delta.content) ?? '') : ''))
    .join('');

/** The same event: it is in OpenAI's words. */
export function inOpenAiWords(event: JsonObject): JsonObject {
  const { type, text, ...rest } = event;
  if (event.object === chunk) return { type: textDelta, delta: wordsIn(event) };
  switch (type) {
    case 'transcription.text.delta':
      return { type: textDelta, delta: text ?? '' };
    case 'transcription.segment':
      return segmentOf({ ...rest, text: text ?? '' });
    case 'transcription.done':
      return { ...rest, type: textDone, text: text ?? '' };
    default:
      return event;
  }
}

/** Of a segment as whole transcripts and other vendors have it. */
export const segmentOf = ({ id, start, end, text, speaker, speaker_id }: JsonObject): JsonObject => ({
  type: textSegment,
  id: scalarText(id ?? start ?? ''),
  start: numberIn(start) ?? 0,
  end: numberIn(end) ?? 0,
  speaker: scalarText(speaker ?? speaker_id ?? ''),
  text: textIn(text) ?? '',
});
