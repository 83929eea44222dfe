import { openAiModel } from '../../../http/openai-model.js';
import type { Caller } from '../../call/authenticate.js';
import type { Endpoint } from '../../endpoint.js';
import { RelayError, unknownModel } from '../../errors.js';
import { type Asking, answersJson, callsOf, type Method, type Route, type RoutesOptions } from '../route.js';
import { readCredential } from './credential.js';
import { openAiCaller } from './dialect.js';
import { chat } from './endpoints/chat.js';
import { completions } from './endpoints/completions.js';
import { embeddings } from './endpoints/embeddings.js';
import { speech } from './endpoints/speech.js';
import { transcriptions, translations } from './endpoints/transcriptions.js';
import { type Dialect, listing, type ModelListing, modelsFor } from './models.js';

/* The /v1 endpoints, and what else OpenAI's clients ask for. */

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
  // Its newer clients show their key as everybody does.
  if (headers['anthropic-version'] !== undefined) return 'anthropic';
  if (headers['x-goog-api-key'] !== undefined || query.has('key')) return 'gemini';
  return 'openai';
}

/** The same under another prefix, where lists are the dialect's own whoever asks. */
export const openAiRoutesUnder = (prefix: string, options: RoutesOptions): Route[] =>
  routesUnder(prefix, options, () => 'openai');

export const openAiRoutes = (options: RoutesOptions): Route[] => routesUnder('/v1', options, dialectOf);

function routesUnder(
  prefix: string,
  { relay, directory, providerName }: RoutesOptions,
  dialectFor: (asking: Asking) => Dialect,
): Route[] {
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
    return listing(modelsFor(directory, caller), dialectFor(asking), owners());
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

  const under = (path: string): string => prefix + path.slice('/v1'.length);
  return [
    ...endpoints.map((endpoint) => callsOf({ ...endpoint, path: under(endpoint.path) }, relay)),
    { method: 'GET', path: under('/v1/models'), dialect: openAiCaller, answer: answersJson(models) },
    { method: 'GET', path: under('/v1/models/*'), dialect: openAiCaller, answer: answersJson(model) },
    ...notImplemented.map(([method, path]) => ({ method, path: under(path), dialect: openAiCaller, answer: refused })),
  ];
}
