import { videoDefaults } from '../../../domain/models/video-defaults.js';
import { videoSecondsAt } from '../../../domain/pricing/video-resolution.js';
import type { InvalidMember } from '../../contracts/caller-dialect.js';
import type { Upload } from '../../contracts/upload.js';
import type { VideoOrder } from '../../contracts/video-object.js';
import { type VideoRequest, videoSize } from '../../contracts/video-request.js';
import { isObject, type JsonObject, memberNamesIn, textIn } from '../../json/json.js';
import {
  checkBytes,
  isGiven,
  maxSentPicture,
  pictureText,
  pictureTypes,
  textAt,
  Unfit,
  unfitOr,
  wholeAt,
} from './order-members.js';

/*
 * A video as it is ordered in OpenAI's words, or in those of the one-api family: JSON or the fields of a form. What is not
 * known is refused by its name: it might change what the video costs.
 */

const maxPrompt = 32_000;
const maxSeconds = 60;
const maxVideos = 4;
const maxSeed = 2 ** 32 - 1;

const ordered = [
  ...['model', 'prompt', 'seconds', 'size', 'input_reference', 'n', 'seed', 'negative_prompt', 'user'],
  ...['image', 'duration', 'width', 'height', 'response_format', 'metadata', 'group'],
];
const orderedNames: ReadonlySet<string> = new Set(ordered);
const metadataNames: ReadonlySet<string> = new Set(['negative_prompt', 'seed']);

/** Of two names for the same thing. */
function oneOf<Value>(name: string, value: Value | null, other: string, alike: Value | null): Value | null {
  if (value !== null && alike !== null && value !== alike)
    throw new Unfit(other, `${name} and ${other} say different things: send one of them`);
  return value ?? alike;
}

function sizeIn(body: JsonObject): string | null {
  const size = textAt(body, 'size', 16);
  const width = wholeAt(body, 'width', [16, 4096]);
  const height = wholeAt(body, 'height', [16, 4096]);
  if ((width === null) !== (height === null))
    throw new Unfit(width === null ? 'width' : 'height', 'width and height must be sent together');
  const bySides = width === null || height === null ? null : `${width}x${height}`;
  const found = oneOf('size', size, 'width', bySides);
  const sides = found === null ? null : videoSize(found);
  if (found !== null && (sides === null || videoSecondsAt(sides.width, sides.height) === null))
    throw new Unfit(
      size === null ? 'width' : 'size',
      'size must be a width and a height of at most 4096x2160, such as 1280x720',
    );
  return found;
}

function referenceIn(body: JsonObject): string | null {
  const { input_reference: reference } = body;
  if (!isGiven(reference)) return null;
  if (typeof reference === 'string') return pictureText(reference, 'input_reference');
  const address = isObject(reference) ? textIn(reference.image_url) : null;
  const [other] = isObject(reference) ? memberNamesIn(reference).filter((name) => name !== 'image_url') : [];
  if (other !== undefined)
    throw new Unfit(
      `input_reference.${other}`,
      `input_reference.${other} cannot be used through the gateway: send the picture as a file of a form, or as image_url`,
    );
  if (address === null)
    throw new Unfit('input_reference', 'input_reference must be a file of a form, or an object with image_url');
  return pictureText(address, 'input_reference.image_url');
}

function imageIn(body: JsonObject): string | null {
  const { image } = body;
  if (!isGiven(image)) return null;
  if (typeof image !== 'string') throw new Unfit('image', 'image must be a text: an address or a data URL');
  return pictureText(image, 'image');
}

function checkFiles(upload: Upload | null, image: string | null): void {
  const [file, another] = upload?.files ?? [];
  if (another !== undefined) throw new Unfit(another.name, 'the form must hold one file at most, as input_reference');
  if (file === undefined) return;
  if (file.name !== 'input_reference')
    throw new Unfit(file.name, 'the only file of the form must be named input_reference');
  if (image !== null) throw new Unfit('image', 'send one picture: as a file, or by its address');
  if (!pictureTypes.has(file.type))
    throw new Unfit('input_reference', `input_reference must be of type ${[...pictureTypes].join(', ')}`);
  if (file.bytes.length === 0 || file.bytes.length > maxSentPicture)
    throw new Unfit('input_reference', `input_reference must be a picture of 1 to ${maxSentPicture} bytes`);
  checkBytes(file.bytes, file.type, 'input_reference');
}

