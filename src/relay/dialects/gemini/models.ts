import type { ModelForm } from '../model-lists.js';

const geminiModel = (model: string) => ({ name: `models/${model}`, displayName: model });

export const geminiModels: ModelForm = {
  one: geminiModel,
  all: (models) => ({ models: models.map(geminiModel), nextPageToken: null }),
};
