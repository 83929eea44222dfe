import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withDatabase } from '../../src/cli/database.js';
import { GraphqlClient } from '../graphql/graphql-server.js';
import { type Client, send, signIn } from '../rest-compat/rest-server.js';
import { expectLedgersToAgree, ledgerAtRest } from '../support/gateway/ledger-snapshot.js';
import { startTestGateway, type TestGateway, type TestUser } from '../support/gateway/test-gateway.js';
import { quietLog } from '../support/quiet-log.js';
import { until } from '../support/until.js';
import { type SignedEvent, type StripeStandIn, secrets, startStripe } from './stripe-stand-in.js';

/*
 * Quota for money by Stripe's checkout, over HTTP: sessions, signed events, and the look of who waits. What it shares with
 * others is in cashiers.test.ts.
 */

let stripe: StripeStandIn;
let gateway: TestGateway;
let alice: TestUser;
let client: Client;
let root: GraphqlClient;

const tenDollars = 5_000_000;

beforeAll(async () => {
  stripe = await startStripe();
  gateway = await startTestGateway({ STRIPE_URL: stripe.url, GRAPHQL_COST_PER_MINUTE: '100000000' });
  for (const [key, value] of Object.entries({
    ServerAddress: 'https://gate.example',
    StripeApiSecret: secrets.api,
    StripeWebhookSecret: secrets.webhook,
    StripeCurrency: 'usd',
    StripePrice: '1.1',
  }))
    await gateway.setOption(key, value);
  alice = await gateway.addUser(0, 'alice');
  client = await signIn(gateway.url, 'alice', alice.password);
  root = await new GraphqlClient(gateway.url).signIn('root', gateway.rootPassword);
});
afterAll(async () => {
  await gateway?.stop();
  await stripe?.stop();
});

const create = (body: object = { amount: 10, payment_method: 'stripe' }) =>
  client.post('/api/user/stripe/create-checkout-session', body);

/** The session and our trade number. */
async function ordered(): Promise<{ readonly session: string; readonly id: string }> {
  const { json } = await create();
  const { session_id: session } = json.data as { session_id: string };
  return { session, id: stripe.sessions.get(session)?.client_reference_id ?? '' };
}

const deliver = ({ body, signature }: SignedEvent) =>
  send(gateway.url, 'POST', '/api/user/stripe/webhook', { raw: body, headers: { 'stripe-signature': signature } });

const statusOf = async (session: string): Promise<unknown> =>
  (await client.post('/api/user/stripe/payment-status', { session_id: session })).json.data;

const owned = () => gateway.available(alice);
const credited = async (before: number, more = tenDollars): Promise<void> => {
  await until(async () => ((await owned()) === before + more ? true : null));
};

