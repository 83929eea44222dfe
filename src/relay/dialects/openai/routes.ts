import type { Endpoint } from '../../contracts/endpoint.js';
import { RelayError } from '../../contracts/errors.js';
import { dialectInHeaders } from '../dialect-of-request.js';
import { modelRoutes } from '../model-lists.js';
import {
  callsOf,
  type IncomingRequest,
  incomingCall,
  type Route,
  type RoutesOptions,
  type UnservedPlace,
  unservedRoute,
} from '../route.js';
import { openAiCaller } from './dialect.js';
import { chat } from './endpoints/chat.js';
import { completions } from './endpoints/completions.js';
import { embeddings } from './endpoints/embeddings.js';
import { imageEdits, imageGenerations } from './endpoints/images.js';
import { chatModerations, moderations } from './endpoints/moderations.js';
import { realtime } from './endpoints/realtime.js';
import { rerank } from './endpoints/rerank.js';
import { responses } from './endpoints/responses.js';
import { responsesCompact } from './endpoints/responses-compact.js';
import { speech } from './endpoints/speech.js';
import { transcriptions, translations } from './endpoints/transcriptions.js';
import { keptResponsesRoutes } from './kept-routes.js';
import { openAiModelsAnswer } from './models.js';
import { notUpgraded } from './responses-socket/refusals.js';
import { videoRoutes } from './video-routes.js';

/* The /v1 endpoints, and what else OpenAI's clients ask for. */

const endpoints: readonly Endpoint[] = [
  chat,
  completions,
  responses,
  responsesCompact,
  embeddings,
  rerank,
  moderations,
  chatModerations,
  speech,
  transcriptions,
  translations,
  imageGenerations,
  imageEdits,
];

/** Where the oldest clients ask for vectors, the model in the path. */
const enginePath = '/v1/engines/:model/embeddings';

/** A secret that a browser gets must be of the gateway, and what is spoken over WebRTC or SIP passes it by. */
const noSecrets =
  'client secrets are not given out here: sound over WebRTC or SIP would pass the gateway by, and nobody could charge for it; open a WebSocket at GET /v1/realtime with your API key';
const noRealtimeCalls =
  'calls over WebRTC or SIP are not served here: nobody could charge for them; open a WebSocket at GET /v1/realtime';
const noCharacters = 'characters of videos are not served: describe them in the prompt of POST /v1/videos';
const noVariations = 'API not implemented: pictures have no variations; change one with POST /v1/images/edits';
/** What they cost depends on a film whose length nobody here knows. */
const noEdits =
  'videos are not edited or extended here: order one with POST /v1/videos, or change one with POST /v1/videos/{id}/remix';

/** Known to every client of the dialect, served by no gateway, or not served yet. */
const notImplemented: readonly UnservedPlace[] = [
  ['POST', '/v1/edits'],
  ['POST', '/v1/images/variations', noVariations],
  ['GET', '/v1/files'],
  ['POST', '/v1/files'],
  ['GET', '/v1/files/:id'],
  ['DELETE', '/v1/files/:id'],
  ['GET', '/v1/files/:id/content'],
  ['GET', '/v1/fine-tunes'],
  ['POST', '/v1/fine-tunes'],
  ['GET', '/v1/fine-tunes/:id'],
  ['POST', '/v1/fine-tunes/:id/cancel'],
  ['GET', '/v1/fine-tunes/:id/events'],
  ['POST', '/v1/videos/characters', noCharacters],
  ['GET', '/v1/videos/characters/:id', noCharacters],
  ['POST', '/v1/videos/edits', noEdits],
  ['POST', '/v1/videos/extensions', noEdits],
  ['DELETE', '/v1/models/*'],
  ['POST', '/v1/realtime/client_secrets', noSecrets],
  ['POST', '/v1/realtime/sessions', noSecrets],
  ['POST', '/v1/realtime/transcription_sessions', noSecrets],
  ['POST', '/v1/realtime/translations/client_secrets', noSecrets],
  ['POST', '/v1/realtime/calls', noRealtimeCalls],
  ['POST', '/v1/realtime/calls/:id/accept', noRealtimeCalls],
  ['POST', '/v1/realtime/calls/:id/reject', noRealtimeCalls],
  ['POST', '/v1/realtime/calls/:id/refer', noRealtimeCalls],
  ['POST', '/v1/realtime/calls/:id/hangup', noRealtimeCalls],
];

/** The same under another prefix, where lists are the dialect's own whoever asks. */
export const openAiRoutesUnder = (prefix: string, options: RoutesOptions): Route[] => [
  ...routesUnder(prefix, options),
  ...modelRoutes(`${prefix}/models`, openAiCaller, () => openAiModelsAnswer, options),
];

/** Without the list of models: who asks for it at that place may speak another dialect. */
export const openAiRoutes = (options: RoutesOptions): Route[] => routesUnder('/v1', options);

function routesUnder(prefix: string, options: RoutesOptions): Route[] {
  const { relay } = options;
  const embeddingsByEngine = (exchange: IncomingRequest): Promise<void> =>
    relay.handle(incomingCall(exchange, embeddings, embeddings.path, exchange.params.model ?? null));
  const upgradeRequired = async (): Promise<never> => {
    throw notUpgraded();
  };
  const realtimeUpgradeRequired = async (): Promise<never> => {
    throw new RelayError(426, 'upgrade_required', 'a realtime session is a WebSocket, and no upgrade came with it', {
      shouldRetry: false,
    });
  };
  const under = (path: string): string => prefix + path.slice('/v1'.length);
  return [
    ...endpoints.map((endpoint) => callsOf({ ...endpoint, path: under(endpoint.path) }, relay)),
    { method: 'POST', path: under(enginePath), dialect: openAiCaller, answer: embeddingsByEngine },
    ...keptResponsesRoutes(options, under),
    ...videoRoutes(options, under),
    { method: 'GET', path: under(responses.path), dialect: openAiCaller, answer: upgradeRequired },
    { method: 'GET', path: under(realtime.path), dialect: openAiCaller, answer: realtimeUpgradeRequired },
    // Clients of other dialects ask for files there, too.
    ...notImplemented.map(([method, path, message]) =>
      unservedRoute(relay, prefix === '/v1' ? dialectInHeaders : openAiCaller, [method, under(path), message]),
    ),
  ];
}
