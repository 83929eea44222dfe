import { exactQuotient, product } from './decimals.js';
import {
  type ContextTier,
  type ModelPrice,
  type PicturePrice,
  type PricePeriods,
  pieceNames,
  type Rates,
  type TokenName,
  type TokenRate,
  tokenNames,
} from './priceRecord.js';

/* The form for the price of one model: what is typed, before it is a record. Empty texts state nothing. */

export type RateUnit = 'usd' | 'ratio';

export interface RateDraft {
  /** Of the input: USD of a million, or the model ratio, which is half of that. */
  readonly unit: RateUnit;
  readonly text: string;
}

export interface PictureDraft {
  readonly size: string;
  readonly quality: string;
  readonly usd: string;
}

export interface RatesDraft {
  readonly call: string;
  readonly tokens: Readonly<Record<TokenName, RateDraft>>;
  readonly pieces: Readonly<Record<string, string>>;
  readonly pictures: readonly PictureDraft[];
}

interface TierDraft {
  readonly over: string;
  readonly factors: Readonly<Record<string, string>>;
}

interface ServiceTierDraft {
  readonly tier: string;
  readonly factor: string;
}

export interface PeriodDraft {
  readonly from: string;
  readonly until: string;
  /** The call as such has the price. What was typed for tokens stays. */
  readonly byCall: boolean;
  readonly selling: RatesDraft;
  readonly purchase: RatesDraft;
  readonly tiers: readonly TierDraft[];
  /** The record names tiers of service; otherwise the option does. */
  readonly hasServiceTiers: boolean;
  readonly serviceTiers: readonly ServiceTierDraft[];
}

export interface PriceDraft {
  /** How prices of tokens are typed. */
  readonly unit: RateUnit;
  readonly periods: readonly PeriodDraft[];
}

const eachToken = <Value>(of: (name: TokenName) => Value): Readonly<Record<TokenName, Value>> =>
  Object.fromEntries(tokenNames.map((name) => [name, of(name)])) as Record<TokenName, Value>;

const rateDraft = (rate: TokenRate | undefined): RateDraft => {
  if (rate === undefined) return { unit: 'usd', text: '' };
  return 'usd' in rate ? { unit: 'usd', text: rate.usd } : { unit: 'ratio', text: rate.ratio };
};

const ratesDraft = ({ call = '', tokens = {}, pieces = {}, pictures = [] }: Rates): RatesDraft => ({
  call,
  tokens: eachToken((name) => rateDraft(tokens[name])),
  pieces,
  pictures: pictures.map(({ size = '', quality = '', usd }) => ({ size, quality, usd })),
});

const periodDraft = (price: ModelPrice): PeriodDraft => ({
  from: price.from ?? '',
  until: price.until ?? '',
  byCall: price.call !== undefined,
  selling: ratesDraft(price),
  purchase: ratesDraft(price.purchase ?? {}),
  tiers: (price.contextTiers ?? []).map(({ over, factors }) => ({ over: String(over), factors })),
  hasServiceTiers: price.serviceTiers !== undefined,
  serviceTiers: Object.entries(price.serviceTiers ?? {}).map(([tier, factor]) => ({ tier, factor })),
});

const isRatio = (rate: TokenRate): boolean => 'ratio' in rate;

/** Beside the input, whose price is always in USD. */
const otherRates = ({ tokens = {} }: Rates): readonly TokenRate[] =>
  Object.entries(tokens).flatMap(([name, rate]) => (name === 'input' ? [] : [rate]));

/** Typed as it is stated: what is opened and saved again is the same record. null: a model without a price. */
export function draftOf(periods: PricePeriods | null): PriceDraft {
  const stated = periods ?? [{}];
  const rates = stated.flatMap((price) => [...otherRates(price), ...otherRates(price.purchase ?? {})]);
  const draft: PriceDraft = { unit: 'usd', periods: stated.map(periodDraft) };
  return rates.length > 0 && rates.every(isRatio) ? inUnit(draft, 'ratio') : draft;
}

const modelRatioUsd = '2';
const half = '0.5';

const inputUsd = ({ unit, text }: RateDraft): string | null =>
  unit === 'usd' ? product(text, '1') : product(text, modelRatioUsd);

function rateInUnit(name: TokenName, rate: RateDraft, input: string | null, unit: RateUnit): RateDraft {
  if (rate.unit === unit) return rate;
  if (rate.text.trim() === '') return { unit, text: '' };
  if (name === 'input') {
    const text = product(rate.text, unit === 'usd' ? modelRatioUsd : half);
    return text === null ? rate : { unit, text };
  }
  if (input === null) return rate;
  const text = unit === 'usd' ? product(rate.text, input) : exactQuotient(rate.text, input);
  return text === null ? rate : { unit, text };
}

