import type { OpenAiVariant } from '../openai/variant.js';
import { refuseFurther, refuseMore, sizeAsked } from './image-order.js';
import type { ImageWire } from './image-wire.js';

/** Pictures at Qianfan, by their addresses: https://cloud.baidu.com/doc/qianfan-api/s/8m7u6un8a */
export const qianfanImages = (variant: Pick<OpenAiVariant, 'authorize'>): ImageWire => ({
  ...variant,
  url: ({ base }) => `${base}/v2/images/generations`,
  body(order) {
    refuseFurther(order, []);
    refuseMore(order, 4);
    const { prompt, n, user } = order.request;
    const size = sizeAsked(order);
    return { prompt, n, ...(size !== null && { size }), ...(user !== undefined && { user }) };
  },
});
