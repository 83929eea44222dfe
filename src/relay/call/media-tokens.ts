import { isObject, type JsonObject, type JsonValue, textIn } from '../protocols/json.js';
import { headerLength, type ImageSize, imageSize } from './image-size.js';

/*
 * What a picture, a sound or a file in a prompt counts. Nothing is fetched: what lies elsewhere is taken for as large as
 * such a thing gets.
 */

export interface MediaTokens {
  /** As near as can be told. */
  readonly likely: number;
  /** What it makes sense to hold at least: what it is unlikely to exceed. */
  readonly ample: number;
  /** What it cannot exceed. */
  readonly most: number;
  /** Characters of the request that are the thing itself, and no text to be counted. */
  readonly characters: number;
  /** It may be sound, or have some. */
  readonly maySound: boolean;
}

/** How a family of models counts an image: by tiles of 512, by patches of 32, or flat. */
interface ImageCost {
  readonly base: number;
  readonly tile: number;
  /** Counts patches instead, up to 1536, each times this. */
  readonly perPatch?: number;
}

const usualImage: ImageCost = { base: 85, tile: 170 };

const imageCosts: readonly (readonly [RegExp, ImageCost])[] = [
  [/^gpt-4o-mini/, { base: 2833, tile: 5667 }],
  [/^gpt-(4\.1|5[.\d]*)-mini/, { ...usualImage, perPatch: 1.62 }],
  [/^gpt-(4\.1|5[.\d]*)-nano/, { ...usualImage, perPatch: 2.46 }],
  [/^o4-mini/, { ...usualImage, perPatch: 1.72 }],
  [/^gpt-5/, { base: 70, tile: 140 }],
  [/^o[13]/, { base: 75, tile: 150 }],
  [/^computer-use-preview/, { base: 65, tile: 129 }],
  [/^glm-4v/, { base: 1047, tile: 0 }],
];

const imageCostOf = (model: string): ImageCost => imageCosts.find(([names]) => names.test(model))?.[1] ?? usualImage;

const longSide = 2048;
const shortSide = 768;
const tileSize = 512;
const patchSize = 32;
const mostPatches = 1536;

/** Shrunk to 2048 on the long side, then to 768 on the short one; never enlarged. */
function tilesOf({ width, height }: ImageSize): number {
  const fit = Math.min(1, longSide / Math.max(width, height));
  const shrink = fit * Math.min(1, shortSide / (Math.min(width, height) * fit));
  const tiles = (side: number): number => Math.ceil(Math.round(side * shrink) / tileSize);
  return tiles(width) * tiles(height);
}

const patchesOf = ({ width, height }: ImageSize): number =>
  Math.min(Math.ceil(width / patchSize) * Math.ceil(height / patchSize), mostPatches);

/** Some fetch it with blanks before it, too. */
const liesElsewhere = (source: string): boolean => /^\s*[a-z][a-z0-9+.-]{0,20}:\/\//i.test(source);

/** The first bytes of an image given inline, as a data URL or as bare base64; null: it lies elsewhere. */
function inlineBytes(source: string): Buffer | null {
  if (liesElsewhere(source)) return null;
  const comma = source.startsWith('data:') ? source.indexOf(',') : -1;
  return Buffer.from(source.slice(comma + 1, comma + 1 + Math.ceil((headerLength * 4) / 3)), 'base64');
}

/** Two tiles along the short side, four along the long one: more do not fit into 2048 × 768. */
const mostTiles = 8;
/** Families that count otherwise take pictures apart into at most so many tokens, and usually into fewer than these. */
const foreignImage = { ample: 4_096, most: 16_384 };
const countsLikeOpenAi = /^(gpt-|chatgpt-|o\d|computer-use)/;

