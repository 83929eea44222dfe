import { usual } from '../../domain/channel/provider.js';
import { modelList } from '../catalogue/model-list.js';
import type { Provider } from '../contracts/protocol.js';
import { openAi } from '../protocols/openai/openai.js';
import { urlAt } from '../protocols/openai/request.js';

export const moka: Provider = {
  ...usual,
  type: 44,
  name: 'MokaAI M3E',
  defaultBaseUrl: 'https://api.moka.ai',
  defaultModels: modelList('m3e-large m3e-base m3e-small'),
  colour: 'purple',
  keyHint: 'API key',
  listsModels: false,
  deprecated: true,
  modes: ['embeddings'],
  protocol: openAi({ url: urlAt({ embeddings: '/embeddings' }) }),
};
