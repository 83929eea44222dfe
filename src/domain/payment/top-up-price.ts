import { type Decimal, decimal, integer, quotient, times } from '../kernel/decimal.js';
import { Failure, invalidField } from '../kernel/failure.js';
import { enteredQuota, type Quota } from '../kernel/quota.js';

/* What quota costs in money: the amount times the price of a dollar times the group's ratio, exact, rounded once. */

/** Every factor of a price, as decimal text. */
export interface TopUpPrices {
  /** Of one dollar's quota, in `currency`. */
  readonly price: string;
  /** ISO 4217, upper case. */
  readonly currency: string;
  readonly group: string;
  readonly groupRatio: string;
  readonly quotaPerUnit: string;
  /** Amounts are dollars; otherwise they are quota. */
  readonly inCurrency: boolean;
}

export interface TopUpOffer {
  readonly quota: Quota;
  /** With two decimals: `73.00`. */
  readonly money: string;
}

/** What no provider takes at once. */
const maxCents = 99_999_999n;

export const moneyText = (cents: bigint): string => {
  const digits = cents.toString().padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
};

/** The least that can be bought at once, in the unit of amounts. */
export const minAmount = (dollars: number, { inCurrency, quotaPerUnit }: TopUpPrices): number =>
  inCurrency ? dollars : quotaOf(dollars, quotaPerUnit);

const quotaOf = (dollars: number, quotaPerUnit: string): number =>
  Number(quotient(times(integer(dollars), decimal(quotaPerUnit)), integer(1), 0).digits);

/**
 * `min`: dollars that have to be bought at once. Throws `top-up-too-small`, `top-up-too-cheap` where it comes to less
 * than `minCents`, `quota-out-of-range` and `invalid-field` where it is more than anybody could pay.
 */
export function topUpOffer(amount: number, min: number, prices: TopUpPrices, minCents: number): TopUpOffer {
  if (!Number.isSafeInteger(amount)) throw invalidField('amount', 'an integer');
  const minimum = minAmount(min, prices);
  if (amount < Math.max(minimum, 1))
    throw new Failure('top-up-too-small', {
      field: 'amount',
      min: Math.max(minimum, 1),
    });
  const unit: Decimal = prices.inCurrency ? integer(1) : decimal(prices.quotaPerUnit);
  const exact = times(times(integer(amount), decimal(prices.price)), decimal(prices.groupRatio));
  const cents = quotient(times(exact, integer(100)), unit, 0).digits;
  if (cents < BigInt(minCents)) throw new Failure('top-up-too-cheap', { field: 'amount' });
  const quota = enteredQuota('amount', prices.inCurrency ? quotaOf(amount, prices.quotaPerUnit) : amount);
  if (cents > maxCents) throw invalidField('amount', `an amount that costs at most ${moneyText(maxCents)}`);
  if (quota < 1) throw new Failure('top-up-too-cheap', { field: 'amount' });
  return { quota, money: moneyText(cents) };
}
