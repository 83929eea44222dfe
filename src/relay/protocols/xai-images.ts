import type { ImageEditRequest, ImageRequest } from '../contracts/image-request.js';
import { NotConvertible, type RequestInput, type UpstreamRequest } from '../contracts/protocol.js';
import type { JsonObject } from '../json/json.js';
import { overriddenPictures } from './picture-override.js';
import { baseOf, neutralAs, noThinking, written } from './request-builder.js';
import { sourcePictures } from './source-pictures.js';

/*
 * Pictures of xAI's: https://docs.x.ai/developers/model-capabilities/images/generation. A shape and a resolution take the
 * place of the size, and pictures to go by stand in JSON. Answers are OpenAI's.
 */

/** By width over height. */
const shapes = [
  ...['1:1', '3:4', '4:3', '9:16', '16:9', '2:3', '3:2'],
  ...['9:19.5', '19.5:9', '9:20', '20:9', '1:2', '2:1'],
].map((name) => {
  const [width = 1, height = 1] = name.split(':').map(Number);
  return { name, ratio: Math.log(width / height) };
});

/** Longer sides are of the larger of two resolutions. */
const longestOfSmall = 1536;
const maxSources = 3;

function shapeOf(size: string): JsonObject {
  const [width, height] = size.split('x').map(Number);
  if (!width || !height) return {};
  const ratio = Math.log(width / height);
  const [first, ...others] = shapes;
  if (first === undefined) return {};
  const nearest = others.reduce(
    (best, one) => (Math.abs(one.ratio - ratio) < Math.abs(best.ratio - ratio) ? one : best),
    first,
  );
  return { aspect_ratio: nearest.name, resolution: Math.max(width, height) > longestOfSmall ? '2k' : '1k' };
}

/** Nothing there takes them, and a picture without them is another. */
const refused = [
  ...['style', 'background', 'output_format', 'output_compression', 'negative_prompt', 'seed'],
  ...['input_fidelity', 'complexity'],
] as const;

/** As much as is left to the model in any case. */
const isUsual = (name: string, value: unknown): boolean => name === 'background' && value === 'auto';

function checkMembers(order: ImageRequest): void {
  const name = refused.find((member) => order[member] !== undefined && !isUsual(member, order[member]));
  if (name !== undefined) throw new NotConvertible('caller', `${name} is not taken by pictures of this provider`);
  if (order.partial_images > 0)
    throw new NotConvertible('caller', 'partial_images must be 0: this provider sends no pictures that are being made');
}

function sourcesIn(order: ImageEditRequest, asked: RequestInput): JsonObject {
  const { images, mask } = sourcePictures(order, asked.caller);
  if (mask !== null) throw new NotConvertible('caller', 'mask is not taken by pictures of this provider');
  if (images.length > maxSources) throw new NotConvertible('caller', `there must be at most ${maxSources} pictures`);
  const all = images.map((url) => ({ url, type: 'image_url' }));
  const [only] = all;
  return all.length === 1 && only !== undefined ? { image: only } : { images: all };
}

/** Throws NotConvertible. */
export function xaiImageRequest(asked: RequestInput): UpstreamRequest {
  const { provider, channel, caller, model } = asked;
  const edits = caller.mode === 'image-edit';
  const order: ImageRequest = edits ? neutralAs(caller, 'image-edit') : neutralAs(caller, 'image-generation');
  checkMembers(order);
  const { prompt, n, size, quality, response_format, user } = order;
  const body: JsonObject = {
    ...{ model, prompt, n },
    ...shapeOf(size),
    ...(quality !== 'auto' && { quality }),
    ...(response_format !== undefined && { response_format }),
    ...(user !== undefined && { user }),
    ...(edits && sourcesIn(neutralAs(caller, 'image-edit'), asked)),
  };
  return {
    method: 'POST',
    url: `${baseOf(provider, channel)}/v1/images/${edits ? 'edits' : 'generations'}`,
    headers: {
      ...{ 'content-type': 'application/json', accept: 'application/json' },
      authorization: `Bearer ${channel.key.trim()}`,
    },
    content: { kind: 'json', text: written(overriddenPictures(body, channel.paramOverride ?? {})) },
    model,
    ...noThinking,
  };
}
