import type { OpenAiVariant, Target } from '../openai/variant.js';
import { refuseFurther, refuseMore, sizeAsked } from './image-order.js';
import type { ImageWire } from './image-wire.js';

/*
 * Pictures of Zhipu's, one a call, by their addresses: https://docs.bigmodel.cn/api-reference/模型-api/图像生成. Sizes are
 * for the vendor to judge: each model has a range of its own.
 */

/** One of them has no quality but the better. */
const qualityOf = (model: string, quality: string): 'hd' | 'standard' | null => {
  if (quality === 'auto') return null;
  return ['hd', 'high', 'xhigh', 'max'].includes(quality) || model.startsWith('glm-image') ? 'hd' : 'standard';
};

/** The vendor refuses shorter and longer ones. */
const isUserId = (user: string | undefined): user is string =>
  user !== undefined && user.length >= 6 && user.length <= 128;

export const zhipuImages = (
  variant: Pick<OpenAiVariant, 'authorize' | 'failure'>,
  url: (target: Target) => string,
): ImageWire => ({
  ...variant,
  url,
  body(order, { model }) {
    refuseFurther(order, []);
    refuseMore(order, 1);
    const { prompt, quality, user } = order.request;
    const size = sizeAsked(order);
    const known = qualityOf(model, quality);
    return {
      prompt,
      ...(size !== null && { size }),
      ...(known !== null && { quality: known }),
      ...(isUserId(user) && { user_id: user }),
    };
  },
});