describe('a Stripe checkout', () => {
  test('is created for exactly the order, and leads back to the wallet', async () => {
    const { json } = await create();
    const { session_id: session, url } = json.data as { session_id: string; url: string };
    expect([json.success, url]).toEqual([true, `${stripe.url}/c/pay/${session}`]);
    const id = stripe.sessions.get(session)?.client_reference_id ?? '';
    expect(id).toMatch(/^USR\d+NO/);
    expect(Object.fromEntries(stripe.forms.at(-1) ?? [])).toMatchObject({
      mode: 'payment',
      client_reference_id: id,
      'line_items[0][quantity]': '1',
      'line_items[0][price_data][currency]': 'usd',
      'line_items[0][price_data][unit_amount]': '1100',
      'adaptive_pricing[enabled]': 'false',
      success_url: `https://gate.example/topup?order=${id}`,
    });
  });

  test('is listed as a payment method, with its own price', async () => {
    expect(
      await root.ask(
        '{ status { onlineTopUp } topUpOffers { methods { method currency } } topUpPrice(amount: 10, method: "stripe") { money currency quota } }',
      ),
    ).toEqual({
      status: { onlineTopUp: true },
      topUpOffers: { methods: [{ method: 'stripe', currency: 'USD' }] },
      topUpPrice: { money: '11.00', currency: 'USD', quota: tenDollars },
    });
  });

  test('is one, however often its order is repeated under one idempotency key', async () => {
    const headers = { ...client.headers, 'idempotency-key': 'checkout-1' };
    const give = () =>
      send(gateway.url, 'POST', '/api/user/stripe/create-checkout-session', { headers, body: { amount: 10 } });
    expect((await give()).json.data).toEqual((await give()).json.data);
  });

  test.each([
    [{ amount: 0 }, '充值数量不能小于 1'],
    [{ amount: 'ten' }, '参数错误'],
  ])('is refused for %j', async (body, message) =>
    expect((await create(body)).json).toMatchObject({ success: false, message }),
  );

  test('that Stripe does not create fails without Stripe’s reason', async () => {
    const answers = ['"a text"', '{}', '{"id":"cs_1","url":"javascript:alert(1)"}'];
    for (const [mood, nonsense] of [['refusing'], ['down'], ...answers.map((answer) => ['senseless', answer])]) {
      Object.assign(stripe, { mood, nonsense });
      expect((await create()).json).toMatchObject({ success: false, message: '拉起支付失败' });
    }
    stripe.mood = 'up';
    expect(gateway.logged.join('\n')).not.toContain(secrets.api);
  });

  test('is not offered in a currency without cents', async () => {
    for (const currency of ['JPY', 'KWD', 'dollars', '']) {
      await gateway.setOption('StripeCurrency', currency);
      expect((await create()).json).toMatchObject({ success: false, message: '当前管理员未配置支付信息' });
    }
    await gateway.setOption('StripeCurrency', 'usd');
  });
});

describe('a Stripe event', () => {
  test('of a paid session credits its order once, and the poll reports so', async () => {
    const before = await owned();
    const { session, id } = await ordered();
    expect(await statusOf(session)).toBe('open');
    stripe.pay(id);
    const sent = stripe.event('checkout.session.completed', id);
    for (let count = 0; count < 3; count++) expect((await deliver(sent)).status).toBe(200);
    await credited(before);
    expect(await statusOf(session)).toBe('complete');
  });

  test('of a session with a pending payment credits when it has arrived', async () => {
    const before = await owned();
    const { id } = await ordered();
    stripe.pay(id, 'unpaid');
    expect((await deliver(stripe.event('checkout.session.completed', id))).status).toBe(200);
    expect(await owned()).toBe(before);
    stripe.pay(id);
    expect((await deliver(stripe.event('checkout.session.async_payment_succeeded', id))).status).toBe(200);
    await credited(before);
  });

  test('of an expired session ends the order', async () => {
    const { session, id } = await ordered();
    stripe.expire(id);
    expect((await deliver(stripe.event('checkout.session.expired', id))).status).toBe(200);
    expect(await statusOf(session)).toBe('expired');
  });

  test('that is refused is sent again: its signature covers the very bytes that arrived', async () => {
    const before = await owned();
    const { id } = await ordered();
    stripe.pay(id);
    const right = stripe.event('checkout.session.completed', id);
    for (const event of [
      { ...right, body: `${right.body} ` },
      { ...right, signature: '' },
      stripe.event('checkout.session.completed', id, { amount_total: 1 }),
    ])
      expect((await deliver(event)).status).toBe(400);
    const { refusedNotices } = await root.ask('{ refusedNotices { provider reason count } }');
    expect(refusedNotices).toEqual([
      { provider: 'STRIPE', reason: 'WRONG_SIGNATURE', count: 2 },
      { provider: 'STRIPE', reason: 'DIFFERS', count: 1 },
    ]);
    expect(await owned()).toBe(before);
    expect((await deliver(right)).status).toBe(200);
    await credited(before);
  });

  test('of an unknown order is accepted and moves nothing', async () => {
    const before = await owned();
    const { id } = await ordered();
    stripe.pay(id);
    for (const event of [
      stripe.event('invoice.paid', id),
      stripe.event('checkout.session.completed', id, { client_reference_id: 'of another shop' }),
    ])
      expect((await deliver(event)).status).toBe(200);
    expect(await owned()).toBe(before);
  });
});

