import { objectsIn } from '../../json/json.js';
import { refuseFurther, refuseMore, refuseMoreSources, sizeAsked } from './image-order.js';
import type { ImageWire } from './image-wire.js';

/*
 * Pictures at SiliconCloud, made and changed at one address: https://docs.siliconflow.cn/cn/api-reference/images/images-generations.
 * It answers with addresses that hold for an hour.
 */

/** Several at a time: https://docs.siliconflow.cn has that of few models. */
const mostAtOnce = (model: string): number => (/kolors|stable-diffusion|sdxl|sd-turbo/i.test(model) ? 4 : 1);

/** They make a picture as large as the one they go by. */
const takesSize = (model: string): boolean => !/image-edit/i.test(model);

/** It has no size that it chooses by itself. */
const usualSize = (model: string): string => (/qwen-image/i.test(model) ? '1328x1328' : '1024x1024');

export const siliconcloudImages: ImageWire = {
  url: ({ base }) => `${base}/v1/images/generations`,
  body(order, { model }) {
    refuseFurther(order, ['negative_prompt', 'seed']);
    refuseMore(order, mostAtOnce(model));
    refuseMoreSources(order, 3);
    const { prompt, n, negative_prompt, seed } = order.request;
    const [image, image2, image3] = order.sources;
    return {
      prompt,
      ...(takesSize(model) && { image_size: sizeAsked(order) ?? usualSize(model) }),
      ...(n > 1 && { batch_size: n }),
      ...(negative_prompt !== undefined && { negative_prompt }),
      ...(seed !== undefined && { seed }),
      ...(image !== undefined && { image }),
      ...(image2 !== undefined && { image2 }),
      ...(image3 !== undefined && { image3 }),
    };
  },
  /** Newer answers have the list under two names. */
  pictures: ({ images, data }) => (objectsIn(data).length > 0 ? objectsIn(data) : objectsIn(images)),
};
