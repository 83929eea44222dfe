import { createHash } from 'node:crypto';
import { type Position, streams } from '../../domain/events/events.js';
import { checkText } from '../../domain/kernel/bounds.js';
import { Failure } from '../../domain/kernel/failure.js';
import { PaymentId, type UserId } from '../../domain/kernel/ids.js';
import {
  checkReason,
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
import { type TopUpOffer, topUpOffer } from '../../domain/payment/top-up-price.js';
import { type Actor, atLeast } from '../../domain/user/user.js';
import { nothingShown, type SessionProof } from '../asking.js';
import { authorise } from '../authorise.js';
import { type HeldCounts, places } from '../bounded-counts.js';
import type { Handle } from '../handle.js';
import type { IdempotencyStore } from '../idempotency.js';
import type { NodeDirectory } from '../memory/directory.js';
import { refusedNotices } from '../notifications/refused-notices.js';
import type { Begun, NoticeRequest, OrderToPay, PaymentProviders } from '../ports/payment-ports.js';
import type { Clock, EventStore, ReadModelProgress, UserView } from '../ports/storage-ports.js';
import { recentAttempts } from '../recent-attempts.js';
import type { StepUps } from '../sign-in/step-up.js';
import { methodsOf, paymentProviderOf, topUpPrices } from './top-up-terms.js';

/*
 * Quota for money: an order is written down before its user goes to pay, and completed once, by whoever tells of the money
 * first. A provider hears that its notice was taken only when the credit is durable.
 */

interface PaymentCommandPorts {
  readonly store: Pick<EventStore, 'readStream'>;
  readonly handle: Handle;
  readonly clock: Clock;
  readonly once: IdempotencyStore;
  readonly directory: Pick<NodeDirectory, 'settings' | 'user'>;
  readonly providers: PaymentProviders;
  readonly stepUps: Pick<StepUps, 'demand'>;
  /** Orders of a user that nobody has paid yet. */
  readonly openCounts: HeldCounts<PaymentId>;
  readonly progress: Pick<ReadModelProgress, 'reached'>;
  readonly warn: (facts: object, message: string) => void;
}

type Buyer = Pick<UserView, 'id' | 'group'>;

interface BegunTopUp {
  readonly id: PaymentId;
  readonly begun: Begun;
  readonly position: Position;
}

/** What a look at an order has led to. */
export interface Checked {
  readonly status: Exclude<Payment['status'], 'absent'>;
  /** The provider did not say. */
  readonly unanswered: boolean;
  /** null: nothing has changed. */
  readonly position: Position | null;
}

const methodText = { max: 32 };
const maxOpen = 20;
/** Longest a new order is watched on its way into the read model; later the next order of its user finds it there. */
const countedTimeoutMs = 10_000;
const beginnings = { most: 30, withinMs: 10 * 60_000 };
/** Between two questions about one order that its user waits for. */
const pollPauseMs = 5_000;
const ordersKept = 10_000;

/** Everybody else's orders stay unknown: the number follows from a keyed hash of the order's name. */
function tradeNumber(user: UserId, orderName: string): PaymentId {
  const digest = createHash('sha512').update(orderName).digest();
  const alphanumerics = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  const letters = [...digest.subarray(0, 6)].map((byte) => alphanumerics[byte % 62]);
  const digits = String(digest.readBigUInt64BE(32) % 10_000_000_000n).padStart(10, '0');
  return PaymentId(`USR${user}NO${letters.join('')}${digits}`);
}

const paymentIdIn = (text: string): PaymentId | null => {
  try {
    return PaymentId(text);
  } catch {
    return null;
  }
};

const toPay = (
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

export function paymentCommands(ports: PaymentCommandPorts) {
  const { store, handle, clock, once, directory, providers, stepUps, progress, warn } = ports;
  const held = places(ports.openCounts, (most) => new Failure('too-many-open-payments', { allowed: most }));
  const refused = refusedNotices(clock, warn);
  const attempts = recentAttempts<UserId>(beginnings, clock);
  /** When orders were last asked about for their users, the least recent first. */
  const polledAt = new Map<PaymentId, number>();

  const run = (id: PaymentId, command: PaymentCommand) =>
    handle<Payment, PaymentCommand, PaymentEvent>(paymentDecider, streams.payment(id), command);

  /** Throws `payment-not-found`. */
  const paymentOf = async (id: PaymentId): Promise<Exclude<Payment, { status: 'absent' }>> => {
    const recorded = await store.readStream(streams.payment(id));
    const payment = recorded.reduce<Payment>(
      (state, { event }) => paymentDecider.evolve(state, event as PaymentEvent),
      paymentDecider.initial,
    );
    if (payment.status === 'absent') throw new Failure('payment-not-found');
    return payment;
  };

  const offer = (buyer: Buyer, amount: number, provider: PaymentProviderName, minCents: number) => {
    const settings = directory.settings();
    const prices = topUpPrices(settings, provider, buyer.group);
    return { prices, ...topUpOffer(amount, settings.topUp.minimum, prices, minCents) };
  };

  const complete = async (
    id: PaymentId,
    provider: PaymentProviderName,
    received: MoneyReceived,
    by: 'notice' | 'poll',
  ): Promise<Position | null> => {
    const { events, position } = await run(id, { type: 'CompleteTopUp', provider, learned: { by }, ...received });
    const [completed] = events;
    if (completed === undefined) return null;
    if (completed.type === 'TopUpCompleted' && completed.late)
      warn({ order: id }, 'an order that had expired was paid; it is credited');
    return position;
  };

  /** Asks the provider. Throws `payment-not-found`, `payment-differs`. */
  const check = async (id: PaymentId): Promise<Checked> => {
    const { status, terms, session } = await paymentOf(id);
    if (status === 'completed') return { status, unanswered: false, position: null };
    const told = await providers[terms.provider].ask(toPay(id, terms, session));
    if (told.kind === 'over') return { status: 'expired', unanswered: false, position: await expire(id, 'provider') };
    if (told.kind !== 'paid') return { status, unanswered: told.kind === 'unanswered', position: null };
    const position = await complete(id, terms.provider, told.received, 'poll');
    return { status: 'completed', unanswered: false, position };
  };

  const takeBack = async (id: PaymentId, provider: PaymentProviderName, returned: MoneyReturned): Promise<void> => {
    // It may be told before the payment itself, or where that was never heard of.
    await check(id);
    const { events } = await run(id, { type: 'ReturnMoney', provider, returned });
    if (events.length > 0)
      warn({ order: id, by: returned.by }, 'money of an order was returned or disputed; its quota follows');
  };

  /** null: it was not open. */
  const expire = async (id: PaymentId, reason: ExpiryReason): Promise<Position | null> => {
    const { events, position } = await run(id, { type: 'ExpireTopUp', reason });
    return events.length === 0 ? null : position;
  };

  const mayPoll = (id: PaymentId): boolean => {
    const now = clock.now();
    // From the future, after the clock was set back: it would keep the order from being asked about until then.
    const agoMs = now - (polledAt.get(id) ?? 0);
    if (agoMs >= 0 && agoMs < pollPauseMs) return false;
    polledAt.delete(id);
    polledAt.set(id, now);
    const oldest = polledAt.keys().next();
    if (polledAt.size > ordersKept && oldest.done === false) polledAt.delete(oldest.value);
    return true;
  };

  return {
    check,

    /** What an amount costs. `method` null: by whatever there is. Throws as `topUpOffer`, and `payment-not-configured`. */
    price(buyer: Buyer, amount: number, method: string | null = null): TopUpOffer & { readonly currency: string } {
      if (method !== null) checkText('method', method, methodText);
      const provider =
        method === null ? (methodsOf(providers)[0]?.provider ?? 'epay') : paymentProviderOf(providers, method);
      const { quota, money, prices } = offer(buyer, amount, provider, 2);
      return { quota, money, currency: prices.currency };
    },

    /** `key`: the client's name for this order; a repeat answers with the same one. `returnPath`: see PaymentProvider. */
    async begin(
      buyer: Buyer,
      { amount, method }: { readonly amount: number; readonly method: string },
      returnPath: string,
      key: string | null = null,
    ): Promise<BegunTopUp> {
      checkText('method', method, methodText);
      offer(buyer, amount, 'epay', 1);
      const provider = paymentProviderOf(providers, method);
      attempts.count(buyer.id);
      const content = JSON.stringify(['top up', method, amount]);
      return once({ actor: buyer.id, key, content }, async ({ name, mark }) => {
        const id = tradeNumber(buyer.id, name);
        const requesting = async (): Promise<PaymentCommand> => {
          await held.take(buyer.id, id, maxOpen);
          const { quota, money, prices } = offer(buyer, amount, provider, 1);
          return { type: 'RequestTopUp', user: buyer.id, provider, method, amount, quota, money, prices };
        };
        const marked = mark(streams.payment(id));
        const { events, position } = await handle<Payment, PaymentCommand, PaymentEvent>(
          paymentDecider,
          streams.payment(id),
          requesting,
          marked,
        ).catch((error) => {
          held.leave(buyer.id, id);
          throw error;
        });
        void progress
          .reached(position, countedTimeoutMs, ['payments'])
          .then((counted) => counted && held.leave(buyer.id, id));
        const [requested] = events;
        if (requested?.type !== 'TopUpRequested') throw new Failure('payment-not-begun');
        const begun = await providers[provider].begin(toPay(id, requested), returnPath);
        if (begun.kind === 'form') return { id, begun, position };
        // Before anybody can pay: without it the provider could not be asked.
        const opened = await run(id, { type: 'BeginTopUp', session: begun.session });
        return { id, begun, position: opened.position };
      });
    },

    /**
     * What a provider tells of a payment. True: it is done with, durably, and need not be told again. Throws
     * `store-unavailable` and its kin: nobody knows.
     */
    async takeNotice(name: PaymentProviderName, request: NoticeRequest): Promise<boolean> {
      const notice = await providers[name].readNotice(request);
      if (!notice.ok) {
        refused.add(name, notice.reason);
        return false;
      }
      const id = paymentIdIn(notice.order);
      const { told } = notice;
      if (told.kind === 'nothing' || id === null) return true;
      try {
        if (told.kind === 'over') await expire(id, 'provider');
        else if (told.kind === 'returned') await takeBack(id, name, told.returned);
        else await complete(id, name, told.received, 'notice');
        return true;
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        // Signed, and of no order of ours: telling it again would change nothing.
        const isUnknown = error.code === 'payment-not-found';
        if (!isUnknown && error.code !== 'payment-differs') throw error;
        refused.add(name, isUnknown ? 'unknown-order' : 'differs', id);
        return isUnknown;
      }
    },

    /** For who waits for an order of their own: asks the provider now and then. Throws `payment-not-found`. */
    async poll(buyer: Pick<Buyer, 'id'>, id: PaymentId): Promise<Checked> {
      const { status, terms } = await paymentOf(id);
      if (terms.user !== buyer.id) throw new Failure('payment-not-found');
      if (status === 'completed' || !mayPoll(id)) return { status, unanswered: false, position: null };
      return check(id);
    },

    /** The same by an administrator. Throws `payment-unanswered` where the provider does not say. */
    async recheck(actor: Actor, id: PaymentId): Promise<Position | null> {
      authorise(actor, 'admin');
      const { unanswered, position } = await check(id);
      if (unanswered) throw new Failure('payment-unanswered');
      return position;
    },

    /**
     * Credits an order whose money an administrator has seen. Like a change of balance, it is for users below oneself.
     * Throws `payment-completed`, `step-up-needed`, `peer-update-forbidden`.
     */
    async completeByHand(
      actor: Actor,
      id: PaymentId,
      reason: string,
      asking: SessionProof = nothingShown,
    ): Promise<Position> {
      authorise(actor, 'admin');
      checkReason(reason);
      const { terms } = await paymentOf(id);
      const payer = await directory.user(terms.user);
      if (actor.role !== 'root' && payer !== null && atLeast(payer.role, actor.role))
        throw new Failure('peer-update-forbidden');
      return stepUps.demand(actor, 'payments', asking, async () => {
        const { position } = await run(id, { type: 'CompleteByHand', by: actor.id, reason });
        return position;
      });
    },

    /** Nobody waits for it any more; money that comes all the same is credited. */
    expire,

    /** Those that were not believed, for administrators. */
    refusedNotices(actor: Actor) {
      authorise(actor, 'admin');
      return refused.all();
    },
  };
}

export type PaymentCommands = ReturnType<typeof paymentCommands>;
