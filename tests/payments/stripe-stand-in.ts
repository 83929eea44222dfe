import Stripe from 'stripe';
import { startUpstream } from '../support/upstreams/upstream.js';
import type { Mood } from './epay-server.js';

/* Stripe on loopback: sessions as it answers with them, and events that are signed by its own package. */

export const secrets = { api: 'sk_test_of_ours/+', webhook: 'whsec_of_ours/+' };

interface Session {
  id: string;
  object: 'checkout.session';
  url: string | null;
  status: 'open' | 'complete' | 'expired';
  payment_status: 'paid' | 'unpaid';
  client_reference_id: string;
  amount_total: number;
  currency: string;
  payment_intent: string | null;
}

export interface SignedEvent {
  readonly body: string;
  readonly signature: string;
}

export interface StripeStandIn {
  readonly url: string;
  mood: Mood | 'refusing';
  /** What it answers when it is senseless. */
  nonsense: string;
  readonly sessions: ReadonlyMap<string, Session>;
  /** The forms sessions were asked for with. */
  readonly forms: readonly URLSearchParams[];
  sessionOf(order: string): Session;
  /** Somebody pays at the checkout; `unpaid`: by what takes its time. */
  pay(order: string, paymentStatus?: Session['payment_status']): void;
  expire(order: string): void;
  /** An event about the session of the order, with members of it changed. */
  event(type: string, order: string, change?: Partial<Session>, secret?: string, at?: number): SignedEvent;
  /** An event about the charge by which the order was paid: so much of it was refunded by now, in cents. */
  refund(order: string, refundedCents: number, change?: object): SignedEvent;
  /** An event about a dispute of so many cents of that charge. */
  dispute(type: string, order: string, cents: number, change?: object): SignedEvent;
  stop(): Promise<void>;
}

const signer = new Stripe(secrets.api);

export async function startStripe(): Promise<StripeStandIn> {
  const sessions = new Map<string, Session>();
  const forms: URLSearchParams[] = [];
  const answers = new Map<string, Session>();
  const opened = (form: URLSearchParams): Session => {
    forms.push(form);
    const id = `cs_test_${sessions.size + 1}`;
    const session: Session = {
      id,
      object: 'checkout.session',
      url: `${server.url}/c/pay/${id}`,
      status: 'open',
      payment_status: 'unpaid',
      client_reference_id: form.get('client_reference_id') ?? '',
      amount_total: Number(form.get('line_items[0][price_data][unit_amount]')),
      currency: form.get('line_items[0][price_data][currency]') ?? '',
      payment_intent: null,
    };
    sessions.set(id, session);
    return session;
  };
  const server = await startUpstream(({ url, headers, body }, response) => {
    if (url.startsWith('/c/pay/')) {
      const at = [...sessions.keys()].indexOf(url.replace('/c/pay/', ''));
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end(`<h1>Checkout</h1><a href="${forms[at]?.get('success_url')}">Back</a>`);
      return;
    }
    const answer = (status: number, content: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(content));
    };
    if (standIn.mood === 'slow') return;
    if (standIn.mood === 'down') response.destroy();
    else if (standIn.mood === 'senseless')
      response.writeHead(200, { 'content-type': 'application/json' }).end(standIn.nonsense);
    else if (headers.authorization !== `Bearer ${secrets.api}`)
      answer(401, { error: { type: 'invalid_request_error', message: 'Invalid API Key' } });
    else if (standIn.mood === 'refusing')
      answer(400, { error: { type: 'invalid_request_error', message: 'No such price' } });
    else if (url === '/v1/checkout/sessions') {
      const key = String(headers['idempotency-key']);
      const session = answers.get(key) ?? opened(new URLSearchParams(body));
      answers.set(key, session);
      answer(200, session);
    } else if (url.startsWith('/v1/checkout/sessions?')) {
      const intent = new URL(url, server.url).searchParams.get('payment_intent');
      const data = [...sessions.values()].filter(({ payment_intent }) => payment_intent === intent);
      answer(200, { object: 'list', data, has_more: false, url: '/v1/checkout/sessions' });
    } else {
      const session = sessions.get(url.replace('/v1/checkout/sessions/', ''));
      if (session === undefined) answer(404, { error: { type: 'invalid_request_error', message: 'No such session' } });
      else answer(200, session);
    }
  });
  const sessionOf = (order: string): Session => {
    const found = [...sessions.values()].find(({ client_reference_id }) => client_reference_id === order);
    if (found === undefined) throw new Error(`there is no session of ${order}`);
    return found;
  };
  const signed = (
    type: string,
    object: object,
    secret = secrets.webhook,
    timestamp = Math.floor(Date.now() / 1000),
  ): SignedEvent => {
    const payload = JSON.stringify({ id: 'evt_1', object: 'event', type, data: { object } });
    return { body: payload, signature: signer.webhooks.generateTestHeaderString({ payload, secret, timestamp }) };
  };
  const standIn: StripeStandIn = {
    url: server.url,
    mood: 'up',
    nonsense: '<p>busy</p>',
    sessions,
    forms,
    sessionOf,
    pay(order, paymentStatus = 'paid') {
      Object.assign(sessionOf(order), {
        status: 'complete',
        payment_status: paymentStatus,
        payment_intent: `pi_of_${order}`,
        url: null,
      });
    },
    expire(order) {
      sessionOf(order).status = 'expired';
    },
    event: (type, order, change = {}, secret, at) => signed(type, { ...sessionOf(order), ...change }, secret, at),
    refund(order, refundedCents, change = {}) {
      const { amount_total: amount, currency, payment_intent } = sessionOf(order);
      const refunded = { amount, amount_refunded: refundedCents, refunded: refundedCents === amount };
      const charge = { id: `ch_of_${order}`, object: 'charge', currency, payment_intent, ...refunded };
      return signed('charge.refunded', { ...charge, ...change });
    },
    dispute(type, order, cents, change = {}) {
      const { currency, payment_intent } = sessionOf(order);
      const dispute = { id: `du_of_${order}`, object: 'dispute', amount: cents, currency, payment_intent };
      return signed(type, { ...dispute, charge: `ch_of_${order}`, status: 'needs_response', ...change });
    },
    stop: () => server.stop(),
  };
  return standIn;
}
