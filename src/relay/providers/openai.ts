import { imageModes, soundModes, usual } from '../../domain/channel/provider.js';
import { openAiModels, openAiModerationModels } from '../catalogue/openai-models.js';
import type { Provider, UpstreamChannel } from '../contracts/protocol.js';
import { reportsBalance } from '../protocols/balance.js';
import { dashboardBalance } from '../protocols/openai/balance.js';
import { openAi } from '../protocols/openai/openai.js';
import { openAiModelRules } from '../protocols/openai/request.js';
import { openAiVideos, standardCollection } from '../protocols/video/openai-videos.js';

const defaultBaseUrl = 'https://api.openai.com';

const organizationHeader = ({ organization }: UpstreamChannel): Record<string, string> =>
  organization ? { 'openai-organization': organization } : {};

export const openai: Provider = {
  ...usual,
  type: 1,
  name: 'OpenAI',
  defaultBaseUrl,
  defaultModels: [...openAiModels, ...openAiModerationModels],
  colour: 'green',
  keyHint: 'API key',
  billsOrganization: true,
  ...reportsBalance(dashboardBalance),
  modes: [
    'chat',
    'completions',
    'responses',
    'embeddings',
    ...soundModes,
    ...imageModes,
    'moderation',
    'realtime',
    'task',
  ],
  protocol: openAi({
    newerLimit: true,
    usageOnRequest: true,
    edits: openAiModelRules,
    copiesReasoning: true,
    headers: ({ channel }) => organizationHeader(channel),
  }),
  ...openAiVideos({
    collection: ({ baseUrl }) => standardCollection(baseUrl || defaultBaseUrl),
    headers: (channel) => ({ authorization: `Bearer ${channel.key.trim()}`, ...organizationHeader(channel) }),
  }),
};
