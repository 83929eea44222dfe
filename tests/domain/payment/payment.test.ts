import { describe, test } from 'vitest';
import { UserId } from '../../../src/domain/kernel/ids.js';
import { Quota } from '../../../src/domain/kernel/quota.js';
import {
  type MoneyReceived,
  type PaymentCommand,
  type PaymentEvent,
  paymentDecider,
  type TopUpCompleted,
  type TopUpTerms,
} from '../../../src/domain/payment/payment.js';
import type { TopUpDisputed, TopUpDisputeWon, TopUpRefunded } from '../../../src/domain/payment/payment-return.js';
import { scenariosOf } from '../../support/given/given.js';
import { topUpPrices } from '../../support/given/top-up-prices.js';

const given = scenariosOf(paymentDecider);
const alice = UserId(7);
const root = UserId(1);

const terms: TopUpTerms = {
  user: alice,
  provider: 'epay',
  method: 'alipay',
  amount: 10,
  quota: Quota(5_000_000),
  money: '73.00',
  prices: topUpPrices(),
};
const requested: PaymentEvent = { type: 'TopUpRequested', ...terms };
const expired: PaymentEvent = { type: 'TopUpExpired', reason: 'time' };
const completed = (change: Partial<TopUpCompleted> = {}): TopUpCompleted => ({
  type: 'TopUpCompleted',
  user: alice,
  quota: Quota(5_000_000),
  provider: 'epay',
  money: '73.00',
  currency: 'CNY',
  reference: '2026112200001',
  learned: { by: 'notice' },
  late: false,
  ...change,
});

const paid = (change: Partial<MoneyReceived> = {}): PaymentCommand => ({
  type: 'CompleteTopUp',
  provider: 'epay',
  learned: { by: 'notice' },
  money: '73.00',
  currency: 'CNY',
  reference: '2026112200001',
  method: 'alipay',
  ...change,
});
const byHand: PaymentCommand = { type: 'CompleteByHand', by: root, reason: 'seen in the bank account' };

describe('a payment order', () => {
  test('is recorded with all parts of its price', () =>
    given()
      .when({ type: 'RequestTopUp', ...terms })
      .thenRecordedOnce(requested));

  test('records the checkout that its provider has created', () =>
    given(requested)
      .when({ type: 'BeginTopUp', session: 'cs_1' })
      .thenRecordedOnce({ type: 'TopUpBegun', session: 'cs_1' }));

  test('of one provider is not completed by another', () =>
    given(requested)
      .when({ ...paid(), provider: 'stripe' } as PaymentCommand)
      .thenRefused('payment-differs'));

  test('is completed by the requested amount, once', () => given(requested).when(paid()).thenRecordedOnce(completed()));

  test('is completed by the same amount in another notation', () =>
    given(requested)
      .when(paid({ money: '73' }))
      .thenRecorded(completed()));

  test.each<[string, Partial<MoneyReceived>]>([
    ['a smaller amount', { money: '72.99' }],
    ['a larger amount', { money: '730.00' }],
    ['another currency', { currency: 'USD' }],
    ['an invalid amount', { money: '73.00 ' + 'x' }],
    ['another payment method', { method: 'wxpay' }],
  ])('is not completed by %s', (_, change) => {
    given(requested).when(paid(change)).thenRefused('payment-differs', { allowed: '73.00 CNY' });
    given(requested, completed()).when(paid(change)).thenRefused('payment-differs');
  });

  test('accepts the message of a provider that does not name the payment method', () =>
    given(requested)
      .when(paid({ method: null }))
      .thenRecorded(completed()));

  test('that does not exist cannot be paid', () => given().when(paid()).thenRefused('payment-not-found'));

  test('expires once, and never after it was paid', () => {
    given(requested).when({ type: 'ExpireTopUp', reason: 'time' }).thenRecordedOnce(expired);
    given(requested, completed()).when({ type: 'ExpireTopUp', reason: 'time' }).thenNothing();
  });

  test('is credited when it is paid after it expired, with a note of that', () =>
    given(requested, expired)
      .when(paid())
      .thenRecordedOnce(completed({ late: true })));

  test('is completed by hand with a reason, and records the administrator', () => {
    const learned = { by: 'hand', user: root, reason: 'seen in the bank account' } as const;
    given(requested)
      .when(byHand)
      .thenRecorded(completed({ reference: '', learned }));
    given(requested, expired)
      .when(byHand)
      .thenRecorded(completed({ reference: '', learned, late: true }));
  });

  test('is completed by hand neither without a reason nor twice', () => {
    given(requested)
      .when({ ...byHand, reason: ' ' })
      .thenRefused('invalid-field');
    given(requested, completed()).when(byHand).thenRefused('payment-completed');
  });

  test('completed by hand is not credited again by its webhook', () =>
    given(requested, completed({ reference: '', learned: { by: 'hand', user: root, reason: 'seen' } }))
      .when(paid())
      .thenNothing());
});

