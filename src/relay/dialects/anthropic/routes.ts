import { readCredential } from '../openai/credential.js';
import { answerCount, callsOf, type IncomingRequest, type Route, type RoutesOptions } from '../route.js';
import { anthropicCaller } from './dialect.js';
import { anthropicCountTokens } from './endpoints/count-tokens.js';
import { messages } from './endpoints/messages.js';

/* What Anthropic's clients ask for. Their list of models is where everybody's is. */

export function anthropicRoutes({ relay }: RoutesOptions): Route[] {
  const count = async (asking: IncomingRequest): Promise<void> => {
    const { headers } = asking.request;
    const credential = readCredential(asking.path, headers, asking.query);
    const counted = await relay.count({ ...asking, endpoint: anthropicCountTokens, model: null, credential, headers });
    answerCount(asking, counted, (tokens) => ({ input_tokens: tokens }));
  };

  return [
    callsOf(messages, relay),
    { method: 'POST', path: anthropicCountTokens.path, dialect: anthropicCaller, answer: count },
  ];
}
