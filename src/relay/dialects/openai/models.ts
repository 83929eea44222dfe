import { openAiModel } from '../../../http/openai-model.js';
import type { ListedModel, ModelForm, OwnerOf } from '../model-lists.js';

/** `root`: what an alias stands for. */
const listed = ({ id, model }: ListedModel, ownerOf: OwnerOf) => ({ ...openAiModel(id, ownerOf(model)), root: model });

export const openAiModelsAnswer: ModelForm = {
  one: listed,
  all: (models, ownerOf) => ({ object: 'list', success: true, data: models.map((model) => listed(model, ownerOf)) }),
};
