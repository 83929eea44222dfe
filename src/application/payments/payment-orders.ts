import { type Position, streams } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { PaymentId } from '../../domain/kernel/ids.js';
import {
  type ExpiryReason,
  type MoneyReceived,
  type Payment,
  type PaymentCommand,
  type PaymentEvent,
  type PaymentProviderName,
  paymentDecider,
  type TopUpTerms,
} from '../../domain/payment/payment.js';
import type { MoneyReturned } from '../../domain/payment/payment-return.js';
import type { Actor } from '../../domain/user/user.js';
import type { Handle } from '../handle.js';
import type { OrderToPay, PaymentProviders } from '../ports/payment-ports.js';
import type { EventStore } from '../ports/storage-ports.js';

/* One order of quota for money, from its beginning to its end: read, completed, taken back, expired. */

export interface PaymentOrderPorts {
  readonly store: Pick<EventStore, 'readStream'>;
  readonly handle: Handle;
  readonly providers: PaymentProviders;
  readonly warn: (facts: object, message: string) => void;
}

/** What a look at an order has led to. */
export interface Checked {
  readonly status: Exclude<Payment['status'], 'absent'>;
  /** The provider did not say. */
  readonly unanswered: boolean;
  /** null: nothing has changed. */
  readonly position: Position | null;
}

export const toPay = (
  id: PaymentId,
  { method, amount, money, prices }: TopUpTerms,
  session: string | null = null,
): OrderToPay => ({
  id,
  method,
  amount,
  money,
  currency: prices.currency,
  session,
});

export const runPaymentCommand = (
  { handle }: Pick<PaymentOrderPorts, 'handle'>,
  id: PaymentId,
  command: PaymentCommand,
  actor: Actor | null = null,
) =>
  (actor === null ? handle : handle.by(actor))<Payment, PaymentCommand, PaymentEvent>(
    paymentDecider,
    streams.payment(id),
    command,
  );

/** Throws `payment-not-found`. */
export async function readPayment(
  { store }: Pick<PaymentOrderPorts, 'store'>,
  id: PaymentId,
): Promise<Exclude<Payment, { status: 'absent' }>> {
  const recorded = await store.readStream(streams.payment(id));
  const payment = recorded.reduce<Payment>(
    (state, { event }) => paymentDecider.evolve(state, event as PaymentEvent),
    paymentDecider.initial,
  );
  if (payment.status === 'absent') throw new Failure('payment-not-found');
  return payment;
}

/** Who says that an order was paid: its provider by itself (`notice`), or when it was asked (`poll`). */
interface PaymentConfirmation {
  readonly provider: PaymentProviderName;
  readonly received: MoneyReceived;
  readonly by: 'notice' | 'poll';
}

/** null: it was completed before. Throws `payment-not-found`, `payment-differs`. */
export async function completeTopUp(
  ports: Pick<PaymentOrderPorts, 'handle' | 'warn'>,
  id: PaymentId,
  { provider, received, by }: PaymentConfirmation,
): Promise<Position | null> {
  const command: PaymentCommand = { type: 'CompleteTopUp', provider, learned: { by }, ...received };
  const { events, position } = await runPaymentCommand(ports, id, command);
  const [completed] = events;
  if (completed === undefined) return null;
  if (completed.type === 'TopUpCompleted' && completed.late)
    ports.warn({ order: id }, 'an order that had expired was paid; it is credited');
  return position;
}

/** Money that comes all the same is credited. null: it was not open. */
export async function expireTopUp(
  ports: Pick<PaymentOrderPorts, 'handle'>,
  id: PaymentId,
  reason: ExpiryReason,
): Promise<Position | null> {
  const { events, position } = await runPaymentCommand(ports, id, { type: 'ExpireTopUp', reason });
  return events.length === 0 ? null : position;
}

/** Asks the provider. Throws `payment-not-found`, `payment-differs`. */
export async function checkPayment(ports: PaymentOrderPorts, id: PaymentId): Promise<Checked> {
  const { status, terms, session } = await readPayment(ports, id);
  if (status === 'completed') return { status, unanswered: false, position: null };
  const { provider } = terms;
  const state = await ports.providers[provider].ask(toPay(id, terms, session));
  if (state.kind === 'over')
    return { status: 'expired', unanswered: false, position: await expireTopUp(ports, id, 'provider') };
  if (state.kind !== 'paid') return { status, unanswered: state.kind === 'unanswered', position: null };
  const position = await completeTopUp(ports, id, { provider, received: state.received, by: 'poll' });
  return { status: 'completed', unanswered: false, position };
}

/** Of a refund or a dispute: its quota follows the money. */
export async function returnMoney(
  ports: PaymentOrderPorts,
  id: PaymentId,
  { provider, returned }: { readonly provider: PaymentProviderName; readonly returned: MoneyReturned },
): Promise<void> {
  // It may be reported before the payment itself, or where that was never heard of.
  await checkPayment(ports, id);
  const { events } = await runPaymentCommand(ports, id, { type: 'ReturnMoney', provider, returned });
  if (events.length > 0)
    ports.warn({ order: id, by: returned.by }, 'money of an order was returned or disputed; its quota follows');
}
