import type { ModelPrice, PricePeriods, Rates, TokenRate } from './priceRecord.js';

/* A record part by part, to be laid beside another one. Parts are called as the server calls them. */

const rateText = (rate: TokenRate): string => ('usd' in rate ? `$${rate.usd}` : `×${rate.ratio}`);

const ratesParts = (path: string, { call, tokens = {}, pieces = {}, pictures = [] }: Rates): [string, string][] => [
  ...(call === undefined ? [] : [[`${path}call`, `$${call}`] as [string, string]]),
  ...Object.entries(tokens).map(([name, rate]): [string, string] => [`${path}tokens.${name}`, rateText(rate)]),
  ...Object.entries(pieces).map(([name, usd]): [string, string] => [`${path}pieces.${name}`, `$${usd}`]),
  ...pictures.map(({ size = 'any', quality = 'any', usd }): [string, string] => [
    `${path}pictures.${size}.${quality}`,
    `$${usd}`,
  ]),
];

const partsOf = (price: ModelPrice): [string, string][] => [
  ...ratesParts('', price),
  ...(price.contextTiers ?? []).flatMap(({ over, factors }) =>
    Object.entries(factors).map(([name, factor]): [string, string] => [`contextTiers.${over}.${name}`, `×${factor}`]),
  ),
  ...Object.entries(price.serviceTiers ?? {}).map(([tier, factor]): [string, string] => [
    `serviceTiers.${tier}`,
    `×${factor}`,
  ]),
  ...ratesParts('purchase.', price.purchase ?? {}),
  ...(price.until === undefined ? [] : [['until', price.until] as [string, string]]),
];

interface ComparedRow {
  /** First day of the period; empty: of the one without. */
  readonly from: string;
  readonly part: string;
  /** null: it says nothing of it. */
  readonly mine: string | null;
  readonly theirs: string | null;
}

const byPart = (periods: PricePeriods): Map<string, string> =>
  new Map(
    periods.flatMap((price) =>
      partsOf(price).map(([part, text]): [string, string] => [`${price.from ?? ''}|${part}`, text]),
    ),
  );

/** Where two records differ. */
export function comparedRows(mine: PricePeriods, theirs: PricePeriods): readonly ComparedRow[] {
  const [own, other] = [byPart(mine), byPart(theirs)];
  return [...new Set([...own.keys(), ...other.keys()])].flatMap((key) => {
    const [from = '', part = ''] = key.split('|');
    const row = { from, part, mine: own.get(key) ?? null, theirs: other.get(key) ?? null };
    return row.mine === row.theirs ? [] : [row];
  });
}
