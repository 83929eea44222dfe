import { soundModes, usual } from '../../domain/channel/provider.js';
import { openAiModels, openAiModerationModels } from '../catalogue/openai-models.js';
import type { Provider } from '../contracts/protocol.js';
import { reportsBalance } from '../protocols/balance.js';
import { dashboardBalance } from '../protocols/openai/balance.js';
import { openAi } from '../protocols/openai/openai.js';
import { openAiModelRules } from '../protocols/openai/request.js';

export const openai: Provider = {
  ...usual,
  type: 1,
  name: 'OpenAI',
  defaultBaseUrl: 'https://api.openai.com',
  defaultModels: [...openAiModels, ...openAiModerationModels],
  colour: 'green',
  keyHint: 'API key',
  billsOrganization: true,
  ...reportsBalance(dashboardBalance),
  modes: ['chat', 'completions', 'responses', 'embeddings', ...soundModes],
  protocol: openAi({
    newerLimit: true,
    usageOnRequest: true,
    edits: openAiModelRules,
    copiesReasoning: true,
    headers: ({ channel: { organization } }): Record<string, string> =>
      organization ? { 'openai-organization': organization } : {},
  }),
};
