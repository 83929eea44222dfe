import type { PaymentProviders } from '../application/ports/payment-ports.js';
import { epay } from './epay.js';
import type { PaymentSetting } from './payment-setting.js';
import { stripe } from './stripe.js';

/** Those who take money, as the application wants them. */
export const openPayments = (setting: PaymentSetting, stripeUrl: string): PaymentProviders => ({
  epay: epay(setting),
  stripe: stripe(setting, stripeUrl),
});
