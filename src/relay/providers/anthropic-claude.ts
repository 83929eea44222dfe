import { usual } from '../../domain/channel/provider.js';
import { modelList } from '../catalogue/model-list.js';
import type { Provider } from '../contracts/protocol.js';
import { anthropic } from '../protocols/anthropic/anthropic.js';
import { pagedModels } from '../protocols/anthropic/models.js';
import { thinksByName } from '../protocols/anthropic/thinking.js';

export const anthropicProvider: Provider = {
  ...usual,
  type: 14,
  name: 'Anthropic Claude',
  defaultBaseUrl: 'https://api.anthropic.com',
  defaultModels: modelList(`
    claude-opus-5-5 claude-sonnet-5-5 claude-haiku-5-5 claude-fable-5-1 claude-opus-5 claude-fable-5 claude-sonnet-5
    claude-opus-4-8 claude-opus-4-7 claude-opus-4-6 claude-sonnet-4-6
    claude-opus-4-5-20251101 claude-opus-4-5 claude-sonnet-4-5-20250929 claude-sonnet-4-5 claude-haiku-4-5-20251001
    claude-haiku-4-5 claude-opus-4-1-20250805 claude-opus-4-1 claude-opus-4-20250514 claude-opus-4-0
    claude-sonnet-4-20250514 claude-sonnet-4-0 claude-instant-1.2 claude-2 claude-2.0 claude-2.1
    claude-3-sonnet-20240229 claude-3-opus-20240229 claude-3-haiku-20240307 claude-3-5-haiku-20241022
    claude-3-5-sonnet-20240620 claude-3-5-sonnet-20241022 claude-3-7-sonnet-20250219
    claude-3-7-sonnet-20250219-thinking
  `),
  colour: 'indigo',
  keyHint: 'API key',
  modes: ['chat', 'counting'],
  models: pagedModels,
  protocol: anthropic,
  overheadRule: thinksByName,
};
