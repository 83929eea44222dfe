import { readCredential } from '../openai/credential.js';
import { answerCount, callsOf, type IncomingRequest, type Route, type RoutesOptions } from '../route.js';
import { anthropicCaller } from './dialect.js';
import { anthropicCountTokens } from './endpoints/count-tokens.js';
import { messages } from './endpoints/messages.js';

/* What Anthropic's clients ask for. Their list of models is where everybody's is. */

export function anthropicRoutes({ relay }: RoutesOptions): Route[] {
  const count = async (exchange: IncomingRequest): Promise<void> => {
    const { headers } = exchange.request;
    const credential = readCredential(exchange.path, headers, exchange.query);
    const counted = await relay.count({
      ...exchange,
      bodySource: exchange.request,
      endpoint: anthropicCountTokens,
      model: null,
      credential,
      headers,
    });
    answerCount(exchange, counted, (tokens) => ({ input_tokens: tokens }));
  };

  return [
    callsOf(messages, relay),
    { method: 'POST', path: anthropicCountTokens.path, dialect: anthropicCaller, answer: count },
  ];
}
