import type { CallerRequest, Protocol } from '../../contracts/protocol.js';
import { openAiAnswer } from './answer.js';
import { openAiRequest } from './request.js';
import { responsesAnswer } from './responses-answer.js';
import { responsesRequest } from './responses-request.js';
import { ResponsesStream } from './responses-stream.js';
import { OpenAiStream } from './stream.js';
import { isTranscript, transcriptAnswer } from './transcript.js';
import type { OpenAiVariant } from './variant.js';

const isResponses = ({ mode }: CallerRequest): boolean => mode === 'responses';

/** The OpenAI wire family: one codec, and a variant per provider. */
export const openAi = (variant: OpenAiVariant = {}): Protocol => ({
  request: (asked) => (isResponses(asked.caller) ? responsesRequest(variant, asked) : openAiRequest(variant, asked)),
  answer: (received) => {
    if (isResponses(received.caller)) return responsesAnswer(variant, received);
    return isTranscript(received.caller) ? transcriptAnswer(variant, received) : openAiAnswer(variant, received);
  },
  stream: (opened) =>
    isResponses(opened.caller) ? new ResponsesStream(variant, opened) : new OpenAiStream(variant, opened),
});
