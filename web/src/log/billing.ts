import type { LogLineQuery } from '../generated/log/log.js';
import { type Exact, exact, exactly, exactText, plus, rounded, times } from './exactDecimal.js';

/* How the charge of a line came about, worked out again from the factors the line carries. */

export type LogLine = LogLineQuery['usageLog']['edges'][number]['node'];

const tokenKinds = ['input', 'cached', 'cacheWrite', 'image', 'output', 'reasoning'] as const;
type TokenKind = (typeof tokenKinds)[number];

/** Tokens of one kind. `ratio`: relative to an input token. */
export interface BilledTokens {
  readonly kind: TokenKind;
  readonly tokens: number;
  readonly ratio: string;
  /** Quota, all factors applied, not rounded. */
  readonly cost: string;
}

interface Result {
  /** Multiplied through, before rounding. */
  readonly product: string;
  /** What the factors give, by the rules of rounding. Quota. */
  readonly quota: number;
}

export type Billing =
  | (Result & {
      readonly per: 'token';
      readonly model: string;
      /** null: no group took part. */
      readonly group: string | null;
      readonly parts: readonly BilledTokens[];
    })
  | (Result & {
      readonly per: 'call';
      readonly price: string;
      readonly quotaPerUnit: string;
      readonly group: string | null;
    });

type TokenRatios = Readonly<Record<Exclude<TokenKind, 'input' | 'output'>, string>> & {
  readonly model: string;
  readonly completion: string;
  readonly group: string | null;
};

/** null: the line is no charge. `quotaPerUnit`: of today, for a channel test, which does not keep the one of its day. */
export function billingOf(line: LogLine, quotaPerUnit: string): Billing | null {
  const { price, detail } = line;
  if (detail !== null && 'modelRatio' in detail) {
    const { modelRatio, completionRatio, modelPrice } = detail;
    if (modelPrice !== null) return perCall(modelPrice, quotaPerUnit, null);
    return perToken(line, {
      model: modelRatio,
      completion: completionRatio,
      cached: '1',
      cacheWrite: '1',
      image: '1',
      reasoning: completionRatio,
      group: null,
    });
  }
  if (price === null) return null;
  if (price.__typename === 'CallPrice') return perCall(price.price, price.quotaPerUnit, price.group);
  const { model, completion, cache: cached, cacheWrite, image, reasoning, group } = price;
  return perToken(line, { model, completion, cached, cacheWrite, image, reasoning, group });
}

function perCall(price: string, quotaPerUnit: string, group: string | null): Billing {
  const product = times(times(exact(price), exact(quotaPerUnit)), exact(group ?? '1'));
  return { per: 'call', price, quotaPerUnit, group, product: exactText(product), quota: rounded(product) };
}

function perToken(line: LogLine, ratios: TokenRatios): Billing {
  const { model, completion, cached, cacheWrite, image, reasoning, group } = ratios;
  const plain = line.promptTokens - line.cachedTokens - line.cacheWriteTokens - line.imageTokens;
  const counted: readonly [TokenKind, number, string][] = [
    ['input', Math.max(plain, 0), '1'],
    ['cached', line.cachedTokens, cached],
    ['cacheWrite', line.cacheWriteTokens, cacheWrite],
    ['image', line.imageTokens, image],
    ['output', Math.max(line.completionTokens - line.reasoningTokens, 0), completion],
    ['reasoning', line.reasoningTokens, reasoning],
  ];
  const unit = times(exact(model), exact(group ?? '1'));
  let weighted: Exact = exactly(0);
  const parts: BilledTokens[] = [];
  for (const [kind, tokens, ratio] of counted) {
    if (tokens === 0) continue;
    const part = times(exactly(tokens), exact(ratio));
    weighted = plus(weighted, part);
    parts.push({ kind, tokens, ratio, cost: exactText(times(part, unit)) });
  }
  const product = times(weighted, unit);
  // What was used and is not free costs something.
  const least = parts.length > 0 && unit.units > 0n ? 1 : 0;
  return {
    per: 'token',
    model,
    group,
    parts,
    product: exactText(product),
    quota: Math.max(rounded(product), least),
  };
}

/** `(1200 + 300 × 0.5) × 1.25 × 2 = 3375`: the whole calculation on one line. */
export function formulaOf(billing: Billing): string {
  const factors =
    billing.per === 'call'
      ? [billing.price, billing.quotaPerUnit, billing.group]
      : [weightedText(billing.parts), billing.model, billing.group];
  return `${factors.filter((factor) => factor !== null).join(' × ')} = ${billing.product}`;
}

function weightedText(parts: readonly BilledTokens[]): string {
  const terms = parts.map(({ tokens, ratio }) => (ratio === '1' ? String(tokens) : `${tokens} × ${ratio}`));
  return terms.length > 1 ? `(${terms.join(' + ')})` : (terms[0] ?? '0');
}

/** US dollars per million tokens of a kind, exact. */
export function pricePerMillion(model: string, ratio: string, group: string | null, quotaPerUnit: string): string {
  const quota = times(times(exact(model), exact(ratio)), times(exact(group ?? '1'), exactly(1_000_000)));
  const perUnit = exact(quotaPerUnit);
  // Divided last; six decimals are finer than any price list.
  const dollars = Number(exactText(quota)) / Number(exactText(perUnit));
  return String(Number(dollars.toFixed(6)));
}
