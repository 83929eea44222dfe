import { add, type Decimal, decimal, decimalText, isNegative, negative, times } from '../kernel/decimal.js';
import { factsOf } from '../models/model-facts.js';
import { billedName, type PriceTables, pricedLike, recordIn } from './price-tables.js';
import type { Price } from './pricing.js';
import type { PicturePrice } from './records/model-price.js';

/*
 * What a picture costs that a model makes: by what was ordered, where a record says so, or by the price of a call and
 * factors of size and quality. Models that report tokens of their pictures are charged by these.
 */

/** Left to the model: what costs most is reserved for it. */
export const byTheModel = 'auto';

/** As far as it decides what a picture costs. */
export type OrderedPicture = {
  /** Such as `1024x1024`, or `auto`. */
  readonly size: string;
  /** Such as `hd`, or `auto`. */
  readonly quality: string;
};

const spelled = (word: string): string => word.toLowerCase().replace(/[*×]/, 'x');

const fits = (stated: string | undefined, ordered: string): boolean =>
  stated === undefined || spelled(stated) === ordered;

/** More members are said of it. */
const precision = ({ size, quality }: PicturePrice): number =>
  (size === undefined ? 0 : 2) + (quality === undefined ? 0 : 1);

const isDearer = (one: PicturePrice, other: PicturePrice): boolean =>
  isNegative(add(decimal(other.usd), negative(decimal(one.usd))));

/** What the model may choose: each that is stated, and one that is not. */
function choices(member: 'size' | 'quality', ordered: OrderedPicture, prices: readonly PicturePrice[]): Set<string> {
  const name = spelled(ordered[member]);
  if (name !== byTheModel) return new Set([name]);
  return new Set(['', ...prices.flatMap((price) => (price[member] === undefined ? [] : [spelled(price[member])]))]);
}

/** Of those that fit, the one that says most. Of what is left to the model: the dearest that it may choose. */
function statedPrice(prices: readonly PicturePrice[], ordered: OrderedPicture): string | null {
  let dearest: PicturePrice | null = null;
  const closestFirst = prices.toSorted((one, other) => precision(other) - precision(one));
  for (const size of choices('size', ordered, prices)) {
    for (const quality of choices('quality', ordered, prices)) {
      const closest = closestFirst.find((price) => fits(price.size, size) && fits(price.quality, quality));
      if (closest !== undefined && (dearest === null || isDearer(closest, dearest))) dearest = closest;
    }
  }
  return dearest?.usd ?? null;
}

/** Of the size of a picture to one of 1024 by 1024, as price lists by call mean it. */
const sizeFactors: ReadonlyMap<string, string> = new Map([
  ['256x256', '0.4'],
  ['512x512', '0.45'],
  ['1024x1792', '2'],
  ['1792x1024', '2'],
]);

const one = '1';
/** USD of a picture for each unit of a model's ratio. */
const perRatio = decimal('0.0025');

/** DALL·E 3 alone is dearer in high definition, and a wide picture less so. Where the model decides: the dearest. */
function factorsOf(names: ReadonlySet<string>, { size, quality }: OrderedPicture): readonly [string, string] {
  const inHd = [...names].some((name) => factsOf(name).drawsInHd);
  const dearest = inHd ? '1024x1792' : '1024x1024';
  const drawn = spelled(size) === byTheModel ? dearest : spelled(size);
  const isHd = inHd && ['hd', byTheModel].includes(spelled(quality));
  const ofQuality = sizeFactors.has(drawn) ? '1.5' : '2';
  return [sizeFactors.get(drawn) ?? one, isHd ? ofQuality : one];
}

function timesFactors(usd: Decimal, names: ReadonlySet<string>, ordered: OrderedPicture): string {
  const [ofSize, ofQuality] = factorsOf(names, ordered);
  return decimalText(times(times(usd, decimal(ofSize)), decimal(ofQuality)));
}

/** It says how many tokens its pictures have. */
function reportsTokens(name: string): boolean {
  const { drawsByToken, drawsToo } = factsOf(name);
  return drawsByToken !== null || drawsToo;
}

/** Their tokens are reported, and have prices. */
const isByToken = (price: Price, names: ReadonlySet<string>): boolean =>
  price.per === 'token' && (price.ratios.imageOutput !== undefined || [...names].some(reportsTokens));

/** What makes the pictures. */
export interface DrawingModel {
  /** As billed. */
  readonly model: string;
  /** As asked for, and as channels send it upstream: these make the pictures. */
  readonly names: ReadonlySet<string>;
}

/** The price of a call that makes pictures. null: those that were ordered have none. */
export function priceOfPictures(
  price: Price,
  tables: PriceTables,
  { model, names }: DrawingModel,
  ordered: OrderedPicture,
): Price | null {
  const { quotaPerUnit } = tables;
  const { group, service, like } = price;
  const terms = { group, ...(service !== undefined && { service }), ...(like !== undefined && { like }) };
  const of = (usd: string) => ({
    dollars: { ...price.pieces?.dollars, images: usd },
    quotaPerUnit,
    picture: { size: ordered.size, quality: ordered.quality },
  });
  const record = recordIn(tables, pricedLike(tables, model) ?? billedName(model));
  if (record?.pictures !== undefined) {
    const usd = statedPrice(record.pictures, ordered) ?? record.pieces?.images ?? null;
    return usd === null ? null : { ...price, pieces: of(usd) };
  }
  if (price.pieces?.dollars.images !== undefined) return { ...price, pieces: of(price.pieces.dollars.images) };
  if (isByToken(price, names)) return price;
  const usd = price.per === 'call' ? decimal(price.price) : times(decimal(price.model), perRatio);
  return { per: 'token', model: '0', ratios: {}, ...terms, pieces: of(timesFactors(usd, names, ordered)) };
}

/** Where a record names pictures, the price of the dearest of them; else the same. For lists, which know no order. */
export function withDearestPicture(price: Price, tables: PriceTables, model: string): Price {
  const record = recordIn(tables, pricedLike(tables, model) ?? billedName(model));
  if (record?.pictures === undefined) return price;
  const dearest = { size: byTheModel, quality: byTheModel };
  return priceOfPictures(price, tables, { model, names: new Set([model]) }, dearest) ?? price;
}
