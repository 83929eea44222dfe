import { decimal, integer, isDecimal, quotient, times } from '../kernel/decimal.js';
import { Failure } from '../kernel/failure.js';
import type { UserId } from '../kernel/ids.js';
import { minus, Quota, zero } from '../kernel/quota.js';
import { moneyText } from './top-up-price.js';

/*
 * Money of a completed order that has gone back: quota goes back in the same proportion, counted from all that is gone by
 * now and rounded once, so that many small refunds never take more than the order was credited.
 */

/** Money, as a provider says that it has gone back or, by a dispute that was won, has come again. */
export type MoneyReturned =
  /** `refunded`: all that was refunded so far. */
  | { readonly by: 'refund'; readonly refunded: string; readonly currency: string; readonly reference: string }
  | {
      readonly by: 'dispute' | 'dispute-won';
      /** The provider's number of it. */
      readonly dispute: string;
      readonly money: string;
      readonly currency: string;
    };

interface Moved {
  readonly user: UserId;
  /** Taken from the user, or, of a dispute that was won, given back. */
  readonly quota: Quota;
  /** What this moved of the money: decimal text with two places. */
  readonly money: string;
  readonly currency: string;
}

export interface TopUpRefunded extends Moved {
  readonly type: 'TopUpRefunded';
  /** All that was refunded so far. */
  readonly refunded: string;
  readonly reference: string;
}

/** The provider has taken the money back, as the payer's bank disputes the payment. */
export interface TopUpDisputed extends Moved {
  readonly type: 'TopUpDisputed';
  readonly dispute: string;
}

export interface TopUpDisputeWon extends Moved {
  readonly type: 'TopUpDisputeWon';
  readonly dispute: string;
}

export type ReturnEvent = TopUpRefunded | TopUpDisputed | TopUpDisputeWon;

/** What is gone of an order. */
export interface Returned {
  readonly refunded: string;
  readonly disputes: readonly { readonly dispute: string; readonly money: string; readonly won: boolean }[];
  readonly takenBack: Quota;
}

export const nothingReturned: Returned = { refunded: '0.00', disputes: [], takenBack: zero };

interface Sold {
  readonly user: UserId;
  readonly quota: Quota;
  readonly money: string;
  readonly currency: string;
}

const centsOf = (money: string): bigint => quotient(times(decimal(money), integer(100)), integer(1), 0).digits;

/** Of the quota, what goes with the money that is gone. */
function shareGone({ quota, money }: Sold, { refunded, disputes }: Returned): Quota {
  const whole = centsOf(money);
  const gone = disputes.reduce((sum, { won, money: part }) => sum + (won ? 0n : centsOf(part)), centsOf(refunded));
  const share = times(integer(quota), integer(gone < whole ? gone : whole));
  return Quota(Number(quotient(share, integer(whole), 0).digits));
}

export function returnedAfter(returned: Returned, event: ReturnEvent): Returned {
  const { refunded, disputes, takenBack } = returned;
  switch (event.type) {
    case 'TopUpRefunded':
      return { ...returned, refunded: event.refunded, takenBack: Quota(takenBack + event.quota) };
    case 'TopUpDisputed':
      return {
        refunded,
        disputes: [...disputes, { dispute: event.dispute, money: event.money, won: false }],
        takenBack: Quota(takenBack + event.quota),
      };
    case 'TopUpDisputeWon':
      return {
        refunded,
        disputes: disputes.map((known) => (known.dispute === event.dispute ? { ...known, won: true } : known)),
        takenBack: minus(takenBack, event.quota),
      };
  }
}

/** What a webhook about returned money leads to: nothing when it was reported before. Throws `payment-differs`. */
export function returnEvents(sold: Sold, returned: Returned, reported: MoneyReturned): ReturnEvent[] {
  const { user, currency } = sold;
  const sum = reported.by === 'refund' ? reported.refunded : reported.money;
  if (reported.currency !== currency || !isDecimal(sum) || centsOf(sum) < 0n)
    throw new Failure('payment-differs', { allowed: `up to ${sold.money} ${currency}` });
  if (reported.by === 'refund') {
    const more = centsOf(sum) - centsOf(returned.refunded);
    if (more <= 0n) return [];
    const refunded = moneyText(centsOf(sum));
    const quota = minus(shareGone(sold, { ...returned, refunded }), returned.takenBack);
    const { reference } = reported;
    return [{ type: 'TopUpRefunded', user, quota, money: moneyText(more), refunded, currency, reference }];
  }
  const { dispute } = reported;
  const money = moneyText(centsOf(sum));
  const known = returned.disputes.find((one) => one.dispute === dispute);
  if (known === undefined) {
    const disputes = [...returned.disputes, { dispute, money, won: false }];
    const quota = minus(shareGone(sold, { ...returned, disputes }), returned.takenBack);
    const disputed: TopUpDisputed = { type: 'TopUpDisputed', user, quota, money, currency, dispute };
    // Its end may be reported before its beginning, which then finds it ended.
    return reported.by === 'dispute'
      ? [disputed]
      : [disputed, ...returnEvents(sold, returnedAfter(returned, disputed), reported)];
  }
  if (reported.by === 'dispute' || known.won) return [];
  const disputes = returned.disputes.map((one) => (one === known ? { ...one, won: true } : one));
  const quota = minus(returned.takenBack, shareGone(sold, { ...returned, disputes }));
  return [{ type: 'TopUpDisputeWon', user, quota, money: known.money, currency, dispute }];
}
