import { soundModes, usual } from '../../domain/channel/provider.js';
import { openAiModels, openAiModerationModels } from '../catalogue/openai-models.js';
import { NotConvertible, type Provider } from '../contracts/protocol.js';
import { reportsBalance } from '../protocols/balance.js';
import { withModel } from '../protocols/model-address.js';
import { openAiModelList } from '../protocols/models.js';
import { dashboardBalance } from '../protocols/openai/balance.js';
import { openAi } from '../protocols/openai/openai.js';
import { openAiModelRules } from '../protocols/openai/request.js';
import type { Target } from '../protocols/openai/variant.js';
import { NotSupported } from '../protocols/provider-queries.js';
import { openAiVideos } from '../protocols/video/openai-videos.js';

/** What is asked for there is no endpoint. */
const isNone = (base: string): boolean => /^[^:/?#]*:\/\/[^/?#]*(\/v\d[a-z\d]*)?$/.test(base);
const wholeAddress =
  'the base URL of this type is the whole address of an endpoint, such as https://host/v1/chat/completions';

/** Its root, where the address is that of an endpoint. */
const rooted = <Queries extends { readonly base: string }>(queries: Queries): Queries => ({
  ...queries,
  base: queries.base.replace(/\/v1(?:\/.*)?$/, ''),
});

/** An address of something else takes no Responses, and would be sent one all the same. */
const isOfOthers = (base: string): boolean =>
  /\/(completions|embeddings|speech|transcriptions|translations)\/?([?#]|$)/.test(base);

const isOfVideos = (base: string): boolean => /\/videos\/?([?#]|$)/.test(base);
const isOfChat = (base: string): boolean => /\/chat\/completions\/?([?#]|$)/.test(base);
const isOfResponses = (base: string): boolean => /\/responses([?#]|$)/.test(base);

function url({ base, model, caller }: Target): string {
  if (caller.mode === 'responses' && isOfOthers(base))
    throw new NotConvertible(
      'channel',
      'the base URL of this channel is the address of another endpoint than Responses',
    );
  return withModel(base, model);
}

/** Any server that speaks OpenAI's language; the base URL is the whole address, so it serves one endpoint. */
export const custom: Provider = {
  ...usual,
  type: 8,
  name: 'Custom',
  defaultBaseUrl: '',
  defaultModels: [...openAiModels, ...openAiModerationModels],
  colour: 'pink',
  keyHint: 'API key',
  ...reportsBalance((queries) => dashboardBalance(rooted(queries))),
  modes: ['chat', 'completions', 'responses', 'embeddings', ...soundModes, 'task'],
  lacks: (mode, base) => (mode === 'responses' && isOfChat(base)) || (mode === 'task' && !isOfVideos(base)),
  responsesAlone: isOfResponses,
  baseHint: (base) => (isNone(base.replace(/\/+$/, '')) ? wholeAddress : null),
  models(queries) {
    if (isNone(queries.base)) throw new NotSupported('baseUrl', wholeAddress);
    return openAiModelList(rooted(queries));
  },
  protocol: openAi({
    newerLimit: true,
    url,
    edits: openAiModelRules,
    copiesReasoning: true,
  }),
  ...openAiVideos({
    collection: ({ baseUrl }) => baseUrl,
    headers: ({ key }) => ({ authorization: `Bearer ${key.trim()}` }),
  }),
};
