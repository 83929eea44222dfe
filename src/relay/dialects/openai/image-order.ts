import { factsOf } from '../../../domain/models/model-facts.js';
import { byTheModel, type OrderedPicture } from '../../../domain/pricing/picture-prices.js';
import type { InvalidMember } from '../../contracts/caller-dialect.js';
import {
  type ImageEditRequest,
  type ImageRequest,
  maskField,
  maxImages,
  maxSourceImages,
  pictureFields,
} from '../../contracts/image-request.js';
import { isList, isObject, type JsonObject, type JsonValue, memberNamesIn, textIn } from '../../json/json.js';
import { pictureType } from '../../metering/picture-type.js';
import type { FormFile } from '../../upstream/request-content.js';
import { isGiven, pictureText, pictureTypes, textAt, Unfit, unfitOr, wholeAt } from './order-members.js';

/*
 * Pictures as they are ordered in OpenAI's words: JSON, or the fields of a form. What is not known is refused by its name:
 * it might change what the pictures cost.
 */

const maxPrompt = 32_000;
const maxWord = 64;
const maxSeed = 2 ** 32 - 1;
/** Of a file, as OpenAI takes it. */
const maxFileBytes = 50 * 1024 * 1024;
const size = /^[1-9]\d{1,3}x[1-9]\d{1,3}$/;

const allowed = {
  background: ['transparent', 'opaque', byTheModel],
  output_format: ['png', 'jpeg', 'webp'],
  moderation: ['low', byTheModel],
  response_format: ['url', 'b64_json'],
  input_fidelity: ['high', 'low'],
  complexity: ['low', 'medium', 'high'],
  style: ['vivid', 'natural'],
  quality: ['low', 'medium', 'high', 'xhigh', 'max', 'standard', 'hd', byTheModel],
} as const;

const generated = [
  ...['model', 'prompt', 'n', 'size', 'quality', 'style', 'background', 'output_format', 'output_compression'],
  ...['moderation', 'response_format', 'partial_images', 'stream', 'user', 'safety_identifier', 'complexity'],
  ...['negative_prompt', 'seed', 'group'],
];
const edited = [...generated, 'input_fidelity', 'image', 'images', maskField];

function wordAt<Name extends keyof typeof allowed>(
  body: JsonObject,
  name: Name,
): (typeof allowed)[Name][number] | undefined {
  const word = textAt(body, name, maxWord);
  if (word === null) return undefined;
  const words: readonly string[] = allowed[name];
  if (words.includes(word)) return word as (typeof allowed)[Name][number];
  throw new Unfit(name, `${name} must be one of ${words.join(', ')}`);
}

function truthAt(body: JsonObject, name: string): boolean {
  const value = body[name];
  if (!isGiven(value) || value === false || value === 'false') return false;
  if (value === true || value === 'true') return true;
  throw new Unfit(name, `${name} must be true or false`);
}

function sizeIn(body: JsonObject, usual: string): string {
  const found = textAt(body, 'size', maxWord) ?? usual;
  if (found === byTheModel || size.test(found)) return found;
  throw new Unfit('size', 'size must be auto, or a width and a height such as 1024x1024');
}

function checkNames(body: JsonObject, names: readonly string[]): void {
  const unknown = memberNamesIn(body).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const param = unknown.slice(0, maxWord);
  throw new Unfit(param, `field ${param} is not carried to models of pictures; allowed are ${names.join(', ')}`);
}

function promptIn(body: JsonObject): string {
  const prompt = textAt(body, 'prompt', maxPrompt);
  if (prompt !== null && prompt.trim() !== '') return prompt;
  throw new Unfit('prompt', 'field prompt is required: a text');
}

const given = <Value>(name: string, value: Value | null | undefined): Readonly<Record<string, Value>> =>
  value === null || value === undefined ? {} : { [name]: value };

const isDallE = (model: string): boolean => /^dall-e/.test(model);

/** What OpenAI documents for a model that is asked for nothing else. */
const usualOf = (model: string): OrderedPicture =>
  isDallE(model) ? { size: '1024x1024', quality: 'standard' } : { size: byTheModel, quality: byTheModel };

/** The picture that is paid for: what the body leaves out is what its model makes, by the name that it has upstream. */
export function pictureOf(
  { size, quality }: ImageRequest,
  body: JsonObject,
  names: ReadonlySet<string>,
): OrderedPicture {
  const usual = usualOf([...names].find(isDallE) ?? '');
  return { size: isGiven(body.size) ? size : usual.size, quality: isGiven(body.quality) ? quality : usual.quality };
}

function formatIn(body: JsonObject, model: string): 'url' | 'b64_json' | undefined {
  const format = wordAt(body, 'response_format');
  if (format === 'url' && factsOf(model).drawsByToken !== null)
    throw new Unfit('response_format', `response_format must be b64_json: ${model} gives no addresses`);
  return format;
}

