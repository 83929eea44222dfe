import { factsOf } from '../../../domain/models/model-facts.js';
import type { ListedModel, ModelForm } from '../model-lists.js';

function methodsOf(model: string): readonly string[] {
  const { embeds, drawsOnly } = factsOf(model);
  if (embeds) return ['embedContent', 'batchEmbedContents'];
  return drawsOnly ? ['predict'] : ['generateContent', 'streamGenerateContent', 'countTokens'];
}

const geminiModel = ({ id, model, limits }: ListedModel) => ({
  name: `models/${id}`,
  displayName: model,
  ...(limits !== null && {
    ...(limits.input !== null && { inputTokenLimit: limits.input }),
    outputTokenLimit: limits.output,
  }),
  supportedGenerationMethods: methodsOf(model),
});

export const geminiModels: ModelForm = {
  one: geminiModel,
  all: (models) => ({ models: models.map(geminiModel), nextPageToken: null }),
};
