import { createHash } from 'node:crypto';
import { type Position, streams } from '../../domain/events/events.js';
import { checkText } from '../../domain/kernel/bounds.js';
import { Failure } from '../../domain/kernel/failure.js';
import { PaymentId, type UserId } from '../../domain/kernel/ids.js';
import {
  type Payment,
  type PaymentCommand,
  type PaymentEvent,
  type PaymentProviderName,
  paymentDecider,
} from '../../domain/payment/payment.js';
import { type TopUpOffer, topUpOffer } from '../../domain/payment/top-up-price.js';
import type { RecentAttempts } from '../../rate-limit/recent-attempts.js';
import type { OwnedSlots } from '../bounded-counts.js';
import type { Handle } from '../handle.js';
import type { IdempotencyStore, Repeatable } from '../idempotency.js';
import type { NodeDirectory } from '../memory/directory.js';
import type { Begun, PaymentProviders } from '../ports/payment-ports.js';
import type { ReadModelProgress, UserView } from '../ports/storage-ports.js';
import { runPaymentCommand, toPay } from './payment-orders.js';
import { methodsOf, paymentProviderOf, topUpPrices } from './top-up-terms.js';

/* What quota costs, and an order of it: written down before its user goes to pay. */

export interface TopUpPorts {
  readonly handle: Handle;
  readonly once: IdempotencyStore;
  readonly directory: Pick<NodeDirectory, 'settings'>;
  readonly providers: PaymentProviders;
  readonly progress: Pick<ReadModelProgress, 'reached'>;
}

/** How many orders a user may have open, and begin, as this node counts them. */
interface TopUpLimits {
  readonly openOrders: OwnedSlots<PaymentId>;
  readonly attempts: RecentAttempts<UserId>;
}

export type TopUpBuyer = Pick<UserView, 'id' | 'group'>;

export interface TopUpOrder {
  readonly amount: number;
  readonly method: string;
}

interface BegunTopUp {
  readonly id: PaymentId;
  readonly begun: Begun;
  readonly position: Position;
}

const methodText = { max: 32 };
const maxOpenOrders = 20;
/** Longest a new order is watched on its way into the read model; later the next order of its user finds it there. */
const countedTimeoutMs = 10_000;

/** Everybody else's orders stay unknown: the number follows from a keyed hash of the order's name. */
function tradeNumber(user: UserId, orderName: string): PaymentId {
  const digest = createHash('sha512').update(orderName).digest();
  const alphanumerics = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  const letters = [...digest.subarray(0, 6)].map((byte) => alphanumerics[byte % 62]);
  const digits = String(digest.readBigUInt64BE(32) % 10_000_000_000n).padStart(10, '0');
  return PaymentId(`USR${user}NO${letters.join('')}${digits}`);
}

interface OfferRequest {
  readonly amount: number;
  readonly provider: PaymentProviderName;
  readonly minCents: number;
}

function offerTo({ directory }: Pick<TopUpPorts, 'directory'>, { group }: TopUpBuyer, request: OfferRequest) {
  const settings = directory.settings();
  const prices = topUpPrices(settings, request.provider, group);
  return { prices, ...topUpOffer(request.amount, settings.topUp.minimum, prices, request.minCents) };
}

/** What an amount costs. `method` null: by whatever there is. Throws as `topUpOffer`, and `payment-not-configured`. */
export function priceTopUp(
  ports: Pick<TopUpPorts, 'directory' | 'providers'>,
  buyer: TopUpBuyer,
  { amount, method }: { readonly amount: number; readonly method: string | null },
): TopUpOffer & { readonly currency: string } {
  const { providers } = ports;
  if (method !== null) checkText('method', method, methodText);
  const provider =
    method === null ? (methodsOf(providers)[0]?.provider ?? 'epay') : paymentProviderOf(providers, method);
  const { quota, money, prices } = offerTo(ports, buyer, { amount, provider, minCents: 2 });
  return { quota, money, currency: prices.currency };
}

interface TopUpRequest {
  readonly buyer: TopUpBuyer;
  readonly order: TopUpOrder;
  /** See PaymentProvider. */
  readonly returnPath: string;
  /** The client's name for this order; a repeat answers with the same one. null: it has none. */
  readonly key: string | null;
}

export async function beginTopUp(
  ports: TopUpPorts,
  limits: TopUpLimits,
  { buyer, order: { amount, method }, returnPath, key }: TopUpRequest,
): Promise<BegunTopUp> {
  const { once, providers } = ports;
  checkText('method', method, methodText);
  offerTo(ports, buyer, { amount, provider: 'epay', minCents: 1 });
  const provider = paymentProviderOf(providers, method);
  limits.attempts.count(buyer.id);
  const content = JSON.stringify(['top up', method, amount]);
  return once({ actor: buyer.id, key, content }, async (repeatable) => {
    const { id, events, position } = await requestTopUp(ports, limits.openOrders, {
      ...{ buyer, amount, method, provider, repeatable },
    });
    const [requested] = events;
    if (requested?.type !== 'TopUpRequested') throw new Failure('payment-not-begun');
    const begun = await providers[provider].begin(toPay(id, requested), returnPath);
    if (begun.kind === 'form') return { id, begun, position };
    // Before anybody can pay: without it the provider could not be asked.
    const opened = await runPaymentCommand(ports, id, { type: 'BeginTopUp', session: begun.session });
    return { id, begun, position: opened.position };
  });
}

interface NewTopUp extends TopUpOrder {
  readonly buyer: TopUpBuyer;
  readonly provider: PaymentProviderName;
  readonly repeatable: Repeatable;
}

/** Writes the order down; it counts as one of its user's open ones at once. */
async function requestTopUp(
  ports: TopUpPorts,
  openOrders: OwnedSlots<PaymentId>,
  { buyer, amount, method, provider, repeatable: { name, mark } }: NewTopUp,
) {
  const id = tradeNumber(buyer.id, name);
  const stream = streams.payment(id);
  const requesting = async (): Promise<PaymentCommand> => {
    await openOrders.take(buyer.id, id, maxOpenOrders);
    const { quota, money, prices } = offerTo(ports, buyer, { amount, provider, minCents: 1 });
    return { type: 'RequestTopUp', user: buyer.id, provider, method, amount, quota, money, prices };
  };
  const { events, position } = await ports
    .handle<Payment, PaymentCommand, PaymentEvent>(paymentDecider, stream, requesting, mark(stream))
    .catch((error) => {
      openOrders.leave(buyer.id, id);
      throw error;
    });
  void ports.progress
    .reached(position, countedTimeoutMs, ['payments'])
    .then((counted) => counted && openOrders.leave(buyer.id, id));
  return { id, events, position };
}
