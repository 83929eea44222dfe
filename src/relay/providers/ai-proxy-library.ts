import { other, usual } from '../../domain/channel/provider.js';
import type { Provider } from '../contracts/protocol.js';
import { library } from '../protocols/library.js';

/* Knowledge bases of AI Proxy (https://docs.aiproxy.io); the models named are those that answer from them. */

export const aiProxyLibrary: Provider = {
  ...usual,
  type: 21,
  name: 'AI Proxy knowledge base',
  defaultBaseUrl: 'https://api.aiproxy.io',
  defaultModels: ['gpt-3.5-turbo', 'gpt-4'],
  colour: 'purple',
  keyHint: 'API key',
  other: other('id of the knowledge base'),
  listsModels: false,
  deprecated: true,
  modes: ['chat'],
  hasNoLimit: () => true,
  bringsPrompt: () => true,
  protocol: library,
};
