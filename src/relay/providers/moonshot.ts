import { usual } from '../../domain/channel/provider.js';
import { modelList } from '../catalogue/model-list.js';
import type { Provider } from '../contracts/protocol.js';
import { isObject } from '../json/json.js';
import { amountIn, balanceAt, inDollars, inYuan, reportsBalance } from '../protocols/balance.js';
import { openAi } from '../protocols/openai/openai.js';

/** Of the currency of the site: yuan in China, dollars elsewhere. */
const balance = balanceAt('/v1/users/me/balance', ({ data }, base) => {
  const amount = amountIn(isObject(data) ? data.available_balance : undefined, 'data.available_balance');
  const { hostname } = new URL(base);
  if (hostname.endsWith('.moonshot.cn')) return inYuan(amount);
  return hostname.endsWith('.moonshot.ai') ? inDollars(amount) : { amount, currency: null };
});

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
  ...reportsBalance(balance),
  modes: ['chat', 'completions'],
  // https://platform.kimi.ai/docs/api/chat
  protocol: openAi({
    edits: [
      (body) => {
        if (typeof body.temperature === 'number') body.temperature = Math.min(Math.max(body.temperature, 0), 1);
        return body;
      },
    ],
    inlinesPictures: true,
    replaysReasoning: true,
    knowsThinking: true,
  }),
};
