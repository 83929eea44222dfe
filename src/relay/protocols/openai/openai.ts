import type { Protocol } from '../../contracts/protocol.js';
import { confidentialOf } from '../confidential-of.js';
import { openAiAnswer } from './answer.js';
import { openAiRequest } from './request.js';
import { OpenAiStream } from './stream.js';
import { isTranscript, transcriptAnswer } from './transcript.js';
import type { OpenAiVariant } from './variant.js';

/** The OpenAI wire family: one codec, and a variant per provider. */
export const openAi = (variant: OpenAiVariant = {}): Protocol => ({
  request: (provider, channel, caller, upstreamModel, options) =>
    openAiRequest(variant, provider, channel, caller, upstreamModel, options),
  answer: ({ provider, channel, caller, status, headers, body, info }) =>
    isTranscript(caller)
      ? transcriptAnswer(variant, confidentialOf(provider, channel), caller, status, headers['content-type'], body)
      : openAiAnswer(variant, confidentialOf(provider, channel), caller, status, body, info),
  stream: (provider, channel, caller, info) =>
    new OpenAiStream(variant, channel, confidentialOf(provider, channel), caller, info),
});