describe('a refund or dispute at Stripe', () => {
  const paid = async (): Promise<string> => {
    const before = await owned();
    const { id } = await ordered();
    stripe.pay(id);
    expect((await deliver(stripe.event('checkout.session.completed', id))).status).toBe(200);
    await credited(before);
    return id;
  };
  /** The gate knows by the time that Stripe is answered. */
  const takenBy = async (event: SignedEvent): Promise<number> => {
    const before = await owned();
    expect((await deliver(event)).status).toBe(200);
    return before - (await owned());
  };
  const stateOf = async (id: string) =>
    (
      await root.ask('query ($id: ID!) { payments(id: $id) { items { status refunded takenBack disputed } } }', { id })
    ).payments.items.at(0);

  test('by refunds debits quota in proportion, each once, and all of it in the end', async () => {
    const id = await paid();
    expect(await takenBy(stripe.refund(id, 367))).toBe(1_668_182);
    expect(await takenBy(stripe.refund(id, 367))).toBe(0);
    expect(await stateOf(id)).toEqual({
      status: 'COMPLETED',
      refunded: '3.67',
      takenBack: 1_668_182,
      disputed: false,
    });
    expect(await takenBy(stripe.refund(id, 1100))).toBe(tenDollars - 1_668_182);
    // An older notice that is late.
    expect(await takenBy(stripe.refund(id, 367))).toBe(0);
    expect(await takenBy(stripe.dispute('charge.dispute.funds_withdrawn', id, 1100))).toBe(0);
    const { json } = await client.get('/api/log/self?type=4&p=1&page_size=10');
    const contents = (json.data as { items: { content: string }[] }).items.map(({ content }) => content);
    expect(contents).toContain('在线充值退款，扣除额度: ＄3.336364 额度，退款金额：3.670000');
    expect(contents).toContain('在线充值退款，扣除额度: ＄6.663636 额度，退款金额：7.330000');
  });

  test('by a dispute debits quota, and returns it when the dispute is won', async () => {
    const id = await paid();
    expect(await takenBy(stripe.dispute('charge.dispute.created', id, 1100))).toBe(0);
    const withdrawn = stripe.dispute('charge.dispute.funds_withdrawn', id, 1100);
    expect(await takenBy(withdrawn)).toBe(tenDollars);
    expect(await takenBy(withdrawn)).toBe(0);
    expect(await stateOf(id)).toMatchObject({ disputed: true, takenBack: tenDollars, refunded: null });
    expect(await takenBy(stripe.dispute('charge.dispute.closed', id, 1100, { status: 'lost' }))).toBe(0);
    const won = stripe.dispute('charge.dispute.closed', id, 1100, { status: 'won' });
    expect(await takenBy(won)).toBe(-tenDollars);
    expect(await takenBy(stripe.dispute('charge.dispute.funds_reinstated', id, 1100, { status: 'won' }))).toBe(0);
    expect(await takenBy(withdrawn)).toBe(0);
    expect(await stateOf(id)).toMatchObject({ disputed: false, takenBack: 0 });
  });

  test('of spent quota leaves a negative balance', async () => {
    const id = await paid();
    const has = await owned();
    await gateway.application.visible(
      await gateway.application.users.adjustQuota(gateway.root, alice.actor.id, { delta: -has }),
    );
    expect(await takenBy(stripe.refund(id, 1100))).toBe(tenDollars);
    expect(await owned()).toBe(-tenDollars);
    await gateway.application.visible(
      await gateway.application.users.adjustQuota(gateway.root, alice.actor.id, { delta: has + tenDollars }),
    );
  });

  test('before the payment was reported is credited and taken back', async () => {
    const { id } = await ordered();
    stripe.pay(id);
    expect(await takenBy(stripe.refund(id, 1100))).toBe(0);
    expect(await stateOf(id)).toMatchObject({ status: 'COMPLETED', takenBack: tenDollars });
  });

  test('of an unpaid order, another currency or another signature is refused with 400', async () => {
    const id = await paid();
    const unpaid = await ordered();
    stripe.sessionOf(unpaid.id).payment_intent = 'pi_unpaid';
    expect((await deliver(stripe.refund(unpaid.id, 1100))).status).toBe(400);
    expect((await deliver(stripe.refund(id, 1100, { currency: 'eur' }))).status).toBe(400);
    const { body } = stripe.refund(id, 1100);
    expect((await deliver({ body, signature: stripe.refund(id, 1).signature })).status).toBe(400);
    for (const [mood, nonsense] of [['down'], ['senseless', '{}'], ['senseless', '{"data":{}}']]) {
      Object.assign(stripe, { mood, nonsense });
      expect((await deliver(stripe.refund(id, 1100))).status).toBe(400);
    }
    stripe.mood = 'up';
    expect((await stateOf(id))?.takenBack).toBe(0);
  });

  test('of an unknown order is accepted, and counted where it might have been known', async () => {
    const id = await paid();
    const unknown = async (): Promise<number> => {
      const { refusedNotices } = await root.ask('{ refusedNotices { reason count } }');
      return refusedNotices.find(({ reason }: { reason: string }) => reason === 'UNKNOWN_ORDER')?.count ?? 0;
    };
    const before = await unknown();
    expect(await takenBy(stripe.refund(id, 1100, { payment_intent: 'pi_of_a_shop' }))).toBe(0);
    expect(await takenBy(stripe.refund(id, 1100, { payment_intent: null }))).toBe(0);
    expect(await unknown()).toBe(before);
    stripe.sessionOf(id).client_reference_id = 'USR1NOabcdef1234567890';
    const charge = stripe.refund('USR1NOabcdef1234567890', 1100);
    expect(await takenBy(charge)).toBe(0);
    expect(await unknown()).toBe(before + 1);
    stripe.sessionOf('USR1NOabcdef1234567890').client_reference_id = id;
  });
});