function readOrder(body: JsonObject, usualModel: string): ImageRequest {
  const model = textIn(body.model) ?? usualModel;
  const usual = usualOf(model);
  const stream = truthAt(body, 'stream');
  const partial = wholeAt(body, 'partial_images', [0, 3]) ?? 0;
  const n = wholeAt(body, 'n', [1, maxImages]) ?? 1;
  if (stream && n > 1) throw new Unfit('n', 'n must be 1 with stream: true');
  if (partial > 0 && !stream) throw new Unfit('partial_images', 'partial_images needs stream: true');
  return {
    model,
    prompt: promptIn(body),
    n,
    size: sizeIn(body, usual.size),
    quality: wordAt(body, 'quality') ?? usual.quality,
    stream,
    partial_images: partial,
    ...given('response_format', formatIn(body, model)),
    ...given('style', wordAt(body, 'style')),
    ...given('background', wordAt(body, 'background')),
    ...given('output_format', wordAt(body, 'output_format')),
    ...given('output_compression', wholeAt(body, 'output_compression', [0, 100])),
    ...given('moderation', wordAt(body, 'moderation')),
    ...given('complexity', wordAt(body, 'complexity')),
    ...given('negative_prompt', textAt(body, 'negative_prompt', maxPrompt)),
    ...given('seed', wholeAt(body, 'seed', [0, maxSeed])),
    ...given('user', textAt(body, 'safety_identifier', 512) ?? textAt(body, 'user', 512)),
  };
}

/** A member as OpenAI has it in JSON: an object with an address; others send the address alone. */
function addressIn(value: JsonValue, path: string): string {
  if (typeof value === 'string') return pictureText(value, path);
  const holder: JsonObject = isObject(value) ? value : {};
  const other = memberNamesIn(holder).find((name) => name !== 'image_url');
  if (other !== undefined)
    throw new Unfit(
      `${path}.${other.slice(0, maxWord)}`,
      `${path} must be given as image_url: an http(s) address or a data URL`,
    );
  const address = textIn(holder.image_url);
  if (address === null) throw new Unfit(path, `${path} must be a file of a form, or an object with image_url`);
  return pictureText(address, `${path}.image_url`);
}

function addressesIn(body: JsonObject): string[] {
  const { image, images } = body;
  if (isGiven(image) && isGiven(images)) throw new Unfit('image', 'image and images are the same: send one of them');
  const name = isGiven(images) ? 'images' : 'image';
  const value = body[name];
  if (!isGiven(value)) return [];
  return isList(value) ? value.map((one, at) => addressIn(one, `${name}[${at}]`)) : [addressIn(value, name)];
}

function checkFile({ name, type, bytes }: FormFile): void {
  if (bytes.length === 0 || bytes.length > maxFileBytes)
    throw new Unfit(name, `${name} must be a picture of 1 to ${maxFileBytes} bytes`);
  const found = pictureType(bytes);
  if (found === null || !pictureTypes.has(found))
    throw new Unfit(name, `${name} must be a picture: ${[...pictureTypes].join(', ')}`);
  if (type !== found && !(type === 'image/jpg' && found === 'image/jpeg'))
    throw new Unfit(
      name,
      `${name} is declared as ${type.slice(0, maxWord)}, and its first bytes are those of ${found}`,
    );
}

/** Throws Unfit. */
function checkFiles(files: readonly FormFile[]): number {
  let pictures = 0;
  let masks = 0;
  for (const file of files) {
    if (file.name === maskField) masks++;
    else if (pictureFields.has(file.name)) pictures++;
    else throw new Unfit(file.name.slice(0, maxWord), `files of the form must be named image, image[] or ${maskField}`);
    checkFile(file);
  }
  if (masks > 1) throw new Unfit(maskField, `the form must hold one ${maskField} at most`);
  return pictures;
}

function checkCount(pictures: number): void {
  if (pictures < 1) throw new Unfit('image', 'field image is required: a file of a form, or an address in images');
  if (pictures > maxSourceImages) throw new Unfit('image', `there must be at most ${maxSourceImages} pictures`);
}

/** `usualModel`: of a body that names none. */
export const readImageRequest = (body: JsonObject, usualModel: string): ImageRequest | InvalidMember =>
  unfitOr(() => {
    checkNames(body, generated);
    return readOrder(body, usualModel);
  });

/** `files`: of the form; null: they have been looked at before. */
export const readImageEdit = (
  body: JsonObject,
  files: readonly FormFile[] | null,
  usualModel: string,
): ImageEditRequest | InvalidMember =>
  unfitOr(() => {
    checkNames(body, edited);
    const order = readOrder(body, usualModel);
    const images = addressesIn(body);
    if (files !== null) checkCount(images.length + checkFiles(files));
    const mask = isGiven(body[maskField]) ? addressIn(body[maskField], maskField) : null;
    return {
      ...order,
      images,
      ...given('mask', mask),
      ...given('input_fidelity', wordAt(body, 'input_fidelity')),
    };
  });

export const isImageRequest = <Order extends ImageRequest>(found: Order | InvalidMember): found is Order =>
  'prompt' in found;
