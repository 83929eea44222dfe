import type Stripe from 'stripe';
import type { MoneyReturned } from '../domain/payment/payment-return.js';

/* What Stripe reports of money that goes back. It is reported by charges and disputes, which do not know our orders. */

interface StripeReturn {
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

const moneyMembers = ['amount', 'amount_refunded', 'amount_total'];
const textMembers = ['id', 'currency', 'client_reference_id', 'status', 'payment_status'];
const isText = (value: unknown): boolean => typeof value === 'string';
const isAbsent = (value: unknown): boolean => value === null || value === undefined;
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether it has the shape of an event whose members can be read; null and missing members are Stripe's own. */
export function isStripeEvent(event: unknown): event is Stripe.Event {
  if (!isObject(event) || !isText(event.type) || !isObject(event.data) || !isObject(event.data.object)) return false;
  const { object } = event.data;
  // Looked at of the events that move something alone: of others nobody knows what their members mean.
  if (!isMoving(String(event.type))) return true;
  const intent = object.payment_intent;
  return (
    moneyMembers.every((name) => isAbsent(object[name]) || Number.isSafeInteger(object[name])) &&
    textMembers.every((name) => isAbsent(object[name]) || isText(object[name])) &&
    needed(String(event.type)).every((name) => !isAbsent(object[name])) &&
    (isAbsent(intent) || isText(intent) || (isObject(intent) && isText(intent.id)))
  );
}

const isMoving = (type: string): boolean => type.startsWith('checkout.session.') || needed(type).length > 0;

/** What is read of an event whatever else it says. */
function needed(type: string): readonly string[] {
  if (type === 'charge.refunded') return ['id', 'amount_refunded', 'currency'];
  return /^charge\.dispute\.(funds_withdrawn|funds_reinstated|closed)$/.test(type) ? ['id', 'amount', 'currency'] : [];
}

/** null: no money of a checkout has moved. */
export function stripeReturn(event: Stripe.Event, moneyOf: (units: number) => string): StripeReturn | null {
  const found = returnedBy(event, moneyOf);
  const paymentIntent = found === null ? null : nameOf(found.intent);
  return found === null || paymentIntent === null ? null : { paymentIntent, returned: found.returned };
}
