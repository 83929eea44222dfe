import type Stripe from 'stripe';
import type { MoneyReturned } from '../domain/payment-return.js';

/* What Stripe tells of money that goes back. It is told of charges and disputes, which do not know our orders. */

export interface StripeReturn {
  readonly paymentIntent: string;
  readonly returned: MoneyReturned;
}

const nameOf = (intent: string | Stripe.PaymentIntent | null): string | null =>
  typeof intent === 'string' ? intent : (intent?.id ?? null);

function returnedBy(
  event: Stripe.Event,
  moneyOf: (units: number) => string,
): { readonly intent: string | Stripe.PaymentIntent | null; readonly returned: MoneyReturned } | null {
  switch (event.type) {
    case 'charge.refunded': {
      const { id, amount_refunded, currency, payment_intent } = event.data.object;
      const refunded = moneyOf(amount_refunded);
      const returned = { by: 'refund', refunded, currency: currency.toUpperCase(), reference: id } as const;
      return { intent: payment_intent, returned };
    }
    // Not `charge.dispute.created`: an inquiry of a bank takes no money.
    case 'charge.dispute.funds_withdrawn':
    case 'charge.dispute.funds_reinstated':
    case 'charge.dispute.closed': {
      const { id, amount, currency, status, payment_intent } = event.data.object;
      const by = event.type === 'charge.dispute.funds_withdrawn' ? 'dispute' : 'dispute-won';
      // One may be closed as lost; and of one on a payment that was refunded in part, a part comes back at once.
      if (by === 'dispute-won' && status !== 'won') return null;
      const returned = { by, dispute: id, money: moneyOf(amount), currency: currency.toUpperCase() } as const;
      return { intent: payment_intent, returned };
    }
    default:
      return null;
  }
}

/** null: no money of a checkout has moved. */
export function stripeReturn(event: Stripe.Event, moneyOf: (units: number) => string): StripeReturn | null {
  const found = returnedBy(event, moneyOf);
  const paymentIntent = found === null ? null : nameOf(found.intent);
  return found === null || paymentIntent === null ? null : { paymentIntent, returned: found.returned };
}
