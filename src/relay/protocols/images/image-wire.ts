import { isImageMode } from '../../../domain/channel/provider.js';
import { maxImages } from '../../contracts/image-request.js';
import type {
  Answer,
  AnswerInput,
  NamedPictures,
  Protocol,
  RequestInput,
  UpstreamRequest,
} from '../../contracts/protocol.js';
import { isObject, type JsonObject, objectsIn, textIn } from '../../json/json.js';
import { bytesToParse } from '../../json/long-texts.js';
import type { Confidential } from '../../upstream/confidential.js';
import { type FormFile, formContent, type RequestContent } from '../../upstream/request-content.js';
import { asUpstreamError, reportedFailure, statusOf, type UpstreamError } from '../../upstream/upstream-error.js';
import { confidentialOf } from '../confidential-of.js';
import { formParts } from '../form-parts.js';
import { hasPicture, pictured } from '../openai/images.js';
import { missingAnswer, reportedBody } from '../openai/reported-body.js';
import { postOf } from '../openai/request.js';
import type { OpenAiVariant, Target } from '../openai/variant.js';
import { overriddenPictures } from '../picture-override.js';
import { baseOf, noThinking, written } from '../request-builder.js';
import { noPicture } from '../says-something.js';
import { type ImageOrder, imageOrder, wantsInline } from './image-order.js';

/* Pictures of vendors that are asked for them in JSON with names of its own, and answer with a list of them. */

export interface ImageWire extends Pick<OpenAiVariant, 'authorize' | 'headers' | 'failure'> {
  readonly url: (target: Target) => string;
  /** In the vendor's words, without the model. Throws NotConvertible. */
  readonly body: (order: ImageOrder, target: Target) => JsonObject;
  /** What is sent in a form beside the body; null: nothing, and the body is JSON. Left out: it always is. */
  readonly files?: (order: ImageOrder, target: Target) => readonly FormFile[] | null;
  /** What came, in OpenAI's words: of each picture an address, or the picture in base64. Left out: it is in these. */
  readonly pictures?: (reported: JsonObject, answered: AnswerInput) => readonly JsonObject[];
  /** What a success can be beside pictures: an order that was taken, or one that has failed. Left out: nothing. */
  readonly order?: (reported: JsonObject, answered: AnswerInput) => Extract<Answer, { ok: false }> | null;
}

/** The address of a form names the model. */
function contentOf({ model, ...fields }: JsonObject, files: readonly FormFile[] | null): RequestContent {
  if (files !== null) return formContent(formParts(fields, files));
  return { kind: 'json', text: written({ ...(model !== undefined && { model }), ...fields }) };
}

/** Throws NotConvertible. */
export function imageRequest(
  wire: ImageWire,
  { provider, channel, caller, model, options }: RequestInput,
): UpstreamRequest {
  const target: Target = { base: baseOf(provider, channel), model, channel, caller, options };
  const override = options.passThrough ? null : channel.paramOverride;
  const order = imageOrder(caller);
  const body = overriddenPictures({ model, ...wire.body(order, target) }, override ?? {});
  const sent = textIn(body.model) ?? model;
  const files = wire.files?.(order, target) ?? null;
  const post = postOf(wire, { ...target, model: sent }, contentOf(body, files));
  // Events are written here, whoever asks for them.
  return { ...noThinking, ...post, headers: { ...post.headers, accept: 'application/json' } };
}

/** Why a picture is not there, where its place in the list says so; null: it does not. */
function faultIn(items: readonly JsonObject[], confidential: Confidential): UpstreamError | null {
  for (const item of items) {
    const failure = reportedFailure(isObject(item.error) ? { error: item.error } : item);
    if (failure.message !== null || failure.code !== null)
      return asUpstreamError(failure, statusOf(failure), confidential);
  }
  return null;
}

/** Members of a picture that callers know. */
const shown = ({ b64_json, url, revised_prompt }: JsonObject): JsonObject => ({
  ...(textIn(b64_json) === null ? { url: url ?? null } : { b64_json: b64_json ?? null }),
  ...(textIn(revised_prompt) !== null && { revised_prompt: revised_prompt ?? null }),
});

const isAddress = (url: unknown): url is string => typeof url === 'string' && /^https?:\/\//i.test(url);

/** Those whose address alone is known are put into the answer, as far as they can be fetched. null: none is. */
function namedIn(body: JsonObject): NamedPictures | null {
  const addresses = objectsIn(body.data).flatMap(({ url }) => (isAddress(url) ? [url] : []));
  if (addresses.length === 0) return null;
  return {
    addresses,
    inlined: (fetched) => ({
      ...body,
      data: objectsIn(body.data).map(({ url, ...picture }) => {
        const found = fetched.get(textIn(url) ?? '');
        if (found !== undefined) return { b64_json: found.data, ...picture };
        return url === undefined ? picture : { url, ...picture };
      }),
    }),
  };
}

/** Pictures of a whole answer in neutral words. `items`: what came, in OpenAI's names. */
export function imagesOf(items: readonly JsonObject[], answered: AnswerInput): Answer {
  const { provider, channel, caller, body: received, info } = answered;
  const came = items.filter(hasPicture).slice(0, maxImages);
  if (came.length === 0) {
    const error = faultIn(items, confidentialOf(provider, channel));
    return error === null ? noPicture : { ok: false, error };
  }
  const body: JsonObject = { created: info.createdAt, data: came.map(shown) };
  const named = wantsInline(caller) ? namedIn(body) : null;
  return {
    ok: true,
    body,
    received,
    untouched: false,
    usage: { images: came.length },
    generated: pictured(),
    ...(named !== null && { named }),
  };
}

export function imageAnswer(wire: ImageWire, answered: AnswerInput): Answer {
  const got = reportedBody(wire, { ...answered, body: bytesToParse(answered.body, answered.caller.stream) });
  if (!got.ok) return got;
  const ordered = wire.order?.(got.reported, answered) ?? null;
  if (ordered !== null) return ordered;
  const items = wire.pictures?.(got.reported, answered) ?? objectsIn(got.reported.data);
  return items.length === 0 ? missingAnswer(got.reported, answered) : imagesOf(items, answered);
}

/** A family's wire, with pictures in words of their own. */
export const withImages = (family: Protocol, wire: ImageWire): Protocol => ({
  ...family,
  request: (asked) => (isImageMode(asked.caller.mode) ? imageRequest(wire, asked) : family.request(asked)),
  answer: (answered) => (isImageMode(answered.caller.mode) ? imageAnswer(wire, answered) : family.answer(answered)),
});
