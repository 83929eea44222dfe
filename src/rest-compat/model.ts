import type { Application } from '../application/application.js';
import type { ProviderFacts } from '../domain/channel/provider.js';
import { openAiModel } from '../http/openai-model.js';
import type { Endpoints } from './wire/endpoints.js';
import { success } from './wire/envelope.js';

/* Names of groups and models for forms and filters. */

/** Every model once, owned by the provider with the lowest number. */
function modelsOf(providers: readonly ProviderFacts[]) {
  const owners = new Map<string, string>();
  for (const { name, defaultModels } of providers)
    for (const model of defaultModels) if (!owners.has(model)) owners.set(model, name.toLowerCase());
  return [...owners].map(([model, owner]) => openAiModel(model, owner));
}

export function modelEndpoints(endpoints: Endpoints, { queries }: Application): void {
  const providers = queries.servedProviders();
  const byType = Object.fromEntries(providers.map(({ type, defaultModels }) => [type, defaultModels]));
  const models = modelsOf(providers);

  endpoints.guarded('admin', 'GET', '/group/', (viewer) => success(queries.groupNames(viewer)));
  endpoints.guarded('ordinary', 'GET', '/models', () => success(byType));
  endpoints.guarded('admin', 'GET', '/channel/models', () => success(models));
  endpoints.guarded('admin', 'GET', '/channel/models_enabled', (viewer) => success(queries.enabledModels(viewer)));
}
