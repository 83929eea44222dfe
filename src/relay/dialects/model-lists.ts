import type { Settings } from '../../application/options/settings.js';
import type { Directory } from '../../application/ports/storage-ports.js';
import { aliasedModel, namedAliases } from '../../domain/api-key/model-aliases.js';
import { limitsOf } from '../../domain/call/model-limits.js';
import { factsOf } from '../../domain/models/model-facts.js';
import { isPriced } from '../../domain/pricing/price-tables.js';
import type { KeyCaller } from '../admission/authenticate.js';
import { unknownModel } from '../contracts/errors.js';
import { usedGroup } from '../pipeline/call-group.js';
import { readCredential } from './openai/credential.js';
import { answersJson, type IncomingRequest, type Route, type RoutesOptions } from './route.js';

/* What a caller may ask for, in the words of its dialect. */

/** Name of the provider of the first channel that serves a model. */
export type OwnerOf = (model: string) => string;

/** What may be asked for by `id`. */
export interface ListedModel {
  readonly id: string;
  /** Another where `id` is an alias of the key. */
  readonly model: string;
  /** In tokens; null: not known. */
  readonly limits: { readonly output: number; readonly input: number | null } | null;
}

/** How a dialect lists models. */
export interface ModelForm {
  one(model: ListedModel, ownerOf: OwnerOf): object;
  /** Sorted by name; there may be none. */
  all(models: readonly ListedModel[], ownerOf: OwnerOf): object;
}

/** Sorted names the caller's group really serves, within the token's limits, priced or accepted unpriced. */
function modelsFor(directory: Directory, caller: KeyCaller): readonly string[] {
  const settings = directory.settings();
  const { terms } = caller.apiKey;
  const acceptUnpriced = settings.selfUseMode || caller.user.acceptUnpricedModels;
  return directory
    .models([usedGroup(caller, settings)])
    .filter((model) => !terms.modelLimitsEnabled || terms.modelLimits.includes(model))
    .filter((model) => acceptUnpriced || isPriced(settings.prices, model));
}

const listed = (id: string, model: string, { maxOutputTokens }: Settings): ListedModel => {
  const { guessed, output, context } = limitsOf(model, maxOutputTokens, 0);
  return { id, model, limits: guessed ? null : { output, input: factsOf(model).inputLimit ?? context } };
};

/** With the aliases of the key, and each name as what a call by it would get. Sorted by name. */
function listedFor(directory: Directory, caller: KeyCaller): readonly ListedModel[] {
  const settings = directory.settings();
  const models = modelsFor(directory, caller);
  const { modelAliases } = caller.apiKey.terms;
  if (modelAliases === undefined) return models.map((model) => listed(model, model, settings));
  const usable = new Set(models);
  const names = new Set([...models, ...namedAliases(modelAliases).map(({ name }) => name)]);
  return [...names].sort().flatMap((name) => {
    const model = aliasedModel(modelAliases, name) ?? name;
    return usable.has(model) ? listed(name, model, settings) : [];
  });
}

/** The list at `path`, and each of its models below. `formFor`: whoever asks. */
export function modelRoutes(
  path: string,
  dialect: Route['dialect'],
  formFor: (exchange: IncomingRequest) => ModelForm,
  { relay, directory, providerName }: RoutesOptions,
): Route[] {
  const callerOf = ({ path: asked, query, request, ip }: IncomingRequest): Promise<KeyCaller> =>
    relay.identify({ credential: readCredential(asked, request.headers, query), ip });

  /** Looks at every channel once, however many models are asked about. */
  const owners = (): OwnerOf => {
    const types = new Map<string, number>();
    for (const { settings } of directory.channels())
      for (const model of settings.models) if (!types.has(model)) types.set(model, settings.type);
    return (model) => {
      const type = types.get(model);
      return (type === undefined ? null : providerName(type))?.toLowerCase() ?? 'custom';
    };
  };

  const all = async (exchange: IncomingRequest): Promise<object> =>
    formFor(exchange).all(listedFor(directory, await callerOf(exchange)), owners());

  // Names hold slashes (vendor/model): everything after the prefix is the name.
  const one = async (exchange: IncomingRequest): Promise<object> => {
    const name = exchange.params['*'] ?? '';
    const caller = await callerOf(exchange);
    const model = aliasedModel(caller.apiKey.terms.modelAliases, name) ?? name;
    if (!modelsFor(directory, caller).includes(model)) throw unknownModel(name);
    return formFor(exchange).one(listed(name, model, directory.settings()), owners());
  };

  return [
    { method: 'GET', path, dialect, answer: answersJson(all) },
    { method: 'GET', path: `${path}/*`, dialect, answer: answersJson(one) },
  ];
}
