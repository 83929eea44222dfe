import type { Mode } from '../../../domain/channel/provider.js';
import type { Protocol } from '../../contracts/protocol.js';
import { textIn } from '../../json/json.js';
import { reportedFailure, statusOf } from '../../upstream/upstream-error.js';
import { inPages, listedModelsIn, type ModelsWire, modesIn } from '../models.js';
import { openAi } from '../openai/openai.js';
import { urlAt } from '../openai/request.js';
import type { OpenAiVariant } from '../openai/variant.js';
import { notServed } from '../request-builder.js';
import { cohereTranslator } from './answer.js';
import { cohereEmbed } from './embeddings.js';
import { cohereChat } from './request.js';
import { cohereRerank } from './rerank.js';

/* The second version of Cohere's interface. */

/** An answer has its message as an object; a failure has a text there. */
const failure: OpenAiVariant['failure'] = (body) => {
  const message = textIn(body.message);
  return message === null ? null : { status: statusOf(reportedFailure(body)), code: 'upstream_error', message };
};

/** What Cohere calls the interface of a mode, in its list of models. */
const endpoints: Readonly<Record<string, readonly Mode[]>> = {
  ...{ chat: ['chat'], embed: ['embeddings'], rerank: ['rerank'] },
};

/** Models that have an interface of one of these modes. */
export const cohereModels =
  (served: readonly Mode[]): ModelsWire =>
  ({ base, json }) =>
    inPages('', async (token) => {
      const behind = token === '' ? '' : `&page_token=${encodeURIComponent(token)}`;
      const reported = await json(`${base}/v1/models?page_size=1000${behind}`);
      const models = listedModelsIn(reported, {
        ...{ list: 'models', name: 'name' },
        modes: ({ endpoints: has }) => modesIn(has, endpoints),
      });
      return {
        models: models.filter(({ modes }) => modes === null || modes.some((mode) => served.includes(mode))),
        next: textIn(reported.next_page_token),
      };
    });

export const cohereWire: Protocol = openAi({
  url: urlAt({ chat: '/v2/chat', embeddings: '/v2/embed', rerank: '/v2/rerank' }),
  embedsForPurpose: true,
  replaysReasoning: true,
  reshape(body, target) {
    switch (target.caller.mode) {
      case 'chat':
        return cohereChat(body, target);
      case 'embeddings':
        return cohereEmbed(body, target);
      case 'rerank':
        return cohereRerank(body, target);
      default:
        throw notServed(target.caller.mode);
    }
  },
  failure,
  translator: cohereTranslator,
  isLast: ({ type }) => type === 'message-end',
});