const ratesInUnit = (rates: RatesDraft, unit: RateUnit): RatesDraft => {
  const input = inputUsd(rates.tokens.input);
  return { ...rates, tokens: eachToken((name) => rateInUnit(name, rates.tokens[name], input, unit)) };
};

/** The same prices, typed the other way. What that cannot say exactly stays as it is. */
export const inUnit = (draft: PriceDraft, unit: RateUnit): PriceDraft => ({
  unit,
  periods: draft.periods.map((period) => ({
    ...period,
    selling: ratesInUnit(period.selling, unit),
    purchase: ratesInUnit(period.purchase, unit),
  })),
});

const isTyped = (text: string): boolean => text.trim() !== '';
/** What is no number goes to the server as it is typed, which says what is allowed. */
const numberText = (text: string): string => product(text, '1') ?? text.trim();

function rateOf(name: TokenName, { unit, text }: RateDraft): TokenRate {
  if (name === 'input' && unit === 'ratio') return { usd: product(text, modelRatioUsd) ?? text.trim() };
  return unit === 'usd' ? { usd: numberText(text) } : { ratio: numberText(text) };
}

const pictureOf = ({ size, quality, usd }: PictureDraft): PicturePrice => ({
  ...(isTyped(size) ? { size: size.trim() } : {}),
  ...(isTyped(quality) ? { quality: quality.trim() } : {}),
  usd: numberText(usd),
});

const typedOf = (table: Readonly<Record<string, string>>): { readonly [name: string]: string } =>
  Object.fromEntries(
    Object.entries(table)
      .filter(([, text]) => isTyped(text))
      .map(([name, text]) => [name, numberText(text)]),
  );

function ratesOf({ call, tokens, pieces, pictures }: RatesDraft, withCall: boolean): Rates {
  const rates = tokenNames
    .filter((name) => isTyped(tokens[name].text))
    .map((name) => [name, rateOf(name, tokens[name])]);
  const typedPieces = typedOf(pieces);
  return {
    ...(withCall ? { call: numberText(call) } : {}),
    ...(rates.length === 0 ? {} : { tokens: Object.fromEntries(rates) }),
    ...(Object.keys(typedPieces).length === 0 ? {} : { pieces: typedPieces }),
    ...(pictures.length === 0 ? {} : { pictures: pictures.map(pictureOf) }),
  };
}

const tierOf = ({ over, factors }: TierDraft): ContextTier => {
  const count = Number(over);
  return { over: isTyped(over) && Number.isFinite(count) ? count : over, factors: typedOf(factors) };
};

function priceOf(period: PeriodDraft): ModelPrice {
  const purchase = ratesOf(period.purchase, isTyped(period.purchase.call));
  return {
    ...ratesOf(period.selling, period.byCall),
    ...(period.tiers.length === 0 ? {} : { contextTiers: period.tiers.map(tierOf) }),
    ...(period.hasServiceTiers
      ? {
          serviceTiers: Object.fromEntries(
            period.serviceTiers.map(({ tier, factor }) => [tier.trim(), numberText(factor)]),
          ),
        }
      : {}),
    ...(Object.keys(purchase).length === 0 ? {} : { purchase }),
    ...(isTyped(period.from) ? { from: period.from.trim() } : {}),
    ...(isTyped(period.until) ? { until: period.until.trim() } : {}),
  };
}

/** As it is sent: the server judges it. */
export const recordOf = ({ periods }: PriceDraft): PricePeriods => periods.map(priceOf);

const isZero = (text: string | undefined): boolean => text !== undefined && product(text, '1') === '0';

/** Some period charges nothing for a call, or for its input. */
export const isFree = (record: PricePeriods): boolean =>
  record.some(({ call, tokens }) => {
    const input = tokens?.input;
    return call === undefined ? input !== undefined && 'usd' in input && isZero(input.usd) : isZero(call);
  });

const emptyRates = (unit: RateUnit): RatesDraft => ({
  call: '',
  tokens: eachToken(() => ({ unit, text: '' })),
  pieces: {},
  pictures: [],
});

export const emptyPeriod = (unit: RateUnit): PeriodDraft => ({
  from: '',
  until: '',
  byCall: false,
  selling: emptyRates(unit),
  purchase: emptyRates(unit),
  tiers: [],
  hasServiceTiers: false,
  serviceTiers: [],
});

/** What one can begin the next period with: the last one, from a day that is to be said. */
export const nextPeriod = ({ periods, unit }: PriceDraft): PeriodDraft => ({
  ...(periods.at(-1) ?? emptyPeriod(unit)),
  from: '',
  until: '',
});

export const sameRecord = (one: PricePeriods, other: PricePeriods): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** Names of pieces that have a field: those there are, and others that the record names. */
export const pieceFields = ({ selling, purchase }: PeriodDraft): readonly string[] => [
  ...new Set([...pieceNames, ...Object.keys(selling.pieces), ...Object.keys(purchase.pieces)]),
];
