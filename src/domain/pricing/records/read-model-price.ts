import { add, decimal, decimalText, integer, isDecimal, isNegative, larger, negative } from '../../kernel/decimal.js';
import { invalidField } from '../../kernel/failure.js';
import type { ContextTierFactors } from '../context-tiers.js';
import { type PieceQuantity, pieceQuantities, tokenQuantities } from '../quantities.js';
import { isTierName, usualTier } from '../service-tiers.js';
import type { ModelPrice, PicturePrice, PricePeriods, Rates, TokenRate } from './model-price.js';

/*
 * Reads a record of the price table from JSON. Whatever is wrong is an `invalid-field` that names its path and what is
 * allowed.
 */

/** USD of a million tokens, of a piece, of a call. */
const maxPriceUsd = 2_000_000;
/** Ratios and factors: no product of them makes a price that cannot be counted. */
const maxRatioOfInput = 1_000_000;
const maxServiceFactor = 1_000;
const maxPeriods = 16;
const maxTiers = 8;
const maxServiceTiers = 16;
const maxPictures = 64;
const maxTokensCounted = 2 ** 30 - 1;
const maxDigits = 32;

type Members = Readonly<Record<string, unknown>>;

function membersOf(field: string, value: unknown, allowed: readonly string[]): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalidField(field, 'an object');
  for (const name of Object.keys(value))
    if (!allowed.includes(name)) throw invalidField(`${field}.${name}`, `one of ${allowed.join(', ')}`);
  return value as Members;
}

function listOf(field: string, value: unknown, max: number): readonly unknown[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > max)
    throw invalidField(field, `a list of 1 to ${max} entries`);
  return value;
}

/** A number, or its text. */
function decimalFrom(field: string, value: unknown, max: number): string {
  const text = typeof value === 'number' ? String(value) : value;
  const fits = typeof text === 'string' && text.length <= maxDigits && isDecimal(text);
  const read = fits ? decimal(text) : null;
  if (read === null || isNegative(read) || isNegative(add(integer(max), negative(read))) || read.scale > maxDigits)
    throw invalidField(field, `a number from 0 to ${max}`);
  return decimalText(larger(read, integer(0)));
}

function eachOf<Name extends string, Value>(
  field: string,
  value: unknown,
  allowed: readonly Name[],
  read: (field: string, value: unknown) => Value,
): Partial<Record<Name, Value>> {
  const found: Partial<Record<Name, Value>> = {};
  const members = membersOf(field, value, allowed);
  for (const name of allowed) if (members[name] !== undefined) found[name] = read(`${field}.${name}`, members[name]);
  return found;
}

function tokenRate(field: string, value: unknown): TokenRate {
  const { usd, ratio } = membersOf(field, value, ['usd', 'ratio']);
  if ((usd === undefined) === (ratio === undefined))
    throw invalidField(field, 'an object with either usd or ratio, not both');
  return usd === undefined
    ? { ratio: decimalFrom(`${field}.ratio`, ratio, maxRatioOfInput) }
    : { usd: decimalFrom(`${field}.usd`, usd, maxPriceUsd) };
}

function tokenRates(field: string, value: unknown): NonNullable<Rates['tokens']> {
  const rates = eachOf(field, value, tokenQuantities, tokenRate);
  if (rates.input !== undefined && 'ratio' in rates.input) throw invalidField(`${field}.input`, 'a price in usd');
  return rates;
}

const pictureWord = /^[\w.:x-]{1,32}$/;

function picturePrice(field: string, value: unknown): PicturePrice {
  const members = membersOf(field, value, ['size', 'quality', 'usd']);
  for (const name of ['size', 'quality'] as const) {
    const word = members[name];
    if (word !== undefined && (typeof word !== 'string' || !pictureWord.test(word)))
      throw invalidField(`${field}.${name}`, 'a word such as 1024x1024 or high');
  }
  const { size, quality } = members as Pick<PicturePrice, 'size' | 'quality'>;
  return {
    ...(size === undefined ? {} : { size }),
    ...(quality === undefined ? {} : { quality }),
    usd: decimalFrom(`${field}.usd`, members.usd, maxPriceUsd),
  };
}

function picturePrices(field: string, value: unknown): readonly PicturePrice[] {
  const prices = listOf(field, value, maxPictures).map((entry, index) => picturePrice(`${field}[${index}]`, entry));
  const known = new Set<string>();
  prices.forEach(({ size = '', quality = '' }, index) => {
    const name = `${size} ${quality}`;
    if (known.has(name)) throw invalidField(`${field}[${index}]`, 'one price for each size and quality');
    known.add(name);
  });
  return prices;
}

