import type { Protocol } from '../../contracts/protocol.js';
import { openAiAnswer } from './answer.js';
import { openAiRequest } from './request.js';
import { OpenAiStream } from './stream.js';
import { isTranscript, transcriptAnswer } from './transcript.js';
import type { OpenAiVariant } from './variant.js';

/** The OpenAI wire family: one codec, and a variant per provider. */
export const openAi = (variant: OpenAiVariant = {}): Protocol => ({
  request: (asked) => openAiRequest(variant, asked),
  answer: (received) =>
    isTranscript(received.caller) ? transcriptAnswer(variant, received) : openAiAnswer(variant, received),
  stream: (opened) => new OpenAiStream(variant, opened),
});
