import type Stripe from 'stripe';
import type {
  OrderNews,
  OrderState,
  PaymentProvider,
  WebhookRead,
  WebhookRequest,
} from '../application/ports/payment-ports.js';
import { decimal, integer, quotient, times } from '../domain/kernel/decimal.js';
import { Failure } from '../domain/kernel/failure.js';
import { OutboundError, outboundFetch } from '../outbound/outbound-fetch.js';
import { maxPaymentAnswerBytes, ownAddresses, type PaymentSetting } from './payment-setting.js';
import { isStripeEvent, stripeReturn } from './stripe-returns.js';

/*
 * Stripe's checkout: a session is opened for an order, the browser goes there, and a signed event says how it ended.
 * The package is read when somebody first pays: it is large, and few use it.
 */

const stripeMethod = 'stripe';

/** For one request, which may open a checkout. */
const answerTimeoutMs = 10_000;
const cents = 100;

/** Of a currency whose smallest unit is a hundredth; Stripe counts in smallest units. */
function hasCents(currency: string): boolean {
  if (!/^[A-Z]{3}$/.test(currency)) return false;
  const format = new Intl.NumberFormat('en', { style: 'currency', currency });
  return format.resolvedOptions().maximumFractionDigits === 2;
}

const minUnits = (money: string): number =>
  Number(quotient(times(decimal(money), integer(cents)), integer(1), 0).digits);

const moneyOf = (units: number): string => (units / cents).toFixed(2);

/** The package takes each answer for one: a text or a number would end the process with an error nobody can catch. */
function isObject(json: string): boolean {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null;
  } catch {
    return false;
  }
}

/** How a session stands; `payment_intent` names the payment. */
function newsOf(session: Stripe.Checkout.Session): Exclude<OrderNews, { kind: 'returned' }> {
  const { payment_status, status, amount_total, currency, payment_intent } = session;
  if (payment_status === 'paid' && typeof amount_total === 'number' && typeof currency === 'string')
    return {
      kind: 'paid',
      received: {
        money: moneyOf(amount_total),
        currency: currency.toUpperCase(),
        reference: typeof payment_intent === 'string' ? payment_intent : (payment_intent?.id ?? session.id),
        method: stripeMethod,
      },
    };
  return status === 'expired' ? { kind: 'over' } : { kind: 'nothing' };
}

/** What is reported of a session, and moves something. */
const sessionEvents: ReadonlySet<string> = new Set([
  'checkout.session.completed',
  'checkout.session.async_payment_succeeded',
  'checkout.session.expired',
]);

export function stripe(setting: PaymentSetting, apiUrl: string): PaymentProvider {
  const { outbound, text, isKept, secretOf } = setting;
  const fetched = outboundFetch(outbound, {
    timeoutMs: answerTimeoutMs,
    maxBytes: maxPaymentAnswerBytes,
    allowHttp: apiUrl.startsWith('http:'),
  });
  const api = new URL(apiUrl);

  /** Its requests go through the guarded client. */
  const clientWith = async (secret: string): Promise<Stripe> => {
    const { default: Client } = await import('stripe');
    const fetch = async (url: string, { method, headers, body }: RequestInit): Promise<Response> => {
      const answer = await fetched(url, {
        method: method ?? 'GET',
        headers: Object.fromEntries(new Headers(headers)),
        body: typeof body === 'string' && body !== '' ? body : null,
      });
      const text = await answer.text();
      if (!isObject(text)) throw new OutboundError('unreadable');
      return new Response(text, { status: answer.status, headers: answer.headers });
    };
    return new Client(secret, {
      httpClient: Client.createFetchHttpClient(fetch as typeof globalThis.fetch),
      protocol: api.protocol === 'http:' ? 'http' : 'https',
      host: api.hostname,
      port: api.port === '' ? (api.protocol === 'http:' ? 80 : 443) : Number(api.port),
      timeout: answerTimeoutMs,
      maxNetworkRetries: 1,
      telemetry: false,
    });
  };

  const client = async (): Promise<Stripe | null> => {
    const secret = await secretOf('StripeApiSecret');
    return secret === null ? null : clientWith(secret);
  };

  const readWebhook = async ({ body, header }: WebhookRequest): Promise<WebhookRead> => {
    const secret = await secretOf('StripeWebhookSecret');
    const opened = await client();
    if (secret === null || opened === null) return { ok: false, reason: 'not-configured' };
    let event: Stripe.Event;
    try {
      event = opened.webhooks.constructEvent(body, header('stripe-signature'), secret);
    } catch {
      return { ok: false, reason: 'wrong-signature' };
    }
    // Signed by whoever has the secret, and all the same not what Stripe sends.
    if (!isStripeEvent(event)) return { ok: false, reason: 'malformed' };
    const gone = stripeReturn(event, moneyOf);
    if (gone !== null) {
      // Only the session, among what Stripe keeps of a payment, knows our order for certain.
      const sessions = await opened.checkout.sessions
        .list({ payment_intent: gone.paymentIntent, limit: 1 })
        .catch(() => null);
      if (!Array.isArray(sessions?.data)) return { ok: false, reason: 'unanswered' };
      const [session] = sessions.data;
      return {
        ok: true,
        order: session?.client_reference_id ?? '',
        news: { kind: 'returned', returned: gone.returned },
      };
    }
    const { object } = event.data;
    if (!sessionEvents.has(event.type) || !('object' in object) || object.object !== 'checkout.session')
      return { ok: true, order: '', news: { kind: 'nothing' } };
    return { ok: true, order: object.client_reference_id ?? '', news: newsOf(object) };
  };

  return {
    methods: () =>
      isKept('StripeApiSecret') &&
      isKept('StripeWebhookSecret') &&
      hasCents(text('StripeCurrency').trim().toUpperCase()) &&
      ownAddresses(setting) !== null
        ? [stripeMethod]
        : [],

    async begin({ id, amount, money, currency }, returnPath) {
      const [own, opened] = [ownAddresses(setting), await client()];
      if (own === null || opened === null || !hasCents(currency)) throw new Failure('payment-not-configured');
      const back = `${own.site}${returnPath}?order=${id}`;
      const session = await opened.checkout.sessions
        .create(
          {
            mode: 'payment',
            client_reference_id: id,
            line_items: [
              {
                quantity: 1,
                price_data: {
                  currency: currency.toLowerCase(),
                  unit_amount: minUnits(money),
                  product_data: { name: `TUC${amount}` },
                },
              },
            ],
            adaptive_pricing: { enabled: false },
            success_url: back,
            cancel_url: back,
            metadata: { order: id },
            payment_intent_data: { metadata: { order: id } },
          },
          // Asked again for the same order, it answers with the same session.
          { idempotencyKey: id },
        )
        .catch(() => null);
      const { id: name, url } = session ?? {};
      // The browser is sent there.
      if (typeof name !== 'string' || typeof url !== 'string' || !/^https?:/.test(url))
        throw new Failure('payment-not-begun');
      return { kind: 'checkout', url, session: name };
    },

    readWebhook,

    async ask({ id, session: name }): Promise<OrderState> {
      // Nobody has been led to a checkout that we know of.
      if (name === null) return { kind: 'open' };
      const opened = await client();
      if (opened === null) return { kind: 'unanswered', reason: 'not-configured' };
      const session = await opened.checkout.sessions.retrieve(name).catch(() => null);
      if (session === null) return { kind: 'unanswered', reason: 'unreachable' };
      if (session.client_reference_id !== id) return { kind: 'unanswered', reason: 'another-order' };
      const news = newsOf(session);
      return news.kind === 'nothing' ? { kind: 'open' } : news;
    },
  };
}
