import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withDatabase } from '../../src/cli/database.js';
import { GraphqlClient } from '../graphql/graphql-server.js';
import { type Client, send, signIn } from '../rest-compat/rest-server.js';
import { expectLedgersToAgree, ledgerAtRest } from '../support/gateway/ledger-snapshot.js';
import type { TestGateway, TestUser } from '../support/gateway/test-gateway.js';
import { quietLog } from '../support/quiet-log.js';
import { until } from '../support/until.js';
import { type EpayServer, merchant } from './epay-server.js';
import { type PaymentWorld, startPayments } from './setting.js';

/*
 * Quota for money over HTTP, by the legacy contract and by GraphQL, with Epay at the other end. What a payment provider
 * may report, and when, is in cashiers.test.ts.
 */

let world: PaymentWorld;
let gateway: TestGateway;
let epayServer: EpayServer;
let alice: TestUser;
let client: Client;
let mine: GraphqlClient;
let root: GraphqlClient;

beforeAll(async () => {
  world = await startPayments();
  ({ gateway, epayServer } = world);
  alice = await gateway.addUser(0, 'alice');
  client = await signIn(gateway.url, 'alice', alice.password);
  mine = await new GraphqlClient(gateway.url).signIn('alice', alice.password);
  root = await new GraphqlClient(gateway.url).signIn('root', gateway.rootPassword);
});
afterAll(() => world?.stop());

const tenDollars = 5_000_000;

/** The legacy client orders, and its browser posts the form. */
async function ordered(amount = 10, payer = client): Promise<string> {
  const { json } = await payer.post('/api/user/pay', { amount, payment_method: 'zfb', top_up_code: '' });
  epayServer.post(json.data as Record<string, string>);
  return (json.data as { out_trade_no: string }).out_trade_no;
}

const notify = async (query: URLSearchParams): Promise<string> => {
  const { status, text, headers } = await send(gateway.url, 'GET', `/api/user/epay/notify?${query}`);
  expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
  return text;
};

const owned = () => gateway.available(alice);

/** By the log, so that no test waits for what never comes. */
const credited = async (before: number, more: number): Promise<void> => {
  await until(async () => ((await owned()) === before + more ? true : null));
};

const paymentFields = 'id status method amount quota money currency reference learned late expiry';
const ownPayment = async (id: string) =>
  (await mine.ask(`mutation ($id: ID!) { pollPayment(id: $id) { ${paymentFields} } }`, { id })).pollPayment;

describe('the price of a top-up', () => {
  test('is in a body that both kinds of clients read', async () => {
    const { status, json } = await client.post('/api/user/amount', { amount: 10, top_up_code: 'x' });
    expect([status, json]).toEqual([200, { success: true, message: 'success', data: '73.00' }]);
  });

  test.each([
    [{ amount: 0 }, '充值数量不能小于 1'],
    [{ amount: -3 }, '充值数量不能小于 1'],
    [{ amount: 1.5 }, '参数错误'],
    [{ amount: '10' }, '参数错误'],
    [{}, '充值数量不能小于 1'],
  ])('of %j is refused with texts in message and data', async (body, text) => {
    const { status, json } = await client.post('/api/user/amount', body);
    expect([status, json]).toEqual([200, { success: false, message: text, data: text }]);
  });

  test('is the group’s own, and never less than a cent', async () => {
    await gateway.setOption('TopupGroupRatio', '{"default":0.5,"vip":0}');
    expect((await client.post('/api/user/amount', { amount: 10 })).json.data).toBe('36.50');
    await gateway.setOption('TopupGroupRatio', '{"vip":2}');
    expect((await client.post('/api/user/amount', { amount: 10 })).json.data).toBe('73.00');
    await gateway.setOption('Price', '0.001');
    expect((await client.post('/api/user/amount', { amount: 10 })).json.message).toBe('充值金额过低');
    await gateway.setOption('Price', '7.3');
  });

  test('is for an amount of quota where the display unit is quota', async () => {
    await gateway.setOption('DisplayInCurrencyEnabled', 'false');
    expect((await client.post('/api/user/amount', { amount: 499_999 })).json.message).toBe('充值数量不能小于 500000');
    expect((await client.post('/api/user/amount', { amount: 750_000 })).json.data).toBe('10.95');
    await gateway.setOption('DisplayInCurrencyEnabled', 'true');
  });

  test('is returned over GraphQL with the quota', async () => {
    expect(
      await mine.ask(
        '{ topUpPrice(amount: 10) { money currency quota } topUpOffers { methods { method provider currency } minimum } }',
      ),
    ).toEqual({
      topUpPrice: { money: '73.00', currency: 'CNY', quota: tenDollars },
      topUpOffers: {
        methods: ['alipay', 'wxpay'].map((method) => ({ method, provider: 'EPAY', currency: 'CNY' })),
        minimum: 1,
      },
    });
  });
});

