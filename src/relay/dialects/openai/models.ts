import { openAiModel } from '../../../http/openai-model.js';
import type { ModelForm } from '../model-lists.js';

export const openAiModelsAnswer: ModelForm = {
  one: (model, ownerOf) => openAiModel(model, ownerOf(model)),
  all: (models, ownerOf) => ({
    object: 'list',
    success: true,
    data: models.map((model) => openAiModel(model, ownerOf(model))),
  }),
};
