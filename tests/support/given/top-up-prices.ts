import type { TopUpPrices } from '../../../src/domain/payment/top-up-price.js';

/** What a gateway that nobody has configured sells quota for. */
export const topUpPrices = (change: Partial<TopUpPrices> = {}): TopUpPrices => ({
  price: '7.3',
  currency: 'CNY',
  group: 'default',
  groupRatio: '1',
  quotaPerUnit: '500000',
  inCurrency: true,
  ...change,
});
