import { imageModes, soundModes, usual } from '../../domain/channel/provider.js';
import { modelList } from '../catalogue/model-list.js';
import type { Provider } from '../contracts/protocol.js';
import { xinferenceImages } from '../protocols/images/xinference-images.js';
import { openAi } from '../protocols/openai/openai.js';

export const xinference: Provider = {
  ...usual,
  type: 47,
  name: 'Xinference',
  defaultBaseUrl: '',
  defaultModels: modelList('bge-reranker-v2-m3 jina-reranker-v2'),
  colour: 'blue',
  keyHint: 'API key, or any text',
  modes: ['chat', 'completions', 'embeddings', ...soundModes, 'rerank', ...imageModes],
  protocol: openAi({ copiesReasoning: true, reshape: xinferenceImages }),
};
