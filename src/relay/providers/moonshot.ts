import { usual } from '../../domain/provider.js';
import { openAi } from '../protocols/openai/openai.js';
import type { Provider } from '../protocols/protocol.js';
import { modelList } from './model-list.js';

export const moonshot: Provider = {
  ...usual,
  type: 25,
  name: 'Moonshot',
  defaultBaseUrl: 'https://api.moonshot.cn',
  defaultModels: modelList(`
    kimi-k3 kimi-k2.7-code kimi-k2.7-code-highspeed kimi-k2.6 kimi-k2.5 moonshot-v1-8k moonshot-v1-32k
    moonshot-v1-128k kimi-latest
  `),
  colour: 'green',
  keyHint: 'API key',
  tellsBalance: true,
  modes: ['chat', 'completions'],
  protocol: openAi({ replaysReasoning: true, knowsThinking: true }),
};
