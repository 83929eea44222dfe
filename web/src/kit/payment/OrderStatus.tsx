import type { OrderStateFragment } from '../../generated/kit/payment/payment.js';
import { StatusTag } from '../StatusTag.js';
import { useText } from '../words/i18n.js';
import { paymentTexts } from './payment.texts.js';

const intents = {
  OPEN: 'primary',
  COMPLETED: 'success',
  EXPIRED: 'none',
  REFUNDED: 'warning',
  DISPUTED: 'danger',
} as const;

/** How an order of quota stands; what has become of its money counts for more than that it came. */
export function OrderStatus({ order }: { readonly order: OrderStateFragment }) {
  const t = useText(paymentTexts);
  const { currency, refunded, disputed, late } = order;
  const state = disputed ? 'DISPUTED' : refunded === null ? order.status : 'REFUNDED';
  const reasons = [
    disputed && t('disputed'),
    refunded !== null && t('refunded', { money: refunded, currency }),
    late && t('late'),
  ].filter((reason) => reason !== false);
  return (
    <StatusTag intent={intents[state]} reason={reasons.length === 0 ? undefined : reasons.join('; ')}>
      {t(`status.${state}`)}
    </StatusTag>
  );
}
