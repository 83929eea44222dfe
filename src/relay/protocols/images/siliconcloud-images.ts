import { type JsonObject, objectsIn } from '../../json/json.js';
import {
  type ImageOrder,
  nearestRatio,
  refuseFurther,
  refuseMore,
  refuseMoreSources,
  sizeAsked,
} from './image-order.js';
import type { ImageWire } from './image-wire.js';

/*
 * Pictures at SiliconCloud, made and changed at one address: https://docs.siliconflow.cn/cn/api-reference/images/images-generations.
 * It answers with addresses that hold for an hour.
 */

/** Several at a time: https://docs.siliconflow.cn has that of few models. */
const mostAtOnce = (model: string): number => (/kolors|stable-diffusion|sdxl|sd-turbo/i.test(model) ? 4 : 1);

/** They make a picture as large as the one they go by. */
const takesSize = (model: string): boolean => !/image-edit|kontext-dev/i.test(model);

/** It has no size that it chooses by itself. */
const usualSize = (model: string): string => (/qwen-image/i.test(model) ? '1328x1328' : '1024x1024');

/** They have shapes instead of sizes, and another name for the picture to go by; one of the family has neither. */
const isKontext = (model: string): boolean => /flux\.1-kontext-(pro|max)/i.test(model);
const shapesOfKontext = ['21:9', '16:9', '4:3', '3:2', '1:1', '2:3', '3:4', '9:16', '9:21'];

/** Others of that family take one as a hint of what the picture is like. */
const takesHint = (model: string): boolean => /flux-1\.1-pro/i.test(model);

/** Throws NotConvertible. */
function sourcesIn(order: ImageOrder, model: string): JsonObject {
  const own = isKontext(model) ? 'input_image' : takesHint(model) ? 'image_prompt' : null;
  refuseMoreSources(order, own === null ? 3 : 1);
  const [image, image2, image3] = order.sources;
  if (image === undefined) return {};
  if (own !== null) return { [own]: image };
  return { image, ...(image2 !== undefined && { image2 }), ...(image3 !== undefined && { image3 }) };
}

function sizeIn(order: ImageOrder, model: string): JsonObject {
  if (isKontext(model)) {
    const shape = nearestRatio(shapesOfKontext, order);
    return shape === null ? {} : { aspect_ratio: shape };
  }
  return takesSize(model) ? { image_size: sizeAsked(order) ?? usualSize(model) } : {};
}

export const siliconcloudImages: ImageWire = {
  url: ({ base }) => `${base}/v1/images/generations`,
  body(order, { model }) {
    refuseFurther(order, ['negative_prompt', 'seed']);
    refuseMore(order, mostAtOnce(model));
    const { prompt, n, negative_prompt, seed } = order.request;
    return {
      prompt,
      ...sizeIn(order, model),
      ...(n > 1 && { batch_size: n }),
      ...(negative_prompt !== undefined && { negative_prompt }),
      ...(seed !== undefined && { seed }),
      ...sourcesIn(order, model),
    };
  },
  /** Newer answers have the list under two names. */
  pictures: ({ images, data }) => (objectsIn(data).length > 0 ? objectsIn(data) : objectsIn(images)),
};
