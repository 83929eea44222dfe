import type { Application } from '../application/application.js';
import { Failure } from '../domain/kernel/failure.js';
import type { PaymentProviderName } from '../domain/payment/payment.js';
import type { Endpoints, HttpExchange } from './wire/endpoints.js';
import { failure, success } from './wire/envelope.js';
import { oneSentence, refusalAnswer, type Wordings, worded } from './wire/errors.js';

/*
 * Buying quota. Clients of one kind look at `success`, those of the other at `message`, which is then `success` or `error`
 * with the text in `data`: the bodies suit both.
 */

const wordings: Wordings = oneSentence('参数错误');

/** Where the legacy console shows what has come. */
const returnPath = '/log';

/** Where this console shows it. */
const checkoutReturnPath = '/topup';

const stripeMethod = 'stripe';

/** What clients that ask every two seconds wait for; at any other word they go on asking. */
const sessionStatus = { completed: 'complete', expired: 'expired', open: 'open' } as const;

/** What clients call Alipay; any other word is WeChat Pay. */
const alipay = 'zfb';

const topUpAnswer = (data: unknown, more: object = {}) => ({ success: true, message: 'success', data, ...more });

/** The text stands in `data` too. */
async function answered(answer: () => object | Promise<object>): Promise<object> {
  try {
    return await answer();
  } catch (error) {
    const refused = refusalAnswer(worded(error, wordings, {}));
    if (refused === null) throw error;
    return failure(refused.body.message, refused.body.message);
  }
}

export function topUpEndpoints(endpoints: Endpoints, { payments, queries }: Application): void {
  endpoints.guarded('ordinary', 'POST', '/user/amount', (viewer, { body }) =>
    answered(() => topUpAnswer(payments.price(viewer, body().integer('amount') ?? 0).money)),
  );

  endpoints.guarded('ordinary', 'POST', '/user/pay', (viewer, { body, orderKey }) =>
    answered(async () => {
      const read = body();
      const method = read.text('payment_method') === alipay ? 'alipay' : 'wxpay';
      const order = { amount: read.integer('amount') ?? 0, method };
      const { begun } = await payments.begin(viewer, order, returnPath, orderKey());
      if (begun.kind !== 'form') throw new Failure('payment-not-begun');
      return topUpAnswer(begun.fields, { url: begun.url });
    }),
  );

  endpoints.guarded(
    'ordinary',
    'POST',
    '/user/stripe/create-checkout-session',
    async (viewer, { body, orderKey }) => {
      const order = { amount: body().integer('amount') ?? 0, method: stripeMethod };
      const { begun } = await payments.begin(viewer, order, checkoutReturnPath, orderKey());
      if (begun.kind !== 'checkout') throw new Failure('payment-not-begun');
      return success({ session_id: begun.session, url: begun.url });
    },
    { wordings },
  );

  endpoints.guarded(
    'ordinary',
    'POST',
    '/user/stripe/payment-status',
    async (viewer, { body }) => {
      const { id } = await queries.paymentBySession(viewer, body().text('session_id') ?? '');
      return success(sessionStatus[(await payments.poll(viewer, id)).status]);
    },
    { wordings },
  );

  const taken = (name: PaymentProviderName, { request }: Pick<HttpExchange, 'request'>): Promise<boolean> => {
    const [, query = ''] = request.url.split(/\?(.*)/s);
    const notice = {
      query: new URLSearchParams(query),
      body: Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
      header: (header: string) => String(request.headers[header] ?? ''),
    };
    return payments.handleWebhook(name, notice).catch((error) => {
      if (error instanceof Failure) return false;
      throw error;
    });
  };

  for (const method of ['GET', 'POST'] as const)
    endpoints.open(
      method,
      '/user/epay/notify',
      async (exchange) =>
        exchange.reply.type('text/plain; charset=utf-8').send((await taken('epay', exchange)) ? 'success' : 'fail'),
      { form: true },
    );

  // Whatever is not answered with 200 comes again.
  endpoints.open('POST', '/user/stripe/webhook', async (exchange) => {
    const received = await taken('stripe', exchange);
    return exchange.reply.status(received ? 200 : 400).send({ received });
  });
}
