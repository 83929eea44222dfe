import { imageModes, soundModes, usual } from '../../domain/channel/provider.js';
import { modelList } from '../catalogue/model-list.js';
import type { Provider } from '../contracts/protocol.js';
import { isObject, scalarText } from '../json/json.js';
import { amountIn, type BalanceWire, balanceAt, inPoints, reportsBalance } from '../protocols/balance.js';
import { openAi } from '../protocols/openai/openai.js';
import { openAiModelRules } from '../protocols/openai/request.js';
import { NotReported } from '../protocols/provider-queries.js';

/* Services that resold OpenAI's interface unchanged; kept for channels that still use them. */

const defaultModels = modelList(`
  gpt-3.5-turbo gpt-3.5-turbo-0613 gpt-3.5-turbo-1106 gpt-3.5-turbo-0125 gpt-3.5-turbo-16k gpt-3.5-turbo-16k-0613
  gpt-3.5-turbo-instruct gpt-4 gpt-4-0613 gpt-4-1106-preview gpt-4-0125-preview gpt-4-32k gpt-4-32k-0613
  gpt-4-turbo-preview gpt-4-turbo gpt-4-turbo-2024-04-09 gpt-4-vision-preview chatgpt-4o-latest gpt-4o
  gpt-4o-2024-05-13 gpt-4o-2024-08-06 gpt-4o-2024-11-20 gpt-4o-mini gpt-4o-mini-2024-07-18
`);

const reseller = (type: number, name: string, defaultBaseUrl: string, balance?: BalanceWire): Provider => ({
  ...usual,
  type,
  name,
  defaultBaseUrl,
  defaultModels,
  colour: null,
  keyHint: 'API key',
  ...(balance !== undefined && reportsBalance(balance)),
  deprecated: true,
  modes: ['chat', 'completions', 'embeddings', ...soundModes, ...imageModes, 'moderation', 'realtime'],
  protocol: openAi({ newerLimit: true, edits: openAiModelRules, copiesReasoning: true }),
});

/** Points, which are no currency; reported by another host than calls are sent to. Refusals come with status 200. */
const points: BalanceWire = async ({ base, isOwnBase, key, json }) => {
  const site = isOwnBase ? base : 'https://aiproxy.io';
  const { success, message, data } = await json(`${site}/api/report/getUserOverview`, { 'api-key': key });
  if (success !== true) throw new NotReported(`message: ${scalarText(message)}`);
  return inPoints(amountIn(isObject(data) ? data.totalPoints : undefined, 'data.totalPoints'));
};

const creditGrants = (member: 'total_remaining' | 'total_available'): BalanceWire =>
  balanceAt('/dashboard/billing/credit_grants', (reported) => ({
    amount: amountIn(reported[member], member),
    currency: null,
  }));

export const resellers: readonly Provider[] = [
  reseller(6, 'OpenAIMax', 'https://api.openaimax.com'),
  reseller(7, 'OhMyGPT', 'https://api.ohmygpt.com'),
  reseller(9, 'AILS', 'https://api.caipacity.com'),
  reseller(10, 'AI Proxy', 'https://api.aiproxy.io', points),
  reseller(12, 'API2GPT', 'https://api.api2gpt.com', creditGrants('total_remaining')),
  reseller(13, 'AIGC2D', 'https://api.aigc2d.com', creditGrants('total_available')),
];
