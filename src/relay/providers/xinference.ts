import { soundModes, usual } from '../../domain/provider.js';
import { openAi } from '../protocols/openai/openai.js';
import type { Provider } from '../protocols/protocol.js';
import { modelList } from './model-list.js';

export const xinference: Provider = {
  ...usual,
  type: 47,
  name: 'Xinference',
  defaultBaseUrl: '',
  defaultModels: modelList('bge-reranker-v2-m3 jina-reranker-v2'),
  colour: 'blue',
  keyHint: 'API key, or any text',
  modes: ['chat', 'completions', 'embeddings', ...soundModes],
  protocol: openAi({ copiesReasoning: true }),
};
