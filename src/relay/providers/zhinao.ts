import { usual } from '../../domain/channel/provider.js';
import { modelList } from '../catalogue/model-list.js';
import type { Provider } from '../contracts/protocol.js';
import { openAi } from '../protocols/openai/openai.js';

export const zhinao: Provider = {
  ...usual,
  type: 19,
  name: '360 Zhinao',
  defaultBaseUrl: 'https://api.360.cn',
  defaultModels: modelList(`
    360gpt-turbo 360gpt-turbo-responsibility-8k 360gpt-pro 360gpt2-pro 360GPT_S2_V9 embedding-bert-512-v1
    embedding_s1_v1 semantic_similarity_s1_v1
  `),
  colour: 'blue',
  keyHint: 'API key',
  modes: ['chat', 'completions', 'embeddings'],
  protocol: openAi(),
};
