import { add, decimal, negative, times } from '../../../domain/kernel/decimal.js';
import { amountIn, type BalanceWire, inDollars } from '../balance.js';

/* The accounts of OpenAI's older interface, which services that speak its language still have. */

const dayMs = 24 * 60 * 60 * 1000;
const cent = decimal('0.01');

/** Of that moment, in UTC: `2026-11-22`. */
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/**
 * The limit in USD less what has been used: this month, or within a hundred days where nothing pays the account. Until
 * tomorrow, as the day is another one elsewhere.
 */
export const dashboardBalance: BalanceWire = async ({ base, now, json }) => {
  const address = `${base}/v1/dashboard/billing`;
  const { hard_limit_usd, has_payment_method } = await json(`${address}/subscription`);
  const limit = amountIn(hard_limit_usd, 'hard_limit_usd');
  const from = has_payment_method === true ? `${dayOf(now).slice(0, 7)}-01` : dayOf(now - 100 * dayMs);
  const { total_usage } = await json(`${address}/usage?start_date=${from}&end_date=${dayOf(now + dayMs)}`);
  return inDollars(add(limit, negative(times(amountIn(total_usage, 'total_usage'), cent))));
};
