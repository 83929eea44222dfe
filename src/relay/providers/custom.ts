import { imageModes, type Mode, soundModes, usual } from '../../domain/channel/provider.js';
import { openAiModels, openAiModerationModels } from '../catalogue/openai-models.js';
import { NotConvertible, type Provider } from '../contracts/protocol.js';
import { reportsBalance } from '../protocols/balance.js';
import { withModel } from '../protocols/model-address.js';
import { openAiModelList } from '../protocols/models.js';
import { dashboardBalance } from '../protocols/openai/balance.js';
import { openAi } from '../protocols/openai/openai.js';
import { openAiModelRules } from '../protocols/openai/request.js';
import type { Edit, Target } from '../protocols/openai/variant.js';
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

/** Of these no body is one for another endpoint. `/rerank` without a version is also that of servers with words of theirs. */
const ownModes: readonly (readonly [RegExp, Mode])[] = [
  [/\/reranks?\/?([?#]|$)/, 'rerank'],
  [/\/moderations\/?([?#]|$)/, 'moderation'],
  [/\/images\/generations\/?([?#]|$)/, 'image-generation'],
  [/\/images\/edits\/?([?#]|$)/, 'image-edit'],
  [/\/realtime\/?([?#]|$)/, 'realtime'],
];
const modeAt = (base: string): Mode | null => ownModes.find(([pattern]) => pattern.test(base))?.[1] ?? null;

const lacksOwn = (mode: Mode, base: string): boolean => {
  const own = modeAt(base);
  return own === null ? ownModes.some(([, one]) => one === mode) : own !== mode;
};

/**
 * Hugging Face's server for embeddings ranks `texts` (https://huggingface.github.io/text-embeddings-inference), at an
 * address that others have, too: each of them passes over what is the other's.
 */
const forEitherServer: Edit = (body, { base, caller }) =>
  caller.mode === 'rerank' && /^[^:/?#]*:\/\/[^/?#]*\/rerank\/?([?#]|$)/.test(base) && body.texts === undefined
    ? { ...body, texts: body.documents ?? null }
    : body;

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
  modes: [
    'chat',
    'completions',
    'responses',
    'embeddings',
    ...soundModes,
    ...imageModes,
    'rerank',
    'moderation',
    'realtime',
    'task',
  ],
  modeAt,
  lacks: (mode, base) =>
    lacksOwn(mode, base) || (mode === 'responses' && isOfChat(base)) || (mode === 'task' && !isOfVideos(base)),
  responsesAlone: isOfResponses,
  baseHint: (base) => (isNone(base.replace(/\/+$/, '')) ? wholeAddress : null),
  models(queries) {
    if (isNone(queries.base)) throw new NotSupported('baseUrl', wholeAddress);
    return openAiModelList(rooted(queries));
  },
  protocol: openAi({
    newerLimit: true,
    url,
    edits: [...openAiModelRules, forEitherServer],
    copiesReasoning: true,
  }),
  ...openAiVideos({
    collection: ({ baseUrl }) => baseUrl,
    headers: ({ key }) => ({ authorization: `Bearer ${key.trim()}` }),
  }),
};
