import { soundModes, usual } from '../../domain/channel/provider.js';
import { openAiModels, openAiModerationModels } from '../catalogue/openai-models.js';
import type { Provider } from '../contracts/protocol.js';
import { reportsBalance } from '../protocols/balance.js';
import { withModel } from '../protocols/model-address.js';
import { openAiModelList } from '../protocols/models.js';
import { dashboardBalance } from '../protocols/openai/balance.js';
import { openAi } from '../protocols/openai/openai.js';
import { openAiModelRules } from '../protocols/openai/request.js';
import { NotSupported } from '../protocols/provider-queries.js';

/** What is asked for there is no endpoint. */
const isNone = (base: string): boolean => /^[^:/?#]*:\/\/[^/?#]*(\/v\d[a-z\d]*)?$/.test(base);
const wholeAddress =
  'the base URL of this type is the whole address of an endpoint, such as https://host/v1/chat/completions';

/** Its root, where the address is that of an endpoint. */
const rooted = <Asking extends { readonly base: string }>(asking: Asking): Asking => ({
  ...asking,
  base: asking.base.replace(/\/v1(?:\/.*)?$/, ''),
});

/** Any server that speaks OpenAI's language; the base URL is the whole address, so it serves one endpoint. */
export const custom: Provider = {
  ...usual,
  type: 8,
  name: 'Custom',
  defaultBaseUrl: '',
  defaultModels: [...openAiModels, ...openAiModerationModels],
  colour: 'pink',
  keyHint: 'API key',
  ...reportsBalance((asking) => dashboardBalance(rooted(asking))),
  modes: ['chat', 'completions', 'embeddings', ...soundModes],
  baseHint: (base) => (isNone(base.replace(/\/+$/, '')) ? wholeAddress : null),
  models(asking) {
    if (isNone(asking.base)) throw new NotSupported('baseUrl', wholeAddress);
    return openAiModelList(rooted(asking));
  },
  protocol: openAi({
    newerLimit: true,
    url: ({ base, model }) => withModel(base, model),
    edits: openAiModelRules,
    copiesReasoning: true,
  }),
};
