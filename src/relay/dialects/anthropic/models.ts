import { modelsCreated } from '../../../http/openai-model.js';
import type { ModelForm } from '../model-lists.js';

const created = new Date(modelsCreated * 1000).toISOString().replace('.000Z', 'Z');
const anthropicModel = (id: string) => ({ id, type: 'model', display_name: id, created_at: created });

export const anthropicModels: ModelForm = {
  one: anthropicModel,
  all: (models) => ({
    data: models.map(anthropicModel),
    first_id: models[0] ?? null,
    last_id: models.at(-1) ?? null,
    has_more: false,
  }),
};
