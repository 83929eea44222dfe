import type { JsonObject } from '../../json/json.js';
import type { OpenAiVariant } from '../openai/variant.js';
import { type ImageOrder, refuseFurther, refuseMore, refuseMoreSources, sizeAsked } from './image-order.js';
import type { ImageWire } from './image-wire.js';

/*
 * Pictures at Qianfan, by their addresses: https://cloud.baidu.com/doc/qianfan-api/s/8m7u6un8a. Those that are changed go
 * to an address of their own, beside the words in JSON.
 */

const isQwen = (model: string): boolean => /^qwen-image/.test(model);

/** Its oldest model for changes must be told which of its features is meant. */
const isIrag = (model: string): boolean => /irag-edit/.test(model);

/** Throws NotConvertible. */
function sourcesIn(order: ImageOrder, model: string): JsonObject {
  refuseMoreSources(order, isQwen(model) ? 3 : 1);
  const [only, ...others] = order.sources;
  if (only === undefined) return {};
  return { image: others.length === 0 ? only : [...order.sources], ...(isIrag(model) && { feature: 'variation' }) };
}

export const qianfanImages = (variant: Pick<OpenAiVariant, 'authorize'>): ImageWire => ({
  ...variant,
  url: ({ base, caller }) => `${base}/v2/images/${caller.mode === 'image-edit' ? 'edits' : 'generations'}`,
  body(order, { model }) {
    refuseFurther(order, isQwen(model) ? ['negative_prompt', 'seed'] : []);
    refuseMore(order, 4);
    const { prompt, n, user, negative_prompt, seed } = order.request;
    const size = sizeAsked(order);
    return {
      ...{ prompt, n },
      ...(size !== null && { size }),
      ...(negative_prompt !== undefined && { negative_prompt }),
      ...(seed !== undefined && { seed }),
      ...(user !== undefined && { user }),
      ...sourcesIn(order, model),
    };
  },
});
