import type { Begun, WebhookRequest } from '../../src/application/ports/payment-ports.js';
import type { PaymentProviderName } from '../../src/domain/payment/payment.js';
import { type Mood, merchant, signed, startEpayServer } from './epay-server.js';
import { secrets, startStripe } from './stripe-stand-in.js';

/* Those who take money, alike for the suite that all of them are held to. */

/** What a notice says in place of the truth; signed all the same. */
interface Claimed {
  readonly order?: string;
  readonly money?: string;
}

export interface SimulatedProvider {
  readonly name: PaymentProviderName;
  readonly method: string;
  /** Of ten dollars' quota, by `options`. */
  readonly money: string;
  readonly currency: string;
  readonly url: string;
  readonly options: Readonly<Record<string, string>>;
  readonly secrets: Readonly<Record<string, string>>;
  is(mood: Mood, nonsense?: string): void;
  /** The browser of whoever ordered comes. */
  visited(begun: Begun): void;
  pay(order: string): void;
  notice(order: string, claimed?: Claimed): WebhookRequest;
  /** Signed, and of what was not ordered. */
  readonly differing: Readonly<Record<string, (order: string) => WebhookRequest>>;
  /** Not signed by the cashier as it stands there. */
  readonly forged: Readonly<Record<string, (order: string) => WebhookRequest>>;
  stop(): Promise<void>;
}

async function epayProvider(): Promise<SimulatedProvider> {
  const epay = await startEpayServer();
  const webhook = (query: URLSearchParams): WebhookRequest => ({ query, body: Buffer.alloc(0), header: () => '' });
  const changed = (order: string, name: string, value: string): WebhookRequest => {
    const query = epay.notice(order);
    query.set(name, value);
    return webhook(query);
  };
  return {
    name: 'epay',
    method: 'alipay',
    money: '73.00',
    currency: 'CNY',
    url: epay.url,
    options: { PayAddress: epay.url, EpayId: merchant.id, Price: '7.3' },
    secrets: { EpayKey: merchant.key },
    is(mood, nonsense = '') {
      Object.assign(epay, { mood, nonsense });
    },
    visited(begun) {
      if (begun.kind === 'form') epay.post(begun.fields);
    },
    pay: (order) => epay.pay(order),
    notice: (id, { order = id, money } = {}) =>
      webhook(epay.notice(id, { out_trade_no: order, ...(money !== undefined && { money }) })),
    // It knows one currency, and reports none.
    differing: {
      'by another way to pay': (order) => webhook(epay.notice(order, { type: 'wxpay' })),
    },
    forged: {
      'signed by somebody else': (order) => {
        const members = Object.fromEntries(epay.notice(order));
        return webhook(new URLSearchParams({ ...members, sign: signed(members, 'another key') }));
      },
      'signed by nobody': (order) => changed(order, 'sign', ''),
      'of which a member was changed': (order) => changed(order, 'name', 'something else'),
    },
    stop: () => epay.stop(),
  };
}

async function stripeProvider(): Promise<SimulatedProvider> {
  const stripe = await startStripe();
  const completed = 'checkout.session.completed';
  const webhook = ({ body, signature }: ReturnType<typeof stripe.event>): WebhookRequest => ({
    query: new URLSearchParams(),
    body: Buffer.from(body),
    header: (name) => (name === 'stripe-signature' ? signature : ''),
  });
  const hourAgo = () => Math.floor(Date.now() / 1000) - 3600;
  return {
    name: 'stripe',
    method: 'stripe',
    money: '11.00',
    currency: 'USD',
    url: stripe.url,
    options: { StripePrice: '1.1', StripeCurrency: 'usd' },
    secrets: { StripeApiSecret: secrets.api, StripeWebhookSecret: secrets.webhook },
    is(mood, nonsense = '') {
      Object.assign(stripe, { mood, nonsense });
    },
    visited: () => {},
    pay: (order) => stripe.pay(order),
    notice: (id, { order = id, money } = {}) =>
      webhook(
        stripe.event(completed, id, {
          client_reference_id: order,
          ...(money !== undefined && { amount_total: Math.round(Number(money) * 100) }),
        }),
      ),
    differing: {
      'in another currency': (order) => webhook(stripe.event(completed, order, { currency: 'eur' })),
    },
    forged: {
      'signed by somebody else': (order) => webhook(stripe.event(completed, order, {}, 'whsec_of_somebody_else')),
      'signed by nobody': (order) => webhook({ ...stripe.event(completed, order), signature: '' }),
      'of which a byte was changed': (order) => {
        const right = stripe.event(completed, order);
        return webhook({ ...right, body: `${right.body} ` });
      },
      'that is old': (order) => webhook(stripe.event(completed, order, {}, secrets.webhook, hourAgo())),
    },
    stop: () => stripe.stop(),
  };
}

export const startProviders = (): Promise<SimulatedProvider[]> => Promise.all([epayProvider(), stripeProvider()]);
