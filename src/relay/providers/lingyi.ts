import { usual } from '../../domain/provider.js';
import { openAi } from '../protocols/openai/openai.js';
import type { Provider } from '../protocols/protocol.js';
import { modelList } from './model-list.js';

export const lingyi: Provider = {
  ...usual,
  type: 31,
  name: 'Lingyi Wanwu (01.AI)',
  defaultBaseUrl: 'https://api.lingyiwanwu.com',
  defaultModels: modelList(`
    yi-lightning yi-large yi-medium yi-vision yi-medium-200k yi-spark yi-large-rag yi-large-turbo yi-large-preview
    yi-large-rag-preview
  `),
  colour: 'green',
  keyHint: 'API key',
  modes: ['chat', 'completions'],
  protocol: openAi(),
};
