import { other, type ProviderFacts, usual } from '../../domain/channel/provider.js';
import { modelList } from './model-list.js';

/* Providers the relay does not speak with yet. Channels of earlier releases may name them. */

/** What is published of it, and where it differs from the usual. */
type Listed = Pick<ProviderFacts, 'type' | 'name' | 'colour' | 'defaultBaseUrl' | 'keyHint' | 'defaultModels'> &
  Partial<ProviderFacts>;

const listing = (listed: Listed): ProviderFacts => ({ ...usual, modes: [], ...listed });

const withoutList = { listsModels: false };

export const catalogue: readonly ProviderFacts[] = [
  listing({
    type: 16,
    name: 'Zhipu ChatGLM',
    colour: 'violet',
    defaultBaseUrl: 'https://open.bigmodel.cn',
    keyHint: 'id.secret',
    defaultModels: modelList(`
    chatglm_turbo chatglm_pro chatglm_std chatglm_lite
  `),
    ...withoutList,
    deprecated: true,
  }),
  listing({
    type: 21,
    name: 'AI Proxy knowledge base',
    colour: 'purple',
    defaultBaseUrl: 'https://api.aiproxy.io',
    keyHint: 'API key',
    defaultModels: ['gpt-3.5-turbo', 'gpt-4'],
    ...withoutList,
    other: other('id of the knowledge base'),
    deprecated: true,
  }),
];