function imageTokens(model: string, image: JsonValue | undefined): MediaTokens {
  const { base, tile, perPatch } = imageCostOf(model);
  const source = isObject(image) ? textIn(image.url) : textIn(image);
  const bytes = source === null ? null : inlineBytes(source);
  const characters = bytes === null ? 0 : (source?.length ?? 0);
  const exactly = (tokens: number): MediaTokens => ({
    likely: tokens,
    ample: tokens,
    most: tokens,
    characters,
    maySound: false,
  });
  if (tile === 0) return exactly(base);
  const size = bytes && imageSize(bytes);
  const own = countsLikeOpenAi.test(model);
  const low = isObject(image) && image.detail === 'low';
  if (own && low) return exactly(base);
  const counted =
    size && (perPatch === undefined ? tilesOf(size) * tile + base : Math.ceil(patchesOf(size) * perPatch));
  if (own && counted) return exactly(counted);
  // Whoever does not see the image assumes a small one, and holds enough for a large one.
  const likely = low ? base : (counted ?? 3 * base);
  const largest = perPatch === undefined ? mostTiles * tile + base : Math.ceil(mostPatches * perPatch);
  return own
    ? { likely, ample: largest, most: largest, characters, maySound: false }
    : {
        likely,
        ample: Math.max(likely, foreignImage.ample),
        most: Math.max(likely, foreignImage.most),
        characters,
        maySound: false,
      };
}

const usualSound = 100;
/** Ten to thirty tokens a second: the first at the bit rates people use, the second at the lowest a codec has. */
const bytesPerSoundToken = { ample: 64, most: 8 };
const usualFile = 5_000;
const bytesPerFileToken = { ample: 8, most: 1 };
/** A file that lies elsewhere, such as a film of two hours, may fill the largest context there is. */
const unseenFile = { ample: 131_072, most: 2_097_152 };

/** As long as answers get. */
export const earlierSound: MediaTokens = {
  likely: usualSound,
  ample: 4_096,
  most: 16_384,
  characters: 0,
  maySound: true,
};

/** What a tool that the provider runs by itself may put into the prompt: pages, results, files. */
export const readByTool: MediaTokens = {
  likely: 0,
  ample: 16_384,
  most: 1_048_576,
  characters: 0,
  maySound: false,
};

/** What an id stands for. */
const uploaded = 'file://';

/** Each member a part of this kind may carry its content in. Nobody knows which of them upstream looks at. */
function* sourcesOf(part: JsonObject): Generator<string> {
  for (const holder of [part[String(part.type)], part.input_audio, part.file, part]) {
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

const weighed = (
  part: JsonObject,
  usual: number,
  perToken: { readonly ample: number; readonly most: number },
): MediaTokens => {
  const source = inlineSource(part);
  if (source === null) return { likely: usual, ...unseenFile, characters: 0, maySound: true };
  const bytes = Math.ceil(source.length * 0.75);
  const tokens = (share: number): number => Math.max(usual, Math.ceil(bytes / share));
  return {
    likely: usual,
    ample: tokens(perToken.ample),
    most: tokens(perToken.most),
    characters: source.length,
    maySound: true,
  };
};

const isImage = /^(input_)?image(_url)?$/;
const isSound = /^(input_)?audio(_url)?$/;

const isText = /^((input|output)_)?text$|^(refusal|thinking)$/;

/** Where a part does not say what it is, some upstreams look what it has. */
const memberNames = ['image_url', 'image', 'input_audio', 'audio_url', 'video_url', 'video', 'file', 'file_url'];
const kindOf = (part: JsonObject): string | null =>
  textIn(part.type) ?? memberNames.find((name) => (part[name] ?? null) !== null) ?? null;

/** Counted as the model does, and held for as whichever of these names counts most. */
function imageByAny(model: string, names: ReadonlySet<string>, image: JsonValue | undefined): MediaTokens {
  const counted = imageTokens(model, image);
  let { ample, most } = counted;
  for (const name of names) {
    if (name === model) continue;
    const other = imageTokens(name, image);
    ample = Math.max(ample, other.ample);
    most = Math.max(most, other.most);
  }
  return { ...counted, ample, most };
}

/**
 * null: the part is text, or nothing. Whatever nobody knows is taken for a file. `names`: the model's as asked for and
 * as channels send it, which may belong to families that count otherwise.
 */
export function mediaIn(model: string, names: ReadonlySet<string>, part: JsonObject): MediaTokens | null {
  const type = kindOf(part);
  if (type === null || isText.test(type)) return null;
  if (isImage.test(type)) return imageByAny(model, names, part.image_url ?? part.image ?? part.source);
  if (isSound.test(type)) return weighed(part, usualSound, bytesPerSoundToken);
  if (typeof part.text === 'string' && !memberNames.includes(type) && sourcesOf(part).next().done) return null;
  return weighed(part, usualFile, bytesPerFileToken);
}
