import type { Endpoint } from '../../contracts/endpoint.js';
import { RelayError } from '../../contracts/errors.js';
import { modelRoutes } from '../model-lists.js';
import {
  answerCount,
  type IncomingRequest,
  incomingCall,
  type Route,
  type RoutesOptions,
  type UnservedPlace,
  unservedRoute,
} from '../route.js';
import { geminiCaller } from './dialect.js';
import { geminiCountTokens } from './endpoints/count-tokens.js';
import { batchEmbedContents, embedContent } from './endpoints/embed-content.js';
import { generateContent, streamOfEvents, streamOfMembers } from './endpoints/generate-content.js';
import { predict } from './endpoints/predict.js';
import { geminiModels } from './models.js';

/* What Gemini's clients ask for: models, and something of a model. */

/** By what is asked of a model. */
const endpointFor = (action: string, query: URLSearchParams): Endpoint | null => {
  switch (action) {
    case 'generateContent':
      return generateContent;
    case 'streamGenerateContent':
      return query.get('alt') === 'sse' ? streamOfEvents : streamOfMembers;
    case 'embedContent':
      return embedContent;
    case 'batchEmbedContents':
      return batchEmbedContents;
    case 'predict':
      return predict;
    case 'countTokens':
      return geminiCountTokens;
    default:
      return null;
  }
};

/** Names may have colons in them: what is asked comes after the last. */
function askedOf({ params }: IncomingRequest): { readonly model: string; readonly action: string } {
  const rest = params['*'] ?? '';
  const colon = rest.lastIndexOf(':');
  return colon < 0 ? { model: rest, action: '' } : { model: rest.slice(0, colon), action: rest.slice(colon + 1) };
}

const noSuchMethod = ({ request, path }: IncomingRequest): RelayError =>
  new RelayError(404, '', `Invalid URL (${request.method} ${path})`, { type: 'invalid_request_error' });

/** Google keeps them, and agents of its own do work in them that nobody here could count. */
const noInteractions =
  'the Interactions API is not served: ask with POST /v1beta/models/{model}:generateContent, or with POST /v1/responses where answers are to be kept';

const unserved: readonly UnservedPlace[] = [
  ['POST', '/v1beta/interactions', noInteractions],
  ['GET', '/v1beta/interactions/:id', noInteractions],
  ['POST', '/v1beta/interactions/:id/cancel', noInteractions],
  ['DELETE', '/v1beta/interactions/:id', noInteractions],
];

export function geminiRoutes(options: RoutesOptions): Route[] {
  const { relay } = options;

  const call = async (exchange: IncomingRequest): Promise<void> => {
    const { model, action } = askedOf(exchange);
    const endpoint = endpointFor(action, exchange.query);
    if (endpoint === null) throw noSuchMethod(exchange);
    const incoming = incomingCall(exchange, endpoint, exchange.path, model);
    if (endpoint !== geminiCountTokens) return relay.handle(incoming);
    answerCount(exchange, await relay.count(incoming), (totalTokens) => ({ totalTokens }));
  };

  const dialect = geminiCaller;
  return [
    ...modelRoutes('/v1beta/models', dialect, () => geminiModels, options),
    { method: 'POST', path: '/v1beta/models/*', dialect, answer: call },
    { method: 'POST', path: '/v1/models/*', dialect, answer: call },
    ...unserved.map((place) => unservedRoute(relay, dialect, place)),
  ];
}
