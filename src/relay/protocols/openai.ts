import { openAiAnswer } from './openai-answer.js';
import { confidentialOf } from './openai-failure.js';
import { openAiRequest } from './openai-request.js';
import { OpenAiStream } from './openai-stream.js';
import { isTranscript, transcriptAnswer } from './openai-transcript.js';
import type { OpenAiVariant } from './openai-variant.js';
import type { Protocol } from './protocol.js';

/** The OpenAI wire family: one codec, and a variant per provider. */
export const openAi = (variant: OpenAiVariant = {}): Protocol => ({
  request: (provider, channel, caller, upstreamModel, options) =>
    openAiRequest(variant, provider, channel, caller, upstreamModel, options),
  answer: (provider, channel, caller, status, headers, body, info) =>
    isTranscript(caller)
      ? transcriptAnswer(variant, confidentialOf(provider, channel), caller, status, headers['content-type'], body)
      : openAiAnswer(variant, confidentialOf(provider, channel), caller, status, body, info),
  stream: (provider, channel, caller, info) =>
    new OpenAiStream(variant, channel, confidentialOf(provider, channel), caller, info),
});
