import type { TokenQuantity } from '../../domain/pricing/quantities.js';
import { isObject, type JsonObject, type JsonValue, scalarText, textIn } from '../json/json.js';
import { type ImageDetail, imageRuleOf } from './image-rules.js';
import { headerLength, type ImageSize, imageSize, longHeaderLength } from './image-size.js';
import { type FileTokens, fileTokensOf, soundTokensOf } from './inline-file.js';
import { pictureType } from './picture-type.js';

/*
 * What a picture, a sound or a file in a prompt counts. Nothing is fetched: what lies elsewhere is taken for as large as
 * such a thing gets.
 */

export interface MediaTokens {
  /** As near as can be known. */
  readonly expected: number;
  /** What it makes sense to reserve at least: what it is unlikely to exceed. */
  readonly conservative: number;
  /** What it cannot exceed. */
  readonly max: number;
  /** Characters of the request that are the thing itself, and no text to be counted. */
  readonly characters: number;
  /** What its tokens may be of; of a file that may have sound in it, that. */
  readonly kind: TokenQuantity;
  /** It is not in the request: whoever serves the call fetches it. Left out: it is. */
  readonly brought?: true;
}

/** Some fetch it with blanks before it, too. */
const liesElsewhere = (source: string): boolean => /^\s*[a-z][a-z0-9+.-]{0,20}:\/\//i.test(source);

/** The size of an image given inline, as a data URL or as bare base64. null: it lies elsewhere, or does not say. */
function inlineSize(source: string): ImageSize | null {
  const comma = source.startsWith('data:') ? source.indexOf(',') : -1;
  const start = (bytes: number): Buffer =>
    Buffer.from(source.slice(comma + 1, comma + 1 + Math.ceil((bytes * 4) / 3)), 'base64');
  const header = start(headerLength);
  return imageSize(header) ?? (pictureType(header) === 'image/jpeg' ? imageSize(start(longHeaderLength)) : null);
}

const details: ReadonlySet<string> = new Set<ImageDetail>(['low', 'medium', 'high', 'original', 'ultra_high']);
const asDetail = (detail: JsonValue | undefined): ImageDetail =>
  typeof detail === 'string' && details.has(detail) ? (detail as ImageDetail) : 'auto';

/**
 * Counted as the model does, and reserved for as whichever of these names counts most. The detail stands in the part or
 * in what it holds: the two APIs of one vendor differ.
 */
function imageTokens(model: string, names: ReadonlySet<string>, part: JsonObject): MediaTokens {
  const image = part.image_url ?? part.image ?? part.source;
  const source = isObject(image) ? textIn(image.url) : textIn(image);
  const inline = source !== null && !liesElsewhere(source);
  const size = inline ? inlineSize(source) : null;
  const detail = asDetail((isObject(image) ? image.detail : null) ?? part.detail);
  let { expected, conservative, max } = imageRuleOf(model)(size, detail);
  for (const name of names) {
    if (name === model) continue;
    const other = imageRuleOf(name)(size, detail);
    conservative = Math.max(conservative, other.conservative);
    max = Math.max(max, other.max);
  }
  return { expected, conservative, max, characters: inline ? source.length : 0, kind: 'imageInput' };
}

/** How a kind of file is counted. */
interface FileKind {
  /** Tokens of one that says nothing of itself. */
  readonly usual: number;
  readonly bytesPerToken: { readonly conservative: number; readonly max: number };
  /** By what is found in it; null: nothing is. */
  readonly foundIn: (model: string, source: string) => FileTokens | null;
}

/** Ten to thirty tokens a second: the first at the bit rates people use, the second at the lowest a codec has. */
const soundFile: FileKind = { usual: 100, bytesPerToken: { conservative: 64, max: 8 }, foundIn: soundTokensOf };
const anyFile: FileKind = {
  usual: 5_000,
  bytesPerToken: { conservative: 8, max: 1 },
  foundIn: (_model, source) => fileTokensOf(source),
};
/** A file that lies elsewhere, such as a film of two hours, may fill the largest context there is. */
const unseenFile = { conservative: 131_072, max: 2_097_152 };

