import { type Mode, usual } from '../../domain/channel/provider.js';
import { add, negative } from '../../domain/kernel/decimal.js';
import { modelList } from '../catalogue/model-list.js';
import type { Provider } from '../contracts/protocol.js';
import { isObject, type JsonObject } from '../json/json.js';
import { amountIn, balanceAt, inDollars, reportsBalance } from '../protocols/balance.js';
import { modelsAt, modesIn } from '../protocols/models.js';
import { minEffort } from '../protocols/openai/efforts.js';
import { openAi } from '../protocols/openai/openai.js';
import { openRouterCost } from '../protocols/openai/reported-cost.js';
import type { Target } from '../protocols/openai/variant.js';

/** By these the vendor distinguishes one site's calls from others', in the owner's statistics and in public ones. */
const identity = ({ options: { siteAddress } }: Target): Record<string, string> => ({
  'x-title': 'Tallygate',
  ...(siteAddress !== '' && { 'http-referer': siteAddress }),
});

const credits = balanceAt('/v1/credits', ({ data }) => {
  const { total_credits, total_usage } = isObject(data) ? data : {};
  const used = amountIn(total_usage, 'data.total_usage');
  return inDollars(add(amountIn(total_credits, 'data.total_credits'), negative(used)));
});

/** Other makers' models think only if asked to, or refuse to be told not to. */
const minOf = (model: string): JsonObject =>
  model.startsWith('openai/') ? minEffort(model.slice('openai/'.length)) : {};

/** https://openrouter.ai/docs/api-reference/list-available-models */
const outputs: Readonly<Record<string, readonly Mode[]>> = {
  ...{ text: ['chat', 'completions'], embeddings: ['embeddings'], rerank: ['rerank'] },
};

const modesByOutput = ({ architecture }: JsonObject): readonly Mode[] | null =>
  isObject(architecture) ? modesIn(architecture.output_modalities, outputs) : null;

export const openrouter: Provider = {
  ...usual,
  type: 20,
  name: 'OpenRouter',
  defaultBaseUrl: 'https://openrouter.ai/api',
  defaultModels: modelList(`
    openai/gpt-5.5 openai/gpt-5.4-mini openai/gpt-5 openai/gpt-4.1 openai/gpt-4o openai/gpt-4o-mini
    openai/gpt-oss-120b anthropic/claude-opus-4.8 anthropic/claude-sonnet-4.6 anthropic/claude-sonnet-4.5
    anthropic/claude-haiku-4.5 google/gemini-3.5-flash google/gemini-2.5-pro google/gemini-2.5-flash
    deepseek/deepseek-v4-pro deepseek/deepseek-v3.2 deepseek/deepseek-r1 x-ai/grok-4.3 qwen/qwen3-max
    moonshotai/kimi-k2.6 z-ai/glm-5 minimax/minimax-m2.5
  `),
  colour: 'green',
  keyHint: 'API key',
  ...reportsBalance(credits),
  // https://openrouter.ai/docs/api/api-reference/responses/create-a-response: it stores nothing.
  // https://openrouter.ai/docs/api/api-reference/rerank/submit-a-rerank-request
  models: modelsAt('/v1/models', { modes: modesByOutput }),
  modes: ['chat', 'completions', 'responses', 'embeddings', 'rerank'],
  responsesBySetting: true,
  protocol: openAi({
    newerLimit: true,
    headers: identity,
    copiesReasoning: true,
    knowsAllEfforts: true,
    minThinking: minOf,
    cost: openRouterCost,
  }),
};
