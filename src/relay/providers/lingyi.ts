import { usual } from '../../domain/channel/provider.js';
import { modelList } from '../catalogue/model-list.js';
import type { Provider } from '../contracts/protocol.js';
import { openAi } from '../protocols/openai/openai.js';

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
