import { completionTokens, promptTokens, type Usage } from '../../../domain/call/usage.js';
import type { CallerDialect } from '../../contracts/caller-dialect.js';
import { isObject, type JsonObject } from '../../json/json.js';
import { audioDone } from '../../protocols/openai/speech-stream.js';
import { transcriptUsage } from '../../protocols/openai/transcript.js';
import { textDone } from '../../protocols/openai/transcript-events.js';
import { openAiCaller } from './dialect.js';
import { EventsWriter } from './events-writer.js';

/* How callers of OpenAI's interfaces for sound are answered: as OpenAI's are, and streams in events with names. */

const tokensOf = (usage: Usage): JsonObject => ({
  input_tokens: promptTokens(usage),
  output_tokens: completionTokens(usage),
  total_tokens: promptTokens(usage) + completionTokens(usage),
});

/** In the words of upstream: how long the recording is, or which tokens it has. */
function transcriptCharged(event: JsonObject, usage: Usage): JsonObject {
  const { seconds, audioInput = 0 } = usage;
  if (!isObject(event.usage)) return event;
  const said = transcriptUsage(event);
  if (said?.seconds !== undefined || said === null)
    return seconds === undefined || said?.seconds === seconds
      ? event
      : { ...event, usage: { type: 'duration', seconds } };
  if (promptTokens(said) === promptTokens(usage) && completionTokens(said) === completionTokens(usage)) return event;
  const details = { audio_tokens: audioInput, text_tokens: promptTokens(usage) - audioInput };
  return { ...event, usage: { type: 'tokens', ...tokensOf(usage), input_token_details: details } };
}

/** A text is charged by what is read of it, and its sound not at all: what upstream counts of that stays as it is. */
const speechCharged = (event: JsonObject, usage: Usage): JsonObject =>
  isObject(event.usage) ? event : { ...event, usage: tokensOf(usage) };

export const transcriptsCaller: CallerDialect = {
  ...openAiCaller,
  writer: () => new EventsWriter({ isLast: (type) => type === textDone, charged: transcriptCharged }),
  endFrame: '',
};

export const speechCaller: CallerDialect = {
  ...openAiCaller,
  writer: () => new EventsWriter({ isLast: (type) => type === audioDone, charged: speechCharged }),
  endFrame: '',
};
