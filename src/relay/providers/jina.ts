import { usual } from '../../domain/channel/provider.js';
import { modelList } from '../catalogue/model-list.js';
import type { Provider } from '../contracts/protocol.js';
import { openAi } from '../protocols/openai/openai.js';
import { without } from '../protocols/openai/request.js';

export const jina: Provider = {
  ...usual,
  type: 38,
  name: 'Jina',
  defaultBaseUrl: 'https://api.jina.ai',
  defaultModels: modelList(`
    jina-clip-v1 jina-reranker-v2-base-multilingual jina-embeddings-v4 jina-embeddings-v3 jina-clip-v2
    jina-reranker-v3 jina-reranker-m0
  `),
  colour: 'blue',
  keyHint: 'API key',
  // Rankings: https://api.jina.ai/redoc, whose usage is one sum.
  modes: ['embeddings', 'rerank'],
  // It has another word for the encoding; vectors are encoded here when a caller wants them so.
  protocol: openAi({ edits: [without('encoding_format', 'user')] }),
};