describe('the query of a waiting user', () => {
  test('finds a session that has ended', async () => {
    const { session, id } = await ordered();
    stripe.expire(id);
    expect(await statusOf(session)).toBe('expired');
  });

  test('is for the user that ordered', async () => {
    const { session } = await ordered();
    const bob = await gateway.addUser(0);
    const other = await signIn(gateway.url, bob.username, bob.password);
    const { json } = await other.post('/api/user/stripe/payment-status', { session_id: session });
    expect(json).toMatchObject({ success: false, message: 'record not found' });
  });
});

test('the ledger is balanced after all Stripe tests', async () => {
  await withDatabase(gateway.config, quietLog, async (database) => {
    await expectLedgersToAgree(database, await ledgerAtRest(database));
  });
}, 30_000);

describe('an event of another shape', () => {
  test.each([
    'null',
    '5',
    '"text"',
    '[]',
    '{}',
    '{"type":"charge.refunded"}',
    '{"type":"charge.refunded","data":{"object":{}}}',
    '{"type":"charge.refunded","data":{"object":{"id":"ch_1","amount_refunded":"x","currency":7}}}',
    '{"type":"charge.dispute.closed","data":{"object":null}}',
    '{"type":"checkout.session.completed","data":null}',
    '{"type":"checkout.session.completed","data":{"object":{"object":"checkout.session","client_reference_id":{"a":1}}}}',
    'no json',
  ])('with a valid signature is refused with 400: %s', async (body) => {
    const header = `t=${Math.floor(Date.now() / 1000)}`;
    const hmac = createHmac('sha256', secrets.webhook)
      .update(`${header.slice(2)}.${body}`)
      .digest('hex');
    expect(await deliver({ body, signature: `${header},v1=${hmac}` })).toMatchObject({ status: 400 });
  });
});
