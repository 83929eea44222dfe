import { type AnswerInput, type FailedAnswer, NotConvertible } from '../../contracts/protocol.js';
import { isObject, type JsonObject, objectsIn, textIn } from '../../json/json.js';
import { asUpstreamError, reportedFailure, statusOf, unreadableAnswer } from '../../upstream/upstream-error.js';
import { confidentialOf } from '../confidential-of.js';
import { pathSegment } from '../model-address.js';
import { hasPicture } from '../openai/images.js';
import type { Target } from '../openai/variant.js';
import { baseOf, noThinking } from '../request-builder.js';
import { type ImageOrder, refuseFurther, refuseMore, refuseMoreSources, sizeAsked } from './image-order.js';
import type { ImageWire } from './image-wire.js';

/*
 * Pictures at DashScope. The newer models answer a conversation with pictures
 * (https://help.aliyun.com/en/model-studio/qwen-image-api); the older ones take an order, and are asked for it till it is at
 * its end (https://www.alibabacloud.com/help/en/model-studio/text-to-image-v2-api-reference).
 */

type Interface = 'conversation' | 'text2image' | 'image2image';

const takesOrders = /^(wanx|wan2\.[0-5]-|flux|stable-diffusion)/;
const changesPictures = /i2i|imageedit/;

function interfaceOf(model: string): Interface {
  if (!takesOrders.test(model)) return 'conversation';
  return changesPictures.test(model) ? 'image2image' : 'text2image';
}

const services: Readonly<Record<Interface, string>> = {
  conversation: 'multimodal-generation/generation',
  text2image: 'text2image/image-synthesis',
  image2image: 'image2image/image-synthesis',
};

/** Some refuse a number, and make one. */
function mostOf(model: string): number {
  if (/^(qwen-image-(2|3|edit-(plus|max)))/.test(model)) return 6;
  return /^(qwen-image|z-image)/.test(model) ? 1 : 4;
}

const changedBy = (model: string): number => (model.startsWith('wanx') ? 1 : 3);

/** The oldest is told what is to be done; the others read it in the prompt. */
function changeOrdered(model: string, { request: { prompt }, sources, mask }: ImageOrder): JsonObject {
  if (!model.startsWith('wanx')) return { prompt, images: sources };
  return {
    function: mask === null ? 'description_edit' : 'description_edit_with_mask',
    prompt,
    base_image_url: sources[0] ?? null,
    ...(mask !== null && { mask_image_url: mask }),
  };
}

/** Throws NotConvertible. */
function inputOf(model: string, order: ImageOrder): JsonObject {
  const { request, sources } = order;
  const { prompt, negative_prompt } = request;
  const refused = negative_prompt === undefined ? {} : { negative_prompt };
  switch (interfaceOf(model)) {
    case 'conversation':
      return { messages: [{ role: 'user', content: [...sources.map((image) => ({ image })), { text: prompt }] }] };
    case 'image2image':
      if (sources.length === 0)
        throw new NotConvertible('caller', 'image: this model makes pictures of pictures alone');
      return { ...changeOrdered(model, order), ...refused };
    case 'text2image':
      if (sources.length > 0) throw new NotConvertible('caller', 'image: this model makes pictures of a text alone');
      return { prompt, ...refused };
  }
}

function body(order: ImageOrder, { model }: Target): JsonObject {
  const takesMask = interfaceOf(model) === 'image2image' && model.startsWith('wanx');
  refuseFurther(order, ['negative_prompt', 'seed', ...(takesMask ? ['mask'] : [])]);
  refuseMore(order, mostOf(model));
  refuseMoreSources(order, changedBy(model));
  const { n, seed, negative_prompt } = order.request;
  const size = sizeAsked(order);
  return {
    input: inputOf(model, order),
    parameters: {
      // Some make four where none is named.
      n,
      ...(size !== null && { size: size.replace('x', '*') }),
      ...(seed !== undefined && { seed }),
      ...(interfaceOf(model) === 'conversation' && negative_prompt !== undefined && { negative_prompt }),
    },
  };
}

/** Milliseconds between two questions. */
const askAfterMs = 1_500;
const taskId = /^[\w-]{1,128}$/;
const underWay: ReadonlySet<string> = new Set(['PENDING', 'RUNNING', 'SUSPENDED']);
const atItsEnd: ReadonlySet<string> = new Set(['FAILED', 'CANCELED']);

/** An order that is at its end without a picture. `reported`: what says why. */
function failed(reported: JsonObject, { provider, channel }: AnswerInput): FailedAnswer {
  const failure = reportedFailure(reported);
  const error = asUpstreamError(failure, statusOf(failure), confidentialOf(provider, channel));
  return { ok: false, error, orderFailed: true };
}

/** null: there are pictures in it. One that is done without any may have cost something, unless it says why. */
function finished(output: JsonObject, answered: AnswerInput): FailedAnswer | null {
  if (pictures({ output }).some(hasPicture)) return null;
  const reason = objectsIn(output.results).find((result) => {
    const { message, code } = reportedFailure(result);
    return message !== null || code !== null;
  });
  if (reason !== undefined) return failed(reason, answered);
  const error = unreadableAnswer('the upstream has finished what was ordered, without a picture in it');
  return { ok: false, error, orderFailed: true, costUnknown: true };
}

/** An order that was taken, has failed, or of which nothing can be told; null: it is done, or there is none. */
function order({ output }: JsonObject, answered: AnswerInput): FailedAnswer | null {
  const { provider, channel, info } = answered;
  const status = isObject(output) ? textIn(output.task_status) : null;
  if (!isObject(output) || status === null) return null;
  if (status === 'SUCCEEDED') return finished(output, answered);
  if (atItsEnd.has(status)) return failed(output, answered);
  const id = textIn(output.task_id) ?? '';
  if (!underWay.has(status) || !taskId.test(id))
    return { ok: false, error: unreadableAnswer('the upstream does not know what it has ordered'), costUnknown: true };
  return {
    ok: false,
    error: unreadableAnswer('the upstream has not finished what was ordered'),
    costUnknown: true,
    later: {
      afterMs: askAfterMs,
      request: {
        ...noThinking,
        method: 'GET',
        url: `${baseOf(provider, channel)}/api/v1/tasks/${pathSegment(id)}`,
        headers: { accept: 'application/json', authorization: `Bearer ${channel.key.trim()}` },
        content: { kind: 'none' },
        model: info.model,
      },
    },
  };
}

/** Of a conversation, what its answers show; of an order, its results, of which some may have failed. */
function pictures({ output }: JsonObject): JsonObject[] {
  if (!isObject(output)) return [];
  const shown = objectsIn(output.choices).flatMap(({ message }) =>
    isObject(message) ? objectsIn(message.content).flatMap(({ image }) => (textIn(image) ? [{ url: image }] : [])) : [],
  );
  if (shown.length > 0) return shown;
  return objectsIn(output.results).map(({ b64_image: data, orig_prompt: _, actual_prompt: revised, ...result }) => ({
    ...result,
    ...(textIn(data) !== null && { b64_json: data }),
    ...(textIn(revised) !== null && { revised_prompt: revised }),
  }));
}

export const dashscopeImages: ImageWire = {
  url: ({ base, model }) => `${base}/api/v1/services/aigc/${services[interfaceOf(model)]}`,
  headers: ({ model }): Record<string, string> =>
    interfaceOf(model) === 'conversation' ? {} : { 'x-dashscope-async': 'enable' },
  body,
  order,
  pictures,
};
