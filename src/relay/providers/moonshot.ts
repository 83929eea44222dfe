import { usual } from '../../domain/provider.js';
import { amountIn, balanceAt, tellsBalance } from '../protocols/balance.js';
import { isObject } from '../protocols/json.js';
import { openAi } from '../protocols/openai/openai.js';
import type { Provider } from '../protocols/protocol.js';
import { modelList } from './model-list.js';

/** Of the currency of the site. */
const balance = balanceAt('/v1/users/me/balance', ({ data }) =>
  amountIn(isObject(data) ? data.available_balance : undefined, 'data.available_balance'),
);

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
  ...tellsBalance(balance),
  modes: ['chat', 'completions'],
  protocol: openAi({ replaysReasoning: true, knowsThinking: true }),
};
