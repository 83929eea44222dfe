import { NotConvertible } from '../../contracts/protocol.js';
import type { JsonObject } from '../../json/json.js';
import { refuseFurther, refuseMore, refuseMoreSources, sizeAsked, wantsInline } from './image-order.js';
import type { ImageWire } from './image-wire.js';

/*
 * Seedream at Volcano Ark: https://www.volcengine.com/docs/82379/1541523. Several pictures are a group that the model may
 * end before it is full. One that was refused stands in the list as an error.
 */

/** The older ones make one picture a call. */
const drawsGroups = (model: string): boolean => !/-3-0-|seededit/.test(model);

/** Pictures to go by and those that are made, together. */
const mostTogether = 15;
const mostSources = 14;

const takesFormat = (model: string): boolean => !/-(3-0|4-0|4-5)-/.test(model);

function formatOf(model: string, format: string | undefined): JsonObject {
  if (format === undefined || (format === 'jpeg' && !takesFormat(model))) return {};
  if (!takesFormat(model)) throw new NotConvertible('caller', 'output_format must be jpeg: this model makes no others');
  if (format !== 'png' && format !== 'jpeg')
    throw new NotConvertible('caller', 'output_format must be png or jpeg here');
  return { output_format: format };
}

export const arkImages: ImageWire = {
  url: ({ base }) => `${base}/api/v3/images/generations`,
  body(order, { model, caller }) {
    refuseFurther(order, ['output_format', 'seed']);
    if (!drawsGroups(model)) refuseMore(order, 1);
    refuseMoreSources(order, drawsGroups(model) ? mostSources : 1);
    const { sources } = order;
    const { prompt, n, seed, output_format: format } = order.request;
    if (n > 1 && n + sources.length > mostTogether)
      throw new NotConvertible('caller', `n: pictures made and pictures to go by must be ${mostTogether} at most`);
    const size = sizeAsked(order);
    return {
      prompt,
      ...(size !== null && { size }),
      ...(sources.length > 0 && { image: sources.length === 1 ? (sources[0] ?? null) : sources }),
      ...(n > 1 && { sequential_image_generation: 'auto', sequential_image_generation_options: { max_images: n } }),
      ...(seed !== undefined && { seed }),
      ...formatOf(model, format),
      response_format: wantsInline(caller) ? 'b64_json' : 'url',
    };
  },
};
