import { type Decimal, decimal, decimalText, isSame, isZero, ratioOf, times } from '../../kernel/decimal.js';
import { tierRatios } from '../context-tiers.js';
import type { Price, PriceRates } from '../pricing.js';
import { isToolCalls, type PieceQuantity, type TokenQuantity, tokenQuantities } from '../quantities.js';
import type { ModelPrice, TokenRate } from './model-price.js';

/* From a record of the price table to the price of a call. */

interface RecordTerms {
  /** Ratios of the kinds of token that the record leaves out, by the rules of the model's family. */
  readonly familyRatios: PriceRates<TokenQuantity>;
  /** Of an input token, where the record states none. */
  readonly unpricedRatio: string;
  readonly group: string;
  readonly quotaPerUnit: string;
}

const half = decimal('0.5');

/** Of an input token of this price: 1 = 2 USD per million. */
export const inputRatioOf = (usd: string): Decimal => times(decimal(usd), half);

/** By the second, the character or the picture, and by nothing else: its tokens cost nothing. */
export const isSoldByPiece = ({ call, tokens, pieces = {}, pictures }: ModelPrice): boolean =>
  call === undefined &&
  tokens?.input === undefined &&
  (pictures !== undefined || (Object.keys(pieces) as PieceQuantity[]).some((name) => !isToolCalls(name)));

/** A record may state what a provider takes, or the price of a tool, and leave the model without a price. */
export const isPricedBy = (price: ModelPrice): boolean =>
  price.call !== undefined || price.tokens?.input !== undefined || isSoldByPiece(price);

/** In USD of a million tokens. */
const usdOf = (rate: TokenRate, input: Decimal): Decimal =>
  'usd' in rate ? decimal(rate.usd) : times(decimal(rate.ratio), input);

/** What a kind costs relative to an input token, if twelve places say it exactly; null: they do not. */
function exactRatio(rate: TokenRate, input: Decimal): string | null {
  if ('ratio' in rate) return rate.ratio;
  if (isZero(input)) return null;
  const usd = decimal(rate.usd);
  const ratio = ratioOf(usd, input);
  return isSame(times(ratio, input), usd) ? decimalText(ratio) : null;
}

/**
 * Ratios are relative to an input token where that is exact. Where it is not, as with 1 USD for output and 0.3 for input,
 * they are what a token of each kind costs, and the price of the model is 1: no charge is off by a rounded ratio.
 */
function tokenPrice(
  { tokens = {} }: ModelPrice,
  { familyRatios, unpricedRatio }: RecordTerms,
): { readonly model: string; readonly ratios: PriceRates<TokenQuantity> } {
  const { input: inputRate, ...others } = tokens;
  const input = inputRate !== undefined && 'usd' in inputRate ? decimal(inputRate.usd) : null;
  const rates: Partial<Record<TokenQuantity, TokenRate>> = { ...others };
  for (const name of tokenQuantities) {
    const ratio = familyRatios[name];
    if (name !== 'input' && rates[name] === undefined && ratio !== undefined) rates[name] = { ratio };
  }
  const named = tokenQuantities.flatMap((name) => {
    const rate = rates[name];
    return rate === undefined ? [] : [[name, rate] as const];
  });
  const perInput = input ?? times(decimal(unpricedRatio), decimal('2'));
  const exact = named.map(([name, rate]) => [name, exactRatio(rate, perInput)] as const);
  if (exact.every((entry): entry is readonly [TokenQuantity, string] => entry[1] !== null))
    return { model: decimalText(times(perInput, half)), ratios: Object.fromEntries(exact) };
  const perToken = (usd: Decimal): string => decimalText(times(usd, half));
  return {
    model: '1',
    ratios: {
      input: perToken(perInput),
      output: perToken(perInput),
      ...Object.fromEntries(named.map(([name, rate]) => [name, perToken(usdOf(rate, perInput))])),
    },
  };
}

/** Calls of tools join a price when it is known which of them a call may use. */
function piecesOf({ pieces = {} }: ModelPrice): PriceRates<PieceQuantity> | null {
  const dollars = Object.fromEntries(
    (Object.entries(pieces) as [PieceQuantity, string][]).filter(([name]) => !isToolCalls(name)),
  );
  return Object.keys(dollars).length === 0 ? null : dollars;
}

/** The price for a group of a model that the record is about. */
export function recordedPrice(record: ModelPrice, terms: RecordTerms): Price {
  const { group, quotaPerUnit } = terms;
  const dollars = piecesOf(record);
  const pieces = dollars === null ? {} : { pieces: { dollars, quotaPerUnit } };
  if (record.call !== undefined) return { per: 'call', price: record.call, quotaPerUnit, group, ...pieces };
  const { model, ratios } = tokenPrice(record, terms);
  const tiers = record.contextTiers?.map((tier) => tierRatios(ratios, tier));
  return { per: 'token', model, ratios, group, ...(tiers === undefined ? {} : { tiers }), ...pieces };
}
