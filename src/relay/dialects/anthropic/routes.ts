import {
  answerCount,
  callsOf,
  type IncomingRequest,
  incomingCall,
  type Route,
  type RoutesOptions,
  unservedRoute,
} from '../route.js';
import { anthropicCaller } from './dialect.js';
import { anthropicCountTokens } from './endpoints/count-tokens.js';
import { messages } from './endpoints/messages.js';

/* What Anthropic's clients ask for. Their list of models is where everybody's is. */

/** Its models are gone, and all others take messages alone. */
const noCompletions =
  'text completions are not served in this form: ask with POST /v1/messages, which takes the prompt as messages';

export function anthropicRoutes({ relay }: RoutesOptions): Route[] {
  const count = async (exchange: IncomingRequest): Promise<void> => {
    const counted = await relay.count(incomingCall(exchange, anthropicCountTokens, exchange.path, null));
    answerCount(exchange, counted, (tokens) => ({ input_tokens: tokens }));
  };

  return [
    callsOf(messages, relay),
    { method: 'POST', path: anthropicCountTokens.path, dialect: anthropicCaller, answer: count },
    unservedRoute(relay, anthropicCaller, ['POST', '/v1/complete', noCompletions]),
  ];
}
