import { openAi } from '../protocols/openai.js';
import type { Provider } from '../protocols/protocol.js';
import { modelList } from './model-list.js';

export const xinference: Provider = {
  type: 47,
  name: 'Xinference',
  defaultBaseUrl: '',
  defaultModels: modelList('bge-reranker-v2-m3 jina-reranker-v2'),
  colour: 'blue',
  keyHint: 'API key, or any text',
  otherHint: null,
  balance: false,
  deprecated: false,
  modes: ['chat', 'completions', 'embeddings'],
  protocol: openAi({ copiesReasoning: true }),
};
