import { openAiAnswer } from './openai-answer.js';
import type { OpenAiDialect } from './openai-dialect.js';
import { confidentialOf } from './openai-failure.js';
import { openAiRequest } from './openai-request.js';
import { OpenAiStream } from './openai-stream.js';
import type { Protocol } from './protocol.js';

/** The OpenAI wire family: one codec, and a dialect per provider. */
export const openAi = (dialect: OpenAiDialect = {}): Protocol => ({
  request: (provider, channel, caller, upstreamModel, options) =>
    openAiRequest(dialect, provider, channel, caller, upstreamModel, options),
  answer: (provider, channel, caller, status, _contentType, body, info) =>
    openAiAnswer(dialect, confidentialOf(provider, channel), caller, status, body, info),
  stream: (provider, channel, caller, info) =>
    new OpenAiStream(dialect, channel, confidentialOf(provider, channel), caller, info),
});
