import type { Directory } from '../../../application/ports.js';
import { isPriced } from '../../../domain/price-tables.js';
import { modelsCreated, openAiModel } from '../../../http/openai-model.js';
import type { Caller } from '../../call/authenticate.js';
import { usedGroup } from '../../call/order.js';

/* What a caller may ask for, as its dialect lists it. */

export interface ModelListing {
  /** Name of the provider of the first channel that serves a model. */
  ownerOf(model: string): string;
}

/** Sorted names the caller's group really serves, within the token's limits, priced or accepted unpriced. */
export function modelsFor(directory: Directory, caller: Caller): readonly string[] {
  const settings = directory.settings();
  const { terms } = caller.apiKey;
  const acceptUnpriced = settings.selfUseMode || caller.user.acceptUnpricedModels;
  return directory
    .models([usedGroup(caller, settings)])
    .filter((model) => !terms.modelLimitsEnabled || terms.modelLimits.includes(model))
    .filter((model) => acceptUnpriced || isPriced(settings.prices, model));
}

const anthropicModel = (id: string) => ({
  id,
  type: 'model',
  display_name: id,
  created_at: new Date(modelsCreated * 1000).toISOString().replace('.000Z', 'Z'),
});

export type Dialect = 'openai' | 'anthropic' | 'gemini';

/** The body of a listing in the caller's dialect. */
export function listing(models: readonly string[], dialect: Dialect, ownerOf: ModelListing['ownerOf']): object {
  switch (dialect) {
    case 'openai':
      return { object: 'list', success: true, data: models.map((model) => openAiModel(model, ownerOf(model))) };
    case 'anthropic':
      return {
        data: models.map(anthropicModel),
        first_id: models[0] ?? null,
        last_id: models.at(-1) ?? null,
        has_more: false,
      };
    case 'gemini':
      return {
        models: models.map((model) => ({ name: `models/${model}`, displayName: model })),
        nextPageToken: null,
      };
  }
}
