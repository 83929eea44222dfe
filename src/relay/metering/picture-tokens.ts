import { factsOf } from '../../domain/models/model-facts.js';
import { byTheModel, type OrderedPicture } from '../../domain/pricing/picture-prices.js';

/*
 * How many tokens a picture has that a model makes. https://developers.openai.com/api/docs/guides/image-generation lists
 * them for three sizes. Of models that take any size, price lists of resellers show what they come to: at 3840 by 2160
 * less than twice as many as at 1024 by 1024. The root of the area is above all of these.
 */

type ByQuality = Readonly<Record<'low' | 'medium' | 'high', number>>;

/** Of a picture of 1024 by 1024; half as many more where a side is longer. */
const listed: ByQuality = { low: 272, medium: 1_056, high: 4_160 };
/** A small model has more of them by as many. */
const listedMargin = 400;

/** The most of any model, `xhigh` and `max` included. */
const open: ByQuality = { low: 200, medium: 1_767, high: 7_033 };
const openMargin = 1.25;
/** What such a model may plan first. */
const planning = 1_024;

const isQuality = (name: string): name is keyof ByQuality => Object.hasOwn(listed, name);

interface PictureTokenCount {
  /** As near as can be known. */
  readonly expected: number;
  readonly max: number;
}

const square = 1024 * 1024;
/** The largest of those that are chosen where nobody asks for one. */
const largestUsual = 1536 * 1024;

function areaOf(size: string): number {
  const [width = 0, height = 0] = size === byTheModel ? [] : size.split('x').map(Number);
  return Math.max(width * height || largestUsual, square) / square;
}

/**
 * Of Google's models that make pictures and talk, whatever quality: https://ai.google.dev/gemini-api/docs/pricing. The most
 * of any of them at each of their resolutions.
 */
const atGoogle = { usual: 1_290, double: 1_680, fourfold: 2_520 };
/** Longer sides are of the larger resolutions. */
const longestAtGoogle = { usual: 1_792, double: 3_072 };
/** They may think first, and are told no quality by which they would do less of it. */
const thinkingAtGoogle = 8_192;

function tokensAtGoogle(size: string): PictureTokenCount {
  const longer = size === byTheModel ? 0 : Math.max(...size.split('x').map(Number));
  const larger = longer > longestAtGoogle.double ? atGoogle.fourfold : atGoogle.double;
  const expected = longer > longestAtGoogle.usual ? larger : atGoogle.usual;
  return { expected, max: atGoogle.fourfold + thinkingAtGoogle };
}

const isListed = (names: ReadonlySet<string>): boolean =>
  [...names].every((name) => factsOf(name).drawsByToken === 'listed');

/** `names`: of the model, as asked for and as sent upstream. */
export function pictureTokensOf({ size, quality }: OrderedPicture, names: ReadonlySet<string>): PictureTokenCount {
  const name = isQuality(quality) ? quality : 'high';
  const area = areaOf(size);
  if (isListed(names)) {
    const expected = Math.ceil(listed[name] * area);
    return { expected, max: expected + listedMargin };
  }
  const expected = Math.ceil(open[name] * Math.sqrt(area));
  const max = Math.ceil(expected * openMargin) + planning;
  if (![...names].some((one) => factsOf(one).drawsToo)) return { expected, max };
  const google = tokensAtGoogle(size);
  return { expected: google.expected, max: Math.max(google.max, max) };
}

/** Where a maker lists none: as few as a picture that is sent while it is made. */
const fewest = 100;

/** No picture of this model has fewer. */
export const leastPictureTokens = (model: string): number =>
  factsOf(model).drawsByToken === 'listed' ? listed.low : fewest;

/** What a picture to go by may have beside what its size says, where the model is to keep to it closely. */
const closely = 6_240;
/** The most that one has at a model whose maker lists none. */
const openSource = 16_384;

export function sourceTokensBeside(names: ReadonlySet<string>, fidelity: string | undefined): PictureTokenCount {
  if (!isListed(names)) return { expected: 0, max: openSource };
  return fidelity === 'high' ? { expected: closely, max: closely } : { expected: 0, max: 0 };
}
