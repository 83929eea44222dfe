import { anthropicAnswer } from './anthropic-answer.js';
import { anthropicRequest } from './anthropic-request.js';
import { AnthropicStream } from './anthropic-stream.js';
import { confidentialOf } from './openai-failure.js';
import type { Protocol } from './protocol.js';

/** The Messages API of Anthropic. */
export const anthropic: Protocol = {
  request: anthropicRequest,
  answer: (provider, channel, caller, status, _contentType, body, info) =>
    anthropicAnswer(confidentialOf(provider, channel), caller, status, body, info),
  stream: (provider, channel, caller, info) =>
    new AnthropicStream(channel, confidentialOf(provider, channel), caller, info),
};