const usd = (field: string, value: unknown): string => decimalFrom(field, value, maxPriceUsd);

const rateMembers = ['call', 'tokens', 'pieces', 'pictures'] as const;

function ratesIn(field: string, members: Members): Rates {
  const { call, tokens, pieces, pictures } = members;
  return {
    ...(call === undefined ? {} : { call: usd(`${field}.call`, call) }),
    ...(tokens === undefined ? {} : { tokens: tokenRates(`${field}.tokens`, tokens) }),
    ...(pieces === undefined
      ? {}
      : { pieces: eachOf<PieceQuantity, string>(`${field}.pieces`, pieces, pieceQuantities, usd) }),
    ...(pictures === undefined ? {} : { pictures: picturePrices(`${field}.pictures`, pictures) }),
  };
}

const factor = (field: string, value: unknown): string => decimalFrom(field, value, maxRatioOfInput);

function contextTiers(field: string, value: unknown): readonly ContextTierFactors[] {
  const tiers = listOf(field, value, maxTiers).map((entry, index) => {
    const at = `${field}[${index}]`;
    const { over, factors } = membersOf(at, entry, ['over', 'factors']);
    if (typeof over !== 'number' || !Number.isInteger(over) || over < 1 || over > maxTokensCounted)
      throw invalidField(`${at}.over`, `an integer from 1 to ${maxTokensCounted}`);
    return { over, factors: eachOf(`${at}.factors`, factors, tokenQuantities, factor) };
  });
  tiers.forEach(({ over }, index) => {
    if (index > 0 && over <= (tiers[index - 1]?.over ?? 0))
      throw invalidField(`${field}[${index}].over`, 'more than over of the tier before');
  });
  return tiers;
}

function serviceTiers(field: string, value: unknown): Readonly<Record<string, string>> {
  const entries = typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : null;
  if (entries === null || entries.length > maxServiceTiers)
    throw invalidField(field, `an object of at most ${maxServiceTiers} tiers`);
  return Object.fromEntries(
    entries.map(([tier, entry]) => {
      if (!isTierName(tier)) throw invalidField(`${field}.${tier}`, `a tier other than ${usualTier}, in lower case`);
      return [tier, decimalFrom(`${field}.${tier}`, entry, maxServiceFactor)];
    }),
  );
}

const dayPattern = /^(\d{4})-(\d{2})-(\d{2})$/;

function isDay(text: string): boolean {
  const [, year, month, day] = (dayPattern.exec(text) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined || month < 1 || month > 12 || day < 1)
    return false;
  return Date.UTC(year, month - 1, day) < Date.UTC(year, month, 1);
}

function dayFrom(field: string, value: unknown): string {
  if (typeof value !== 'string' || !isDay(value)) throw invalidField(field, 'a day such as 2026-12-01');
  return value;
}

const priceMembers = [...rateMembers, 'contextTiers', 'serviceTiers', 'purchase', 'from', 'until'];

function modelPrice(field: string, value: unknown): ModelPrice {
  const members = membersOf(field, value, priceMembers);
  const { purchase } = members;
  const from = members.from === undefined ? undefined : dayFrom(`${field}.from`, members.from);
  const until = members.until === undefined ? undefined : dayFrom(`${field}.until`, members.until);
  if (from !== undefined && until !== undefined && from >= until)
    throw invalidField(`${field}.until`, 'a day after from');
  return {
    ...ratesIn(field, members),
    ...(members.contextTiers === undefined
      ? {}
      : { contextTiers: contextTiers(`${field}.contextTiers`, members.contextTiers) }),
    ...(members.serviceTiers === undefined
      ? {}
      : { serviceTiers: serviceTiers(`${field}.serviceTiers`, members.serviceTiers) }),
    ...(purchase === undefined
      ? {}
      : { purchase: ratesIn(`${field}.purchase`, membersOf(`${field}.purchase`, purchase, rateMembers)) }),
    ...(from === undefined ? {} : { from }),
    ...(until === undefined ? {} : { until }),
  };
}

/** Throws `invalid-field`. `field`: the path to the list. */
export function readPricePeriods(field: string, value: unknown): PricePeriods {
  const periods = listOf(field, value, maxPeriods).map((entry, index) => modelPrice(`${field}[${index}]`, entry));
  periods.forEach(({ from = '' }, index) => {
    if (index > 0 && from <= (periods[index - 1]?.from ?? ''))
      throw invalidField(`${field}[${index}].from`, 'a day after from of the period before');
  });
  return periods;
}
