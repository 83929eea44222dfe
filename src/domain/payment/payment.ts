import { checkText } from '../kernel/bounds.js';
import type { Decider } from '../kernel/decider.js';
import { decimal, isDecimal, isSame } from '../kernel/decimal.js';
import { assertNever, Failure, invalidField } from '../kernel/failure.js';
import type { UserId } from '../kernel/ids.js';
import type { Quota } from '../kernel/quota.js';
import {
  type MoneyReturned,
  nothingReturned,
  type ReturnEvent,
  type Returned,
  returnEvents,
  returnedAfter,
} from './payment-return.js';
import type { TopUpPrices } from './top-up-price.js';

/*
 * An order of quota for money. Stream `payment-{trade number}`. It is completed once, whoever reports the money and
 * however often: the completion *is* the credit.
 */

export const paymentProviders = ['epay', 'stripe'] as const;
export type PaymentProviderName = (typeof paymentProviders)[number];

/** By what the money was learned of: the provider's own word, its answer to our question, or an administrator's. */
export type Learned = { readonly by: 'notice' } | { readonly by: 'poll' } | HandLearned;
interface HandLearned {
  readonly by: 'hand';
  readonly user: UserId;
  readonly reason: string;
}

/** Why nobody waits for the money any more: it is too late, or the provider takes it no more. */
export type ExpiryReason = 'time' | 'provider';

export interface TopUpTerms {
  readonly user: UserId;
  readonly provider: PaymentProviderName;
  /** By which the money is to come, as the provider calls it: `alipay`. */
  readonly method: string;
  /** As asked for, in dollars or in quota: the prices say which. */
  readonly amount: number;
  readonly quota: Quota;
  /** Decimal text with two places. */
  readonly money: string;
  readonly prices: TopUpPrices;
}

/** What has come of an order in money; carries whom it is credited to, and what. */
export interface TopUpCompleted {
  readonly type: 'TopUpCompleted';
  readonly user: UserId;
  readonly quota: Quota;
  readonly provider: PaymentProviderName;
  readonly money: string;
  readonly currency: string;
  /** The provider's own number of the payment; '' where an administrator knows of none. */
  readonly reference: string;
  readonly learned: Learned;
  /** After it had expired: the money has come all the same. */
  readonly late: boolean;
}

export type PaymentEvent =
  | ({ type: 'TopUpRequested' } & TopUpTerms)
  /** The provider has opened a checkout for it, which it calls so. */
  | { type: 'TopUpBegun'; session: string }
  | TopUpCompleted
  | { type: 'TopUpExpired'; reason: ExpiryReason }
  | ReturnEvent;

/** Money, as a provider says that it has come. */
export interface MoneyReceived {
  readonly money: string;
  readonly currency: string;
  readonly reference: string;
  /** By which it came; null: the provider does not say. */
  readonly method: string | null;
}

export type PaymentCommand =
  | ({ type: 'RequestTopUp' } & TopUpTerms)
  | { type: 'BeginTopUp'; session: string }
  | ({
      type: 'CompleteTopUp';
      provider: PaymentProviderName;
      learned: Exclude<Learned, HandLearned>;
    } & MoneyReceived)
  /** An administrator has seen the money where the provider does not report it. */
  | { type: 'CompleteByHand'; by: UserId; reason: string }
  | { type: 'ExpireTopUp'; reason: ExpiryReason }
  | { type: 'ReturnMoney'; provider: PaymentProviderName; returned: MoneyReturned };

export type Payment =
  | { readonly status: 'absent' }
  | {
      readonly status: 'open' | 'expired' | 'completed';
      readonly terms: TopUpTerms;
      /** null: the provider knows it by our number. */
      readonly session: string | null;
      readonly returned: Returned;
    };

type Requested = Exclude<Payment, { status: 'absent' }>;

/** What an administrator says for a completion by hand. Throws `invalid-field`. */
export function checkReason(reason: string): void {
  checkText('reason', reason, { max: 500 });
  if (reason.trim() === '') throw invalidField('reason', 'a text that is not blank');
}

const requested = (payment: Payment): Requested => {
  if (payment.status === 'absent') throw new Failure('payment-not-found');
  return payment;
};

const completed = (
  { status, terms }: Requested,
  reference: string,
  learned: Learned,
  { money, currency }: Pick<MoneyReceived, 'money' | 'currency'>,
): TopUpCompleted => ({
  type: 'TopUpCompleted',
  user: terms.user,
  quota: terms.quota,
  provider: terms.provider,
  money,
  currency,
  reference,
  learned,
  late: status === 'expired',
});

/** Throws `payment-differs`: more or less than was asked for buys something else, which nobody has ordered. */
function checkReceived(
  { provider, money, method, prices: { currency } }: TopUpTerms,
  received: MoneyReceived & { readonly provider: PaymentProviderName },
): void {
  const isAsked =
    received.provider === provider &&
    isDecimal(received.money) &&
    isSame(decimal(received.money), decimal(money)) &&
    received.currency === currency &&
    (received.method === null || received.method === method);
  if (!isAsked) throw new Failure('payment-differs', { allowed: `${money} ${currency}` });
}

const changed = (payment: Payment, change: Partial<Requested>): Payment =>
  payment.status === 'absent' ? payment : { ...payment, ...change };

export const paymentDecider: Decider<Payment, PaymentCommand, PaymentEvent> = {
  initial: { status: 'absent' },
  decide(command, payment) {
    switch (command.type) {
      case 'RequestTopUp': {
        if (payment.status !== 'absent') return [];
        const { user, provider, method, amount, quota, money, prices } = command;
        return [{ type: 'TopUpRequested', user, provider, method, amount, quota, money, prices }];
      }
      case 'BeginTopUp':
        return requested(payment).session === command.session ? [] : [{ type: 'TopUpBegun', session: command.session }];
      case 'CompleteTopUp': {
        const order = requested(payment);
        checkReceived(order.terms, command);
        if (order.status === 'completed') return [];
        const { money, prices } = order.terms;
        return [completed(order, command.reference, command.learned, { money, currency: prices.currency })];
      }
      case 'CompleteByHand': {
        const order = requested(payment);
        const { by, reason } = command;
        checkReason(reason);
        if (order.status === 'completed') throw new Failure('payment-completed');
        const { money, prices } = order.terms;
        return [completed(order, '', { by: 'hand', user: by, reason }, { money, currency: prices.currency })];
      }
      case 'ExpireTopUp':
        return requested(payment).status === 'open' ? [{ type: 'TopUpExpired', reason: command.reason }] : [];
      case 'ReturnMoney': {
        const { status, terms, returned } = requested(payment);
        const { user, quota, money, provider, prices } = terms;
        if (status !== 'completed' || provider !== command.provider)
          throw new Failure('payment-differs', { allowed: 'money of an order that is completed' });
        return returnEvents({ user, quota, money, currency: prices.currency }, returned, command.returned);
      }
      default:
        return assertNever(command);
    }
  },
  evolve(payment, event) {
    switch (event.type) {
      case 'TopUpRequested': {
        const { type: _, ...terms } = event;
        return { status: 'open', terms, session: null, returned: nothingReturned };
      }
      case 'TopUpCompleted':
        return changed(payment, { status: 'completed' });
      case 'TopUpBegun':
        return changed(payment, { session: event.session });
      case 'TopUpExpired':
        return changed(payment, { status: 'expired' });
      case 'TopUpRefunded':
      case 'TopUpDisputed':
      case 'TopUpDisputeWon':
        return payment.status === 'absent' ? payment : { ...payment, returned: returnedAfter(payment.returned, event) };
      default:
        return assertNever(event);
    }
  },
};
