import type { Directory } from '../../../application/ports.js';
import { openAiModel } from '../../../http/openai-model.js';
import type { Caller } from '../../call/authenticate.js';
import type { Relay } from '../../call/relay.js';
import type { Endpoint } from '../../endpoint.js';
import { RelayError, unknownModel } from '../../errors.js';
import { type Asking, answersJson, callsOf, type Method, type Route } from '../route.js';
import { readCredential } from './credential.js';
import { openAiCaller } from './dialect.js';
import { chat } from './endpoints/chat.js';
import { completions } from './endpoints/completions.js';
import { embeddings } from './endpoints/embeddings.js';
import { speech } from './endpoints/speech.js';
import { transcriptions, translations } from './endpoints/transcriptions.js';
import { type Dialect, listing, type ModelListing, modelsFor } from './models.js';

/* The /v1 endpoints, and what else OpenAI's clients ask for. */

export interface OpenAiRoutesOptions {
  readonly relay: Pick<Relay, 'handle' | 'identify'>;
  readonly directory: Directory;
  /** Name of the provider behind a channel type. */
  readonly providerName: (channelType: number) => string | null;
}

const endpoints: readonly Endpoint[] = [chat, completions, embeddings, speech, transcriptions, translations];

/** Known to every client of the dialect, served by no gateway, or not served yet. */
const notImplemented: readonly (readonly [Method, string])[] = [
  ['POST', '/v1/edits'],
  ['POST', '/v1/moderations'],
  ['POST', '/v1/images/generations'],
  ['POST', '/v1/images/edits'],
  ['POST', '/v1/images/variations'],
  ['POST', '/v1/rerank'],
  ['POST', '/v1/responses'],
  ['POST', '/v1/messages'],
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
  ['DELETE', '/v1/models/*'],
];

function dialectOf({ request: { headers }, query }: Asking): Dialect {
  if (headers['x-api-key'] !== undefined && headers['anthropic-version'] !== undefined) return 'anthropic';
  if (headers['x-goog-api-key'] !== undefined || query.has('key')) return 'gemini';
  return 'openai';
}

export function openAiRoutes({ relay, directory, providerName }: OpenAiRoutesOptions): Route[] {
  const identified = ({ path, query, request, ip }: Asking): Promise<Caller> =>
    relay.identify({ credential: readCredential(path, request.headers, query), ip });

  /** Looks at every channel once, however many models are asked about. */
  const owners = (): ModelListing['ownerOf'] => {
    const types = new Map<string, number>();
    for (const { settings } of directory.channels())
      for (const model of settings.models) if (!types.has(model)) types.set(model, settings.type);
    return (model) => {
      const type = types.get(model);
      return (type === undefined ? null : providerName(type))?.toLowerCase() ?? 'custom';
    };
  };

  const models = async (asking: Asking): Promise<object> => {
    const caller = await identified(asking);
    return listing(modelsFor(directory, caller), dialectOf(asking), owners());
  };

  // Names hold slashes (vendor/model): everything after the prefix is the name.
  const model = async (asking: Asking): Promise<object> => {
    const caller = await identified(asking);
    const name = asking.params['*'] ?? '';
    if (!modelsFor(directory, caller).includes(name)) throw unknownModel(name);
    return openAiModel(name, owners()(name));
  };

  const refused = async (asking: Asking): Promise<never> => {
    await identified(asking);
    throw new RelayError(501, 'api_not_implemented', 'API not implemented');
  };

  return [
    ...endpoints.map((endpoint) => callsOf(endpoint, relay)),
    { method: 'GET', path: '/v1/models', dialect: openAiCaller, answer: answersJson(models) },
    { method: 'GET', path: '/v1/models/*', dialect: openAiCaller, answer: answersJson(model) },
    ...notImplemented.map(([method, path]) => ({ method, path, dialect: openAiCaller, answer: refused })),
  ];
}
