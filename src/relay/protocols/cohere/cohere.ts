import type { Mode } from '../../../domain/channel/provider.js';
import type { Protocol } from '../../contracts/protocol.js';
import { objectsIn, textIn } from '../../json/json.js';
import { reportedFailure, statusOf } from '../../upstream/upstream-error.js';
import { inPages, type ModelsWire } from '../models.js';
import { openAi } from '../openai/openai.js';
import { urlAt } from '../openai/request.js';
import type { OpenAiVariant } from '../openai/variant.js';
import { NotUnderstood } from '../provider-queries.js';
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
const endpoints: Partial<Record<Mode, string>> = { chat: 'chat', embeddings: 'embed', rerank: 'rerank' };

/** Models that have an interface of one of these modes. */
export const cohereModels =
  (modes: readonly Mode[]): ModelsWire =>
  ({ base, json }) => {
    const wanted = new Set(modes.flatMap((mode) => endpoints[mode] ?? []));
    return inPages('', async (token) => {
      const behind = token === '' ? '' : `&page_token=${encodeURIComponent(token)}`;
      const { models, next_page_token: next } = await json(`${base}/v1/models?page_size=1000${behind}`);
      if (!Array.isArray(models) && models !== null) throw new NotUnderstood('the answer has no list as models');
      const names = objectsIn(models).flatMap(({ name, endpoints: has }) => {
        const known = Array.isArray(has) ? has : null;
        return known === null || known.some((one) => wanted.has(String(one))) ? (textIn(name) ?? []) : [];
      });
      return { names, next: textIn(next) };
    });
  };

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
