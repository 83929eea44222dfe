import type { Mode } from '../../../domain/channel/provider.js';
import { textIn } from '../../json/json.js';
import { inPages, listedModelsIn, type ModelsWire, modesIn } from '../models.js';

/* https://ai.google.dev/api/models */

const methods: Readonly<Record<string, readonly Mode[]>> = {
  ...{ generateContent: ['chat'], embedContent: ['embeddings'], countTokens: ['counting'] },
  ...{ predictLongRunning: ['task'] },
};

/** A thousand at a time. */
export const pagedGeminiModels: ModelsWire = ({ base, key, json }) =>
  inPages('', async (token) => {
    const behind = token === '' ? '' : `&pageToken=${encodeURIComponent(token)}`;
    const reported = await json(`${base}/v1beta/models?pageSize=1000${behind}`, { 'x-goog-api-key': key });
    const models = listedModelsIn(reported, {
      ...{ list: 'models', name: 'name', prefix: 'models/' },
      modes: ({ supportedGenerationMethods: supported }) => modesIn(supported, methods),
    });
    return { models, next: textIn(reported.nextPageToken) };
  });