describe('a top-up order', () => {
  test('has a form that leads to the payment provider, with a trade number of the contract’s form', async () => {
    const { json } = await client.post('/api/user/pay', { amount: 10, payment_method: 'wx' });
    expect(json).toMatchObject({ success: true, message: 'success', url: `${epayServer.url}/submit.php` });
    const form = json.data as Record<string, string>;
    expect(form).toMatchObject({ type: 'wxpay', money: '73.00', name: 'TUC10' });
    expect(form.out_trade_no).toMatch(new RegExp(`^USR${client.id}NO[0-9A-Za-z]{6}\\d{10}$`));
    expect(() => epayServer.post(form)).not.toThrow();
  });

  test('is credited by its webhook, durably before the response, and is in the usage log', async () => {
    const before = await owned();
    const id = await ordered();
    epayServer.pay(id);
    expect(await notify(epayServer.notice(id))).toBe('success');
    await credited(before, tenDollars);
    const { json } = await client.get('/api/log/self?type=1&p=1&page_size=10');
    const [line] = (json.data as { items: { type: number; content: string }[] }).items;
    expect(line).toMatchObject({
      type: 1,
      content: '使用在线充值成功，充值金额: ＄10.000000 额度，支付金额：73.000000',
    });
    expect(await ownPayment(id)).toMatchObject({ status: 'COMPLETED', learned: 'NOTICE', money: '73.00' });
  });

  test.each(['a form', 'the query', 'both, in parts'])(
    'is credited once by a POST webhook, with its members in %s',
    async (where) => {
      const before = await owned();
      const id = await ordered();
      epayServer.pay(id);
      const members = [...epayServer.notice(id)];
      const inQuery = where === 'a form' ? [] : where === 'the query' ? members : members.slice(0, 3);
      const inForm = members.slice(inQuery.length);
      const post = async (contentType: string) => {
        const answer = await send(gateway.url, 'POST', `/api/user/epay/notify?${new URLSearchParams(inQuery)}`, {
          headers: { 'content-type': contentType },
          ...(inForm.length > 0 && { raw: new URLSearchParams(inForm).toString() }),
        });
        return [answer.status, answer.text];
      };
      if (inForm.length > 0) expect((await post('text/plain'))[0]).toBe(415);
      expect(await post('application/x-www-form-urlencoded')).toEqual([200, 'success']);
      expect(await post('application/x-www-form-urlencoded; charset=UTF-8')).toEqual([200, 'success']);
      expect(await notify(epayServer.notice(id))).toBe('success');
      await credited(before, tenDollars);
    },
  );

  test('is credited once, however many webhooks arrive from any sender', async () => {
    const before = await owned();
    const id = await ordered();
    epayServer.pay(id);
    const answers = await Promise.all(Array.from({ length: 20 }, () => notify(epayServer.notice(id))));
    expect(answers).toEqual(answers.map(() => 'success'));
    await ownPayment(id);
    await root.ask('mutation ($id: ID!) { recheckPayment(id: $id) { status } }', { id });
    expect(await notify(epayServer.notice(id))).toBe('success');
    await credited(before, tenDollars);
  });

  test('repeated under its idempotency key is the same order', async () => {
    const headers = { ...client.headers, 'idempotency-key': 'order-1' };
    const give = (amount: number) =>
      send(gateway.url, 'POST', '/api/user/pay', { headers, body: { amount, payment_method: 'zfb' } });
    const [first, second] = [await give(10), await give(10)];
    expect(second.json.data).toEqual(first.json.data);
    expect((await give(20)).json.message).toBe('该幂等键已用于另一个请求，请刷新后重试');
  });

  test('is invisible to other users', async () => {
    const id = await ordered();
    const bob = await gateway.addUser(0);
    const other = await new GraphqlClient(gateway.url).signIn(bob.username, bob.password);
    expect(await other.refusal('mutation ($id: ID!) { pollPayment(id: $id) { id } }', { id })).toMatchObject({
      code: 'payment-not-found',
    });
    expect((await other.ask('{ ownPayments { items { id } } }')).ownPayments.items).toEqual([]);
  });

  test('is limited to a few open ones at a time', async () => {
    const eve = await gateway.addUser(0, 'eve');
    const eager = await signIn(gateway.url, 'eve', eve.password);
    const order = async () => (await eager.post('/api/user/pay', { amount: 1, payment_method: 'zfb' })).json;
    for (let count = 0; count < 20; count++) expect((await order()).success).toBe(true);
    const hers = await new GraphqlClient(gateway.url).signIn('eve', eve.password);
    await until(async () => ((await hers.ask('{ ownPayments { total } }')).ownPayments.total === 20 ? true : null));
    expect((await order()).message).toBe('未支付的订单过多：最多 20 个，请先支付或等待其过期');
  });
});

