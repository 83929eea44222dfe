import { growingLru } from '../../data-structures/growing-lru.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { PaymentId } from '../../domain/kernel/ids.js';
import type { Clock } from '../ports/storage-ports.js';
import type { TopUpBuyer } from './begin-top-up.js';
import { type Checked, checkPayment, type PaymentOrderPorts, readPayment } from './payment-orders.js';

/* Somebody waits for an order of their own: its provider is asked, but not each time. */

/** Between two questions about one order that its user waits for. */
const pollPauseMs = 5_000;
const maxOrdersKept = 10_000;

/** When orders were last asked about for their users, the least recent first. */
export class PollTimes {
  private readonly polledAt = growingLru<PaymentId, number>(maxOrdersKept);

  constructor(private readonly clock: Clock) {}

  /** Whether it may be asked about now; then it counts as asked. */
  take(id: PaymentId): boolean {
    const { polledAt } = this;
    const now = this.clock.now();
    // From the future, after the clock was set back: it would keep the order from being asked about until then.
    const agoMs = now - (polledAt.get(id) ?? 0);
    if (agoMs >= 0 && agoMs < pollPauseMs) return false;
    polledAt.set(id, now);
    return true;
  }
}

/** Throws `payment-not-found`, of others' orders too. */
export async function pollPayment(
  ports: PaymentOrderPorts & { readonly polls: PollTimes },
  buyer: Pick<TopUpBuyer, 'id'>,
  id: PaymentId,
): Promise<Checked> {
  const { status, terms } = await readPayment(ports, id);
  if (terms.user !== buyer.id) throw new Failure('payment-not-found');
  if (status === 'completed' || !ports.polls.take(id)) return { status, unanswered: false, position: null };
  return checkPayment(ports, id);
}