describe('a refund or a dispute', () => {
  const moved = { user: alice, currency: 'CNY' };
  const refunded = (money: string, all: string, quota: number): TopUpRefunded => ({
    type: 'TopUpRefunded',
    ...moved,
    quota: Quota(quota),
    money,
    refunded: all,
    reference: 'ch_1',
  });
  const disputed = (money: string, quota: number): TopUpDisputed => ({
    type: 'TopUpDisputed',
    ...moved,
    quota: Quota(quota),
    money,
    dispute: 'du_1',
  });
  const won = (money: string, quota: number): TopUpDisputeWon => ({
    ...disputed(money, quota),
    type: 'TopUpDisputeWon',
  });
  const refund = (all: string, currency = 'CNY'): PaymentCommand => ({
    type: 'ReturnMoney',
    provider: 'epay',
    returned: { by: 'refund', refunded: all, currency, reference: 'ch_1' },
  });
  const dispute = (by: 'dispute' | 'dispute-won', money = '73.00'): PaymentCommand => ({
    type: 'ReturnMoney',
    provider: 'epay',
    returned: { by, dispute: 'du_1', money, currency: 'CNY' },
  });
  const bought = [requested, completed()];

  test('takes back its share of the quota, once', () =>
    given(...bought)
      .when(refund('36.50'))
      .thenRecordedOnce(refunded('36.50', '36.50', 2_500_000)));

  test('in parts takes back no more in total than was credited, however the parts are rounded', () => {
    const third = refunded('24.33', '24.33', 1_666_438);
    given(...bought)
      .when(refund('24.33'))
      .thenRecordedOnce(third);
    given(...bought, third)
      .when(refund('73'))
      .thenRecordedOnce(refunded('48.67', '73.00', 3_333_562));
    given(...bought, third)
      .when(refund('24.32'))
      .thenNothing();
  });

  test('beyond the amount of the order takes back all of it', () =>
    given(...bought)
      .when(refund('80.00'))
      .thenRecordedOnce(refunded('80.00', '80.00', 5_000_000)));

  test('that is a dispute is credited again when it is won, and both are recorded once', () => {
    given(...bought)
      .when(dispute('dispute'))
      .thenRecordedOnce(disputed('73.00', 5_000_000));
    given(...bought, disputed('73.00', 5_000_000))
      .when(dispute('dispute-won'))
      .thenRecordedOnce(won('73.00', 5_000_000));
    given(...bought, disputed('73.00', 5_000_000), won('73.00', 5_000_000))
      .when(dispute('dispute'))
      .thenNothing();
  });

  test('that is a dispute is recorded whole even if its end arrives first', () =>
    given(...bought)
      .when(dispute('dispute-won'))
      .thenRecordedOnce(disputed('73.00', 5_000_000), won('73.00', 5_000_000)));

  test('of the whole amount takes it back once for both', () => {
    const half = refunded('36.50', '36.50', 2_500_000);
    given(...bought, half)
      .when(dispute('dispute'))
      .thenRecorded(disputed('73.00', 2_500_000));
    given(...bought, half, disputed('73.00', 2_500_000))
      .when(dispute('dispute-won'))
      .thenRecorded(won('73.00', 2_500_000));
  });

  test('in another currency, without an amount, of another provider or of an unpaid order is refused', () => {
    for (const command of [
      refund('36.50', 'USD'),
      refund('-1.00'),
      refund('many'),
      dispute('dispute', '-1'),
      { ...refund('36.50'), provider: 'stripe' } as PaymentCommand,
    ])
      given(...bought)
        .when(command)
        .thenRefused('payment-differs');
    given(requested).when(refund('73.00')).thenRefused('payment-differs');
    given(requested, expired).when(refund('73.00')).thenRefused('payment-differs');
    given().when(refund('73.00')).thenRefused('payment-not-found');
  });
});
