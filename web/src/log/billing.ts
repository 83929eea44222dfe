import type { LogLineQuery } from '../generated/log/log.js';
import { dollarsFor, dollarsPerMillion } from '../kit/unitPrice.js';

/* How the calculation behind a charge is written down. The server made it; nothing is worked out here. */

export type LogLine = LogLineQuery['usageLog']['edges'][number]['node'];
/** What a charge is shown from: of a line, or of a request. */
export type Billed = Pick<LogLine, 'billing' | 'price' | 'detail' | 'quota' | 'uncovered'>;
export type Billing = NonNullable<LogLine['billing']>;
export type BillingLine = Billing['lines'][number];

/** What the whole was multiplied by. `group` null: no group took part. */
type Factors =
  | { readonly per: 'token'; readonly model: string; readonly group: string | null }
  | { readonly per: 'call'; readonly price: string; readonly quotaPerUnit: string; readonly group: string | null };

/**
 * null: the line is not about a charge. `quotaPerUnit`: of today, for a channel test, which does not keep the one of its
 * day.
 */
export function factorsOf({ price, detail }: Pick<Billed, 'price' | 'detail'>, quotaPerUnit: string): Factors | null {
  if (detail !== null && 'modelRatio' in detail) {
    const { modelRatio: model, modelPrice } = detail;
    return modelPrice === null
      ? { per: 'token', model, group: null }
      : { per: 'call', price: modelPrice, quotaPerUnit, group: null };
  }
  if (price === null) return null;
  return price.__typename === 'CallPrice' ? { per: 'call', ...price } : { per: 'token', ...price };
}

const product = (...factors: readonly (string | null)[]): string =>
  factors.filter((factor) => factor !== null).join(' × ');

/** `(1200 + 300 × 0.5) × 1.25 × 2 = 3375`: the whole calculation on one line. */
export function formulaOf({ lines, exact, serviceFactor }: Billing, factors: Factors): string {
  const tokens = lines.flatMap(({ count, ratio }) =>
    ratio === null ? [] : product(String(count), ratio === '1' ? null : ratio),
  );
  // What is not counted in tokens has its price already in it.
  const others = lines.flatMap(({ quantity, count, ratio, unitPrice }) =>
    ratio === null && quantity !== 'call' ? product(String(count), unitPrice) : [],
  );
  if (factors.per === 'call')
    return `${[product(factors.price, factors.quotaPerUnit, factors.group, serviceFactor), ...others].join(' + ')} = ${exact}`;
  const weighted = tokens.length > 1 ? `(${tokens.join(' + ')})` : (tokens[0] ?? '0');
  const byTokens =
    tokens.length > 0 || others.length === 0 ? [product(weighted, factors.model, factors.group, serviceFactor)] : [];
  return `${[...byTokens, ...others].join(' + ')} = ${exact}`;
}

/** US dollars for a million tokens, or for one of what is not counted in tokens. */
export const priceText = ({ ratio, unitPrice }: BillingLine, quotaPerUnit: string): string =>
  ratio === null ? dollarsFor(unitPrice, quotaPerUnit) : dollarsPerMillion(unitPrice, quotaPerUnit);

/** What was charged is not what the calculation gives, less what could not be had. */
export const differs = ({ total }: Billing, { quota, uncovered }: Pick<Billed, 'quota' | 'uncovered'>): boolean =>
  total !== quota + uncovered;
