import { answerCount, callsOf, type IncomingRequest, incomingCall, type Route, type RoutesOptions } from '../route.js';
import { anthropicCaller } from './dialect.js';
import { anthropicCountTokens } from './endpoints/count-tokens.js';
import { messages } from './endpoints/messages.js';

/* What Anthropic's clients ask for. Their list of models is where everybody's is. */

export function anthropicRoutes({ relay }: RoutesOptions): Route[] {
  const count = async (exchange: IncomingRequest): Promise<void> => {
    const counted = await relay.count(incomingCall(exchange, anthropicCountTokens, exchange.path, null));
    answerCount(exchange, counted, (tokens) => ({ input_tokens: tokens }));
  };

  return [
    callsOf(messages, relay),
    { method: 'POST', path: anthropicCountTokens.path, dialect: anthropicCaller, answer: count },
  ];
}
