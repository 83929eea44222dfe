import type { Outbound } from '../application/ports/outbound-ports.js';
import { urlIn } from '../domain/kernel/address.js';
import type { OptionKey } from '../domain/options/option-table.js';

/* What every provider of payments is made of. */

export interface PaymentSetting {
  readonly outbound: Outbound;
  /** The text of an option that is no secret. */
  readonly text: (key: OptionKey) => string;
  /** Whether a secret option is set. */
  readonly isKept: (key: OptionKey) => boolean;
  /** What a secret option holds; null: it is not set. */
  readonly secretOf: (key: OptionKey) => Promise<string | null>;
}

/** For one question: a person may be waiting. */
export const paymentTimeoutMs = 5000;
/** Of one answer: far beyond an order. */
export const maxPaymentAnswerBytes = 64 * 1024;

/** Without a slash at its end; null: it is no address of a site. */
function addressIn(text: string): string | null {
  const address = text.trim().replace(/\/+$/, '');
  return /^https?:$/.test(urlIn(address)?.protocol ?? '') ? address : null;
}

export const optionAddress = ({ text }: Pick<PaymentSetting, 'text'>, key: OptionKey): string | null =>
  addressIn(text(key));

/** Where providers report payments, and where browsers come back to; null: nobody has said where this gateway is. */
export function ownAddresses(setting: Pick<PaymentSetting, 'text'>): { notices: string; site: string } | null {
  const site = optionAddress(setting, 'ServerAddress');
  const callback = optionAddress(setting, 'CustomCallbackAddress');
  const [notices, browsers] = [callback ?? site, site ?? callback];
  return notices === null || browsers === null ? null : { notices, site: browsers };
}