/** As long as answers get. */
export const earlierSound: MediaTokens = {
  expected: soundFile.usual,
  conservative: 4_096,
  max: 16_384,
  characters: 0,
  kind: 'audioInput',
};

/** What a tool that the provider runs by itself may put into the prompt: pages, results, files. */
export const readByTool: MediaTokens = {
  expected: 0,
  conservative: 16_384,
  max: 1_048_576,
  characters: 0,
  kind: 'input',
  brought: true,
};

/** What an id stands for. */
const uploaded = 'file://';

/** Each member a part of this kind may carry its content in. Nobody knows which of them upstream looks at. */
function* sourcesOf(part: JsonObject): Generator<string> {
  for (const holder of [part[scalarText(part.type)], part.input_audio, part.file, part]) {
    if (typeof holder === 'string') yield holder;
    if (!isObject(holder)) continue;
    if (textIn(holder.file_id) !== null) yield uploaded;
    for (const source of [holder.data, holder.file_data, holder.url, holder.file_url])
      if (typeof source === 'string' && source !== '') yield source;
  }
}

/** The longest of what is given inline, in base64; null: something lies elsewhere, or nothing is given. */
function inlineSource(part: JsonObject): string | null {
  let longest: string | null = null;
  for (const source of sourcesOf(part)) {
    if (liesElsewhere(source)) return null;
    if (longest === null || source.length > longest.length) longest = source;
  }
  return longest;
}

/**
 * By what is found in it, and by its bytes: what is reserved at least follows the first, what is believed the larger.
 * `looked`: the file is looked into.
 */
function fileTokens(
  { usual, bytesPerToken, foundIn }: FileKind,
  model: string,
  part: JsonObject,
  looked: boolean,
): MediaTokens {
  const source = inlineSource(part);
  if (source === null) return { expected: usual, ...unseenFile, characters: 0, kind: 'audioInput', brought: true };
  const bytes = Math.ceil(source.length * 0.75);
  const found = looked ? foundIn(model, source) : null;
  const tokens = (share: number): number => Math.max(usual, Math.ceil(bytes / share));
  const expected = Math.max(usual, found?.expected ?? 0);
  return {
    expected,
    conservative: Math.max(
      expected,
      found !== null && found.conservative > 0 ? found.conservative : tokens(bytesPerToken.conservative),
    ),
    max: Math.max(tokens(bytesPerToken.max), found?.max ?? 0),
    characters: source.length,
    kind: 'audioInput',
  };
}

const isImage = /^(input_)?image(_url)?$/;
const isSound = /^(input_)?audio(_url)?$/;

const isText = /^((input|output)_)?text$|^(refusal|thinking)$/;

/** Where a part does not say what it is, some upstreams look what it has. */
const memberNames = ['image_url', 'image', 'input_audio', 'audio_url', 'video_url', 'video', 'file', 'file_url'];
const kindOf = (part: JsonObject): string | null =>
  textIn(part.type) ?? memberNames.find((name) => (part[name] ?? null) !== null) ?? null;

/**
 * null: the part is text, or nothing. Whatever nobody knows is taken for a file. `names`: the model's as asked for and
 * as channels send it, which may belong to families that count otherwise. `looked`: a file is looked into, which takes
 * some milliseconds.
 */
export function mediaIn(
  model: string,
  names: ReadonlySet<string>,
  part: JsonObject,
  looked = true,
): MediaTokens | null {
  const type = kindOf(part);
  if (type === null || isText.test(type)) return null;
  if (isImage.test(type)) return imageTokens(model, names, part);
  if (isSound.test(type)) return fileTokens(soundFile, model, part, looked);
  if (typeof part.text === 'string' && !memberNames.includes(type) && sourcesOf(part).next().done) return null;
  return fileTokens(anyFile, model, part, looked);
}
