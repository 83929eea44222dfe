import type { Protocol } from '../../contracts/protocol.js';
import { confidentialOf } from '../confidential-of.js';
import { anthropicAnswer } from './answer.js';
import { messagesHeaders } from './headers.js';
import { anthropicRequest } from './request.js';
import { AnthropicStream } from './stream.js';
import { webSearch } from './tools.js';
import type { AnthropicVariant } from './variant.js';

const itsMaker: AnthropicVariant = {
  url({ base, caller, counts }) {
    const beta = caller.dialect.wire === 'anthropic' && !counts && caller.query.get('beta') === 'true';
    return `${base}/v1/messages${counts ? '/count_tokens' : ''}${beta ? '?beta=true' : ''}`;
  },
  headers: ({ asModel, channel, caller, betas, options }) => ({
    'x-api-key': channel.key.trim(),
    ...messagesHeaders(caller, asModel, betas, options),
  }),
};

/** The wire of Anthropic's models, as one house speaks it. */
export const anthropicIn = (variant: AnthropicVariant): Protocol => ({
  request: anthropicRequest(variant),
  ...(variant.withoutSearch !== true && { hostedSearch: () => webSearch }),
  answer: (received) => anthropicAnswer(confidentialOf(received.provider, received.channel), received),
  stream: (opened) => new AnthropicStream(confidentialOf(opened.provider, opened.channel), opened),
});

/** The Messages API of Anthropic. */
export const anthropic = anthropicIn(itsMaker);
