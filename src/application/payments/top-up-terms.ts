import { Failure } from '../../domain/kernel/failure.js';
import { type PaymentProviderName, paymentProviders } from '../../domain/payment/payment.js';
import type { TopUpPrices } from '../../domain/payment/top-up-price.js';
import type { Settings } from '../options/settings.js';
import type { PaymentProviders } from '../ports/payment-ports.js';

/* On what terms quota is sold now: by which methods, at which prices. */

/** `group`: of who buys. A ratio of nothing is none. */
export function topUpPrices(settings: Settings, provider: PaymentProviderName, group: string): TopUpPrices {
  const ratio = settings.topUp.groupRatio.get(group) ?? '1';
  return {
    ...settings.topUp.priceBy[provider],
    group,
    groupRatio: Number(ratio) === 0 ? '1' : ratio,
    quotaPerUnit: settings.prices.quotaPerUnit,
    inCurrency: settings.flag('DisplayInCurrencyEnabled'),
  };
}

export const methodsOf = (
  providers: PaymentProviders,
): readonly { readonly provider: PaymentProviderName; readonly method: string }[] =>
  paymentProviders.flatMap((provider) => providers[provider].methods().map((method) => ({ provider, method })));

/** Who takes money by this method. Throws `payment-not-configured` where nobody does. */
export function paymentProviderOf(providers: PaymentProviders, method: string): PaymentProviderName {
  const found = methodsOf(providers).find((known) => known.method === method);
  if (found === undefined) throw new Failure('payment-not-configured');
  return found.provider;
}