function metadataIn(body: JsonObject): JsonObject {
  const { metadata } = body;
  if (!isGiven(metadata)) return {};
  if (!isObject(metadata)) throw new Unfit('metadata', 'metadata must be an object');
  const unknown = memberNamesIn(metadata).find((name) => !metadataNames.has(name));
  if (unknown === undefined) return metadata;
  const param = `metadata.${unknown.slice(0, 64)}`;
  throw new Unfit(param, `${param} is not carried to video models; allowed are ${[...metadataNames].join(', ')}`);
}

function checkNames(body: JsonObject): void {
  const unknown = memberNamesIn(body).find((name) => !orderedNames.has(name));
  if (unknown === undefined) return;
  const param = unknown.slice(0, 64);
  throw new Unfit(param, `field ${param} is not carried to video models; allowed are ${ordered.join(', ')}`);
}

function promptIn(body: JsonObject): string {
  const prompt = textAt(body, 'prompt', maxPrompt);
  if (prompt !== null && prompt.trim() !== '') return prompt;
  throw new Unfit('prompt', 'field prompt is required: a text');
}

function read(body: JsonObject, upload: Upload | null, usualModel: string): VideoRequest {
  checkNames(body);
  const prompt = promptIn(body);
  const metadata = metadataIn(body);
  const model = textIn(body.model) ?? usualModel;
  const format = textAt(body, 'response_format', 16);
  if (format !== null && format !== 'url')
    throw new Unfit('response_format', 'response_format must be url: the video is fetched when it is ready');
  const image = oneOf('input_reference', referenceIn(body), 'image', imageIn(body));
  checkFiles(upload, image);
  const defaults = videoDefaults(model);
  const range = [1, maxSeconds] as const;
  const seed = oneOf(
    ...(['seed', wholeAt(body, 'seed', [0, maxSeed])] as const),
    ...(['metadata.seed', wholeAt(metadata, 'seed', [0, maxSeed], 'metadata.seed')] as const),
  );
  const negative = oneOf(
    ...(['negative_prompt', textAt(body, 'negative_prompt', maxPrompt)] as const),
    ...([
      'metadata.negative_prompt',
      textAt(metadata, 'negative_prompt', maxPrompt, 'metadata.negative_prompt'),
    ] as const),
  );
  return {
    ...{ model, prompt },
    seconds:
      oneOf('seconds', wholeAt(body, 'seconds', range), 'duration', wholeAt(body, 'duration', range)) ??
      defaults.seconds,
    size: sizeIn(body) ?? defaults.size,
    n: wholeAt(body, 'n', [1, maxVideos]) ?? 1,
    ...(image !== null && { image }),
    ...(negative !== null && { negative_prompt: negative }),
    ...(seed !== null && { seed }),
  };
}

/** `usualModel`: of a body that names none. */
export function readVideoRequest(
  body: JsonObject,
  upload: Upload | null,
  usualModel: string,
): VideoRequest | InvalidMember {
  return unfitOr(() => read(body, upload, usualModel));
}

export const isVideoRequest = (found: VideoRequest | InvalidMember): found is VideoRequest => 'seconds' in found;

/** A remix is as long and as large as what it is made of. */
export function readRemix(body: JsonObject, { model, seconds, size }: VideoOrder): VideoRequest | InvalidMember {
  return unfitOr(() => {
    const unknown = memberNamesIn(body).find((name) => name !== 'prompt' && name !== 'model');
    if (unknown !== undefined) throw new Unfit(unknown.slice(0, 64), 'a remix takes a prompt and nothing else');
    return { model, prompt: promptIn(body), seconds, size, n: 1 };
  });
}
