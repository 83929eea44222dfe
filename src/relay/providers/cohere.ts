import { usual } from '../../domain/channel/provider.js';
import { modelList } from '../catalogue/model-list.js';
import type { Provider } from '../contracts/protocol.js';
import { cohereModels, cohereWire } from '../protocols/cohere/cohere.js';

const modes = ['chat', 'embeddings', 'rerank'] as const;

/** https://docs.cohere.com/reference/about */
export const cohere: Provider = {
  ...usual,
  type: 34,
  name: 'Cohere',
  defaultBaseUrl: 'https://api.cohere.ai',
  defaultModels: modelList(`
    command-a-03-2025 command-a-reasoning-08-2025 command-a-vision-07-2025 command-r7b-12-2024 command-r-plus-04-2024
    command-r command-r-plus command-r-08-2024 command-r-plus-08-2024 c4ai-aya-23-35b c4ai-aya-23-8b command-light
    command-light-nightly command command-nightly rerank-english-v3.0 rerank-multilingual-v3.0 rerank-english-v2.0
    rerank-multilingual-v2.0 rerank-v3.5 embed-v4.0 embed-english-v3.0 embed-multilingual-v3.0
    embed-english-light-v3.0 embed-multilingual-light-v3.0
  `),
  colour: 'purple',
  keyHint: 'API key',
  modes,
  models: cohereModels(modes),
  protocol: cohereWire,
};
