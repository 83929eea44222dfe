import type { Position } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { PaymentId, UserId } from '../../domain/kernel/ids.js';
import { checkReason, type ExpiryReason, type PaymentProviderName } from '../../domain/payment/payment.js';
import { outranks } from '../../domain/user/role.js';
import type { Actor } from '../../domain/user/user.js';
import { recentAttempts } from '../../rate-limit/recent-attempts.js';
import { authorise } from '../authorise.js';
import { type HeldCounts, ownedSlots } from '../bounded-counts.js';
import type { NodeDirectory } from '../memory/directory.js';
import { refusedWebhooks } from '../notifications/refused-webhooks.js';
import type { WebhookRequest } from '../ports/payment-ports.js';
import type { Clock } from '../ports/storage-ports.js';
import { noStepUp, type SessionProof } from '../session-proof.js';
import type { StepUps } from '../sign-in/step-up.js';
import { beginTopUp, priceTopUp, type TopUpBuyer, type TopUpOrder, type TopUpPorts } from './begin-top-up.js';
import { handleWebhook } from './handle-webhook.js';
import { checkPayment, expireTopUp, type PaymentOrderPorts, readPayment, runPaymentCommand } from './payment-orders.js';
import { PollTimes, pollPayment } from './payment-polls.js';

/*
 * Quota for money: an order is written down before its user goes to pay, and completed once, by whoever reports the
 * money first.
 */

interface ByHandPorts extends PaymentOrderPorts {
  readonly directory: Pick<NodeDirectory, 'user'>;
  readonly stepUps: Pick<StepUps, 'demand'>;
}

interface PaymentCommandPorts extends PaymentOrderPorts, TopUpPorts {
  readonly clock: Clock;
  readonly directory: Pick<NodeDirectory, 'settings' | 'user'>;
  readonly stepUps: Pick<StepUps, 'demand'>;
  /** Orders of a user that nobody has paid yet. */
  readonly openCounts: HeldCounts<PaymentId>;
}

/** Orders that a user may begin. */
const beginLimit = { max: 30, withinMs: 10 * 60_000 };

/** Asks about an order for an administrator. Throws `payment-unanswered` where the provider does not say. */
async function recheckPayment(ports: PaymentOrderPorts, actor: Actor, id: PaymentId): Promise<Position | null> {
  authorise(actor, 'admin');
  const { unanswered, position } = await checkPayment(ports, id);
  if (unanswered) throw new Failure('payment-unanswered');
  return position;
}

interface ManualCompletion {
  readonly reason: string;
  readonly proof: SessionProof;
}

/**
 * Credits an order whose money an administrator has seen. Like a change of balance, it is for users below oneself.
 * Throws `payment-completed`, `step-up-needed`, `peer-update-forbidden`.
 */
async function completeByHand(
  ports: ByHandPorts,
  actor: Actor,
  id: PaymentId,
  { reason, proof }: ManualCompletion,
): Promise<Position> {
  authorise(actor, 'admin');
  checkReason(reason);
  const { terms } = await readPayment(ports, id);
  const payer = await ports.directory.user(terms.user);
  if (payer !== null && !outranks(actor.role, payer.role)) throw new Failure('peer-update-forbidden');
  return ports.stepUps.demand(actor, 'payments', proof, async () => {
    const { position } = await runPaymentCommand(ports, id, { type: 'CompleteByHand', by: actor.id, reason }, actor);
    return position;
  });
}

export function paymentCommands(ports: PaymentCommandPorts) {
  const { clock, openCounts, warn } = ports;
  const refused = refusedWebhooks(clock, warn);
  const polling = { ...ports, polls: new PollTimes(clock) };
  const limits = {
    openOrders: ownedSlots(openCounts, (max) => new Failure('too-many-open-payments', { allowed: max })),
    attempts: recentAttempts<UserId>(beginLimit, clock),
  };
  return {
    price: (buyer: TopUpBuyer, amount: number, method: string | null = null) =>
      priceTopUp(ports, buyer, { amount, method }),
    begin: (buyer: TopUpBuyer, order: TopUpOrder, returnPath: string, key: string | null = null) =>
      beginTopUp(ports, limits, { buyer, order, returnPath, key }),
    check: (id: PaymentId) => checkPayment(ports, id),
    poll: (buyer: Pick<TopUpBuyer, 'id'>, id: PaymentId) => pollPayment(polling, buyer, id),
    expire: (id: PaymentId, reason: ExpiryReason) => expireTopUp(ports, id, reason),
    handleWebhook: (provider: PaymentProviderName, request: WebhookRequest) =>
      handleWebhook(ports, refused, { provider, request }),
    recheck: (actor: Actor, id: PaymentId) => recheckPayment(ports, actor, id),
    completeByHand: (actor: Actor, id: PaymentId, reason: string, proof: SessionProof = noStepUp) =>
      completeByHand(ports, actor, id, { reason, proof }),
    /** Those that were not believed, for administrators. */
    refusedWebhooks(actor: Actor) {
      authorise(actor, 'admin-reading');
      return refused.all();
    },
  };
}

export type PaymentCommands = ReturnType<typeof paymentCommands>;