test('payment orders count where the read model is stopped, too: at most twenty are open', async () => {
  const mallory = await gateway.addUser(0, 'mallory');
  const eager = await signIn(gateway.url, 'mallory', mallory.password);
  const order = async () => (await eager.post('/api/user/pay', { amount: 1, payment_method: 'zfb' })).json;
  await withDatabase(gateway.config, quietLog, async ({ pool }) => {
    const { rows } = await pool.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables where tablename = 'payments'`,
    );
    const client = await pool.connect();
    try {
      // It can be read, and not written.
      await client.query(`begin; lock table ${rows.map(({ name }) => name).join(', ')} in exclusive mode`);
      const answers = await Promise.all(Array.from({ length: 25 }, order));
      expect(answers.filter(({ success }) => success)).toHaveLength(20);
      const messages = new Set(answers.filter(({ success }) => !success).map(({ message }) => message));
      expect([...messages]).toEqual(['未支付的订单过多：最多 20 个，请先支付或等待其过期']);
      expect((await order()).success).toBe(false);
      const counted = await client.query(`select count(*)::integer as open from ${rows[0]?.name} where user_id = $1`, [
        mallory.actor.id,
      ]);
      expect(counted.rows).toEqual([{ open: 0 }]);
    } finally {
      await client.query('rollback');
      client.release();
    }
  });
});

describe('a payment webhook', () => {
  test('that is refused is answered so, counted and logged without the key, and moves nothing', async () => {
    const before = await owned();
    const id = await ordered();
    const forged = epayServer.notice(id);
    forged.set('sign', '0'.repeat(32));
    for (const query of [forged, epayServer.notice(id, { money: '0.01' }), epayServer.notice(id, { pid: '1' })])
      expect(await notify(query)).toBe('fail');
    expect((await root.ask('{ refusedNotices { provider reason count } }')).refusedNotices).toEqual(
      ['WRONG_SIGNATURE', 'DIFFERS', 'WRONG_MERCHANT'].map((reason) => ({ provider: 'EPAY', reason, count: 1 })),
    );
    expect((await ownPayment(id)).status).toBe('OPEN');
    expect(await owned()).toBe(before);
    expect(gateway.logged.some((line) => line.includes('a notice of a payment was refused'))).toBe(true);
    expect(gateway.logged.join('\n')).not.toContain(merchant.key);
  });

  test('is not credited without a signature, or with a duplicate member', async () => {
    const before = await owned();
    const id = await ordered();
    epayServer.pay(id);
    const notice = epayServer.notice(id);
    const changed = new URLSearchParams(notice);
    changed.set('money', '1');
    const twice = new URLSearchParams([...notice, ['money', '9999']]);
    for (const [query, form] of [
      ['', changed],
      ['', twice],
      ['?money=9999', notice],
      [`?${notice}`, notice],
    ] as const) {
      const answer = await send(gateway.url, 'POST', `/api/user/epay/notify${query}`, {
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        raw: form.toString(),
      });
      expect([answer.status, answer.text]).toEqual([200, 'fail']);
    }
    expect(await owned()).toBe(before);
    // Of other orders than the notice a form is still not taken.
    const elsewhere = await send(gateway.url, 'POST', '/api/user/login', {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      raw: 'username=alice&password=x',
    });
    expect(elsewhere.status).toBe(415);
  });

  test('whose repetition would change nothing is accepted', async () => {
    const id = await ordered();
    expect(await notify(epayServer.notice('USR1NOabcdef1234567890'))).toBe('success');
    expect(await notify(epayServer.notice(id, { trade_status: 'TRADE_CLOSED' }))).toBe('success');
  });
});

describe('administrators of payment orders', () => {
  const complete =
    'mutation ($id: ID!, $reason: String!, $stepUp: String) { completePayment(id: $id, reason: $reason, stepUp: $stepUp) { status learned reason completedBy { username } } }';

  test('see every order with its user', async () => {
    const id = await ordered();
    const { payments } = await root.ask(
      'query ($id: ID!) { payments(id: $id) { items { id status user { username } } total } }',
      { id },
    );
    expect(payments).toEqual({ items: [{ id, status: 'OPEN', user: { username: 'alice' } }], total: 1 });
  });

  test('can query one, and learn when the provider does not report on it', async () => {
    const before = await owned();
    const id = await ordered();
    const recheck = 'mutation ($id: ID!) { recheckPayment(id: $id) { status } }';
    expect((await root.ask(recheck, { id })).recheckPayment.status).toBe('OPEN');
    epayServer.mood = 'down';
    expect(await root.refusal(recheck, { id })).toMatchObject({ code: 'payment-unanswered' });
    epayServer.mood = 'up';
    epayServer.pay(id);
    expect((await root.ask(recheck, { id })).recheckPayment.status).toBe('COMPLETED');
    await credited(before, tenDollars);
  });

  test('complete one by hand, once, with a recorded reason', async () => {
    const before = await owned();
    const id = await ordered();
    expect(
      (await root.ask(complete, { id, reason: 'the bank has it', stepUp: await root.proven('PAYMENTS') }))
        .completePayment,
    ).toEqual({
      status: 'COMPLETED',
      learned: 'HAND',
      reason: 'the bank has it',
      completedBy: { username: 'root' },
    });
    expect(await root.refusal(complete, { id, reason: 'again', stepUp: await root.proven('PAYMENTS') })).toMatchObject({
      code: 'payment-completed',
    });
    expect(await notify(epayServer.notice(id))).toBe('success');
    await credited(before, tenDollars);
    const { ownPayments } = await mine
      .ask('{ ownPayments { items { id reason completedBy { id } } } }')
      .catch(() => ({ ownPayments: null }));
    expect(ownPayments).toBeNull();
  });

  test('cannot credit users of their own role by hand, themselves included', async () => {
    const { actor, username, password } = await gateway.addUser(0, 'adam');
    await gateway.application.visible(await gateway.application.users.manage(gateway.root, actor.id, 'promote'));
    const admin = await signIn(gateway.url, username, password);
    const asAdmin = await new GraphqlClient(gateway.url).signIn(username, password);
    const own = await ordered(10, admin);
    expect(
      await asAdmin.refusal(complete, { id: own, reason: 'mine', stepUp: await asAdmin.proven('PAYMENTS') }),
    ).toMatchObject({
      code: 'peer-update-forbidden',
    });
    const ofAlice = await ordered();
    expect(
      (await asAdmin.ask(complete, { id: ofAlice, reason: 'seen', stepUp: await asAdmin.proven('PAYMENTS') }))
        .completePayment.status,
    ).toBe('COMPLETED');
  });
});

test('the ledger is balanced after all top-up tests', async () => {
  await withDatabase(gateway.config, quietLog, async (database) => {
    await expectLedgersToAgree(database, await ledgerAtRest(database));
  });
}, 30_000);
