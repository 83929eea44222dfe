import { type Decimal, decimal, isDecimal } from '../../domain/kernel/decimal.js';
import type { JsonObject, JsonValue } from '../json/json.js';
import { NotReported, type ProviderQueries } from './provider-queries.js';

/* How a provider reports what is left in the account of a key. */

/** `currency`: by ISO 4217; null: it is none, such as points, or nobody says which. */
interface ReportedBalance {
  readonly amount: Decimal;
  readonly currency: string | null;
}

/** Throws NotReported. */
export type BalanceWire = (queries: ProviderQueries) => Promise<ReportedBalance>;

export const inDollars = (amount: Decimal): ReportedBalance => ({ amount, currency: 'USD' });
export const inYuan = (amount: Decimal): ReportedBalance => ({ amount, currency: 'CNY' });
export const inPoints = (amount: Decimal): ReportedBalance => ({ amount, currency: null });

/** A provider that reports it. */
export const reportsBalance = (balance: BalanceWire) => ({ reportsBalance: true, balance }) as const;

/** One question below the base URL, whose answer holds the figure. */
export const balanceAt = (path: string, read: (reported: JsonObject, base: string) => ReportedBalance): BalanceWire => {
  return async ({ base, json }) => read(await json(base + path), base);
};

const maxAmountLength = 40;
const maxDecimals = 20;
/** Beyond it nobody has an account, and a number of JSON is not exact. */
const maxAmount = 1e15;

/** A number, or one as text. Throws NotReported, naming the member. */
export function amountIn(value: JsonValue | undefined, member: string): Decimal {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text === 'string' && text.length <= maxAmountLength && isDecimal(text)) {
    const amount = decimal(text);
    if (amount.scale <= maxDecimals && Math.abs(Number(text)) <= maxAmount) return amount;
  }
  throw new NotReported(`the answer has no number as ${member}`);
}
