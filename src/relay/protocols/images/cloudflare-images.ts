import { type Answer, type AnswerInput, NotConvertible } from '../../contracts/protocol.js';
import { isObject, textIn } from '../../json/json.js';
import type { OpenAiVariant, Target } from '../openai/variant.js';
import { sourceFiles } from '../source-pictures.js';
import { refuseFurther, refuseMore, refuseMoreSources, refuseSources, sizeAsked } from './image-order.js';
import { type ImageWire, imageAnswer } from './image-wire.js';

/*
 * Pictures at Cloudflare, each asked of the model itself: https://developers.cloudflare.com/workers-ai/models/. Some answer
 * with base64 in JSON, others with the picture. None has an address.
 */

/** One size is all that it makes. */
const hasOneSize = (model: string): boolean => /flux-1-schnell/.test(model);
const onlySize = '1024x1024';

/** They know what is not to be in a picture. */
const takesRefused = (model: string): boolean => /stable-diffusion|dreamshaper|phoenix/.test(model);

/**
 * They make pictures and change them, and are asked in forms alone.
 * https://developers.cloudflare.com/changelog/2026-01-28-flux-2-klein-9b-workers-ai/
 */
export const takesForms = (model: string): boolean => /flux-2-/.test(model);
const mostSources = 4;

const openingBrace = 0x7b;

const isPicture = ({ status, headers, body }: AnswerInput): boolean =>
  status < 300 && /^image\//i.test(headers['content-type'] ?? '') && body.length > 0 && body[0] !== openingBrace;

/** As the models have it that answer in JSON. */
const asJson = (picture: Buffer): Buffer => Buffer.from(`{"image":"${picture.toString('base64')}"}`, 'latin1');

export const cloudflareImages = (
  failure: OpenAiVariant['failure'],
  url: (target: Target) => string,
): ImageWire & { readonly answer: (answered: AnswerInput) => Answer } => {
  const wire: ImageWire = {
    ...(failure && { failure }),
    url,
    body(order, { model }) {
      refuseFurther(order, takesRefused(model) ? ['seed', 'negative_prompt'] : ['seed']);
      refuseMore(order, 1);
      if (takesForms(model)) refuseMoreSources(order, mostSources);
      else refuseSources(order);
      const { prompt, seed, negative_prompt } = order.request;
      const size = sizeAsked(order);
      if (hasOneSize(model) && size !== null && size !== onlySize)
        throw new NotConvertible('caller', `size must be ${onlySize} for this model`);
      const [width, height] = size === null || hasOneSize(model) ? [] : size.split('x').map(Number);
      return {
        prompt,
        ...(width !== undefined && height !== undefined && { width, height }),
        ...(seed !== undefined && { seed }),
        ...(negative_prompt !== undefined && { negative_prompt }),
      };
    },
    files: ({ sources }, { model, options }) =>
      takesForms(model) ? sourceFiles(sources, options, (at) => `input_image_${at}`) : null,
    pictures({ result, image }) {
      const data = isObject(result) ? result.image : image;
      return textIn(data) === null ? [] : [{ b64_json: data ?? null }];
    },
  };
  return {
    ...wire,
    answer: (answered) =>
      imageAnswer(wire, isPicture(answered) ? { ...answered, body: asJson(answered.body) } : answered),
  };
};
