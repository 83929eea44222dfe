import { factsOf } from '../../domain/models/model-facts.js';
import { byTheModel, type OrderedPicture } from '../../domain/pricing/picture-prices.js';

/*
 * How many tokens a picture has that a model makes: https://developers.openai.com/api/docs/guides/image-generation lists
 * them for three sizes and qualities. Of others they grow with the area, as the examples there do.
 */

/** Of a picture of 1024 by 1024. */
const byQuality: ReadonlyMap<string, number> = new Map([
  ['low', 272],
  ['medium', 1_056],
  ['high', 4_160],
  ['xhigh', 8_320],
  ['max', 16_640],
]);
/** What a model chooses by itself. */
const usualQuality = 4_160;

const square = 1024 * 1024;
/** The largest of those that are chosen where nobody asks for one. */
const largestUsual = 1536 * 1024;

/** Examples of models that take any size have up to so many times as much. */
const openMargin = 2;
/** What such a model may plan first, in tokens. */
const planning = 4_096;

/** One that is sent while the picture is made. */
export const partialPictureTokens = 100;

export interface PictureTokenCount {
  /** As near as can be known. */
  readonly expected: number;
  readonly max: number;
}

function areaOf(size: string): number {
  const [width = 0, height = 0] = size === byTheModel ? [] : size.split('x').map(Number);
  return width * height || largestUsual;
}

/** `names`: of the model, as asked for and as sent upstream. */
export function pictureTokensOf({ size, quality }: OrderedPicture, names: ReadonlySet<string>): PictureTokenCount {
  const area = Math.max(areaOf(size) / square, 1);
  const expected = Math.ceil((byQuality.get(quality) ?? usualQuality) * area);
  const listed = [...names].every((name) => factsOf(name).drawsByToken === 'listed');
  return { expected, max: listed ? expected : expected * openMargin + planning };
}

/** What a picture to go by may have beside what its size says, where the model is to keep to it closely. */
const closely = 6_240;
/** The most that one has at a model whose maker lists none. */
const openSource = 16_384;

export function sourceTokensBeside(names: ReadonlySet<string>, fidelity: string | undefined): PictureTokenCount {
  const listed = [...names].every((name) => factsOf(name).drawsByToken === 'listed');
  if (!listed) return { expected: 0, max: openSource };
  return fidelity === 'high' ? { expected: closely, max: closely } : { expected: 0, max: 0 };
}
