import type { Directory } from '../../application/ports/storage-ports.js';
import { isPriced } from '../../domain/pricing/price-tables.js';
import type { KeyCaller } from '../admission/authenticate.js';
import { unknownModel } from '../contracts/errors.js';
import { usedGroup } from '../pipeline/call-group.js';
import { readCredential } from './openai/credential.js';
import { answersJson, type IncomingRequest, type Route, type RoutesOptions } from './route.js';

/* What a caller may ask for, in the words of its dialect. */

/** Name of the provider of the first channel that serves a model. */
type OwnerOf = (model: string) => string;

/** How a dialect lists models. */
export interface ModelForm {
  one(model: string, ownerOf: OwnerOf): object;
  /** Sorted by name; there may be none. */
  all(models: readonly string[], ownerOf: OwnerOf): object;
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

/** The list at `path`, and each of its models below. `formFor`: whoever asks. */
export function modelRoutes(
  path: string,
  dialect: Route['dialect'],
  formFor: (exchange: IncomingRequest) => ModelForm,
  { relay, directory, providerName }: RoutesOptions,
): Route[] {
  const models = async ({ path: asked, query, request, ip }: IncomingRequest): Promise<readonly string[]> =>
    modelsFor(directory, await relay.identify({ credential: readCredential(asked, request.headers, query), ip }));

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
    formFor(exchange).all(await models(exchange), owners());

  // Names hold slashes (vendor/model): everything after the prefix is the name.
  const one = async (exchange: IncomingRequest): Promise<object> => {
    const name = exchange.params['*'] ?? '';
    if (!(await models(exchange)).includes(name)) throw unknownModel(name);
    return formFor(exchange).one(name, owners());
  };

  return [
    { method: 'GET', path, dialect, answer: answersJson(all) },
    { method: 'GET', path: `${path}/*`, dialect, answer: answersJson(one) },
  ];
}
