import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { OrderToPay, PaymentProvider, WebhookRead } from '../../src/application/ports/payment-ports.js';
import { PaymentId } from '../../src/domain/kernel/ids.js';
import { resolveBySystem } from '../../src/outbound/address-guard.js';
import { type GuardedClient, openGuardedClient } from '../../src/outbound/guarded-client.js';
import { epay } from '../../src/payments/epay.js';
import { type EpayServer, merchant, signed, startEpayServer } from './epay-server.js';

/*
 * Epay's interface, parameter by parameter, with a cashier on loopback that signs as it does. What it shares with others is
 * in cashiers.test.ts.
 */

let epayServer: EpayServer;
let outbound: GuardedClient;
let provider: PaymentProvider;
let options: Record<string, string>;

beforeAll(async () => {
  epayServer = await startEpayServer();
  outbound = openGuardedClient({ allowedNetworks: ['127.0.0.0/8'], allowHttp: true, resolve: resolveBySystem });
});
afterAll(async () => {
  await outbound.close();
  await epayServer.stop();
});
beforeEach(() => {
  options = {
    PayAddress: `${epayServer.url}/`,
    EpayId: merchant.id,
    EpayKey: merchant.key,
    ServerAddress: 'https://gate.example/',
  };
  provider = epay({
    outbound,
    text: (key) => (key === 'EpayKey' ? '' : (options[key] ?? '')),
    isKept: (key) => Boolean(options[key]),
    secretOf: async (key) => options[key] ?? null,
  });
});

let orders = 0;
const order = (): OrderToPay => ({
  id: PaymentId(`USR7NOx4Tk9b${String(++orders).padStart(10, '0')}`),
  method: 'alipay',
  amount: 10,
  money: '73.00',
  currency: 'CNY',
  session: null,
});

/** One that Epay knows. */
async function taken(): Promise<OrderToPay> {
  const asked = order();
  const { fields } = await formFor(asked, '/topup');
  epayServer.post(fields);
  return asked;
}

const read = (query: URLSearchParams): Promise<WebhookRead> =>
  provider.readWebhook({ query, body: Buffer.alloc(0), header: () => '' });

/** The form that a browser posts. */
async function formFor(asked: OrderToPay, returnPath: string) {
  const begun = await provider.begin(asked, returnPath);
  if (begun.kind !== 'form') throw new Error('Epay opens no checkout');
  return begun;
}
const refusal = (reason: string) => ({ ok: false, reason });

describe('a payment form for Epay', () => {
  test('has the members of the contract, with a valid signature', async () => {
    const asked = order();
    const { url, fields } = await formFor(asked, '/log');
    expect(url).toBe(`${epayServer.url}/submit.php`);
    expect(fields).toEqual({
      pid: merchant.id,
      type: 'alipay',
      out_trade_no: asked.id,
      notify_url: 'https://gate.example/api/user/epay/notify',
      return_url: 'https://gate.example/log',
      name: 'TUC10',
      money: '73.00',
      device: 'pc',
      sign_type: 'MD5',
      sign: fields.sign,
    });
    expect(() => epayServer.post(fields)).not.toThrow();
    expect(() => epayServer.post({ ...fields, out_trade_no: `${asked.id}1`, money: '0.01' })).toThrow('not signed');
  });

  test('has the configured address for webhooks', async () => {
    options.CustomCallbackAddress = 'https://notices.example';
    const { fields } = await formFor(order(), '/log');
    expect(fields).toMatchObject({
      notify_url: 'https://notices.example/api/user/epay/notify',
      return_url: 'https://gate.example/log',
    });
  });

  test.each(['PayAddress', 'EpayId', 'EpayKey', 'ServerAddress'])('is not offered without %s', async (key) => {
    expect(provider.methods()).toEqual(['alipay', 'wxpay']);
    options[key] = '';
    expect(provider.methods()).toEqual([]);
  });

  test('is not offered with an invalid return address', () => {
    options.PayAddress = 'javascript:alert(1)';
    expect(provider.methods()).toEqual([]);
  });
});

describe('a webhook of Epay', () => {
  test('contains the paid order, the amount, and the payment method', async () => {
    const { id } = await taken();
    expect(await read(epayServer.notice(id))).toEqual({
      ok: true,
      order: id,
      news: {
        kind: 'paid',
        received: {
          money: '73.00',
          currency: 'CNY',
          reference: epayServer.orders.get(id)?.tradeNumber,
          method: 'alipay',
        },
      },
    });
  });

  test('without success is no payment', async () => {
    const { id } = await taken();
    for (const trade_status of ['TRADE_CLOSED', 'WAIT_BUYER_PAY', 'trade_success'])
      expect(await read(epayServer.notice(id, { trade_status }))).toEqual({
        ok: true,
        order: id,
        news: { kind: 'nothing' },
      });
  });

  test('is accepted with its signed members only', async () => {
    const { id } = await taken();
    for (const name of ['pid', 'trade_no', 'out_trade_no', 'type', 'name', 'money', 'trade_status', 'sign']) {
      const changed = epayServer.notice(id);
      changed.set(name, `${changed.get(name)}0`);
      expect([name, await read(changed)]).toEqual([name, refusal('wrong-signature')]);
      const without = epayServer.notice(id);
      without.delete(name);
      expect([name, await read(without)]).toEqual([name, refusal('wrong-signature')]);
    }
    const more = epayServer.notice(id);
    more.set('param', 'x');
    expect(await read(more)).toEqual(refusal('wrong-signature'));
  });

  test('is accepted with the right key only, in any letter case of its signature', async () => {
    const { id } = await taken();
    const upper = epayServer.notice(id);
    upper.set('sign', (upper.get('sign') ?? '').toUpperCase());
    expect(await read(upper)).toMatchObject({ ok: true });
    const members = Object.fromEntries(epayServer.notice(id));
    for (const key of ['', 'another key', merchant.id])
      expect(await read(new URLSearchParams({ ...members, sign: signed(members, key) }))).toEqual(
        refusal('wrong-signature'),
      );
    expect(await read(new URLSearchParams())).toEqual(refusal('wrong-signature'));
  });

  test('is refused with another signature type than the agreed one', async () => {
    const { id } = await taken();
    const query = epayServer.notice(id);
    query.set('sign_type', 'RSA2');
    expect(await read(query)).toEqual(refusal('wrong-signature'));
  });

  test('of another merchant is refused', async () => {
    const { id } = await taken();
    expect(await read(epayServer.notice(id, { pid: '1018' }))).toEqual(refusal('wrong-merchant'));
  });

  test('with duplicate members, or separators in values, is refused', async () => {
    const { id } = await taken();
    const twice = epayServer.notice(id);
    twice.append('money', '0.01');
    expect(await read(twice)).toEqual(refusal('malformed'));
    // The same text is signed, whether the merchant's number is a member or a part of the one before it.
    const members = Object.fromEntries(epayServer.notice(id));
    const { pid, out_trade_no, ...others } = members;
    const glued = new URLSearchParams({ ...others, out_trade_no: `${out_trade_no}&pid=${pid}` });
    expect(await read(glued)).toEqual(refusal('malformed'));
    expect(await read(epayServer.notice(id, { money: '1e' }))).toEqual(refusal('malformed'));
    const endless = epayServer.notice(id, { name: 'x'.repeat(5000) });
    expect(await read(endless)).toEqual(refusal('malformed'));
  });

  test('is refused while Epay is not configured', async () => {
    options = {};
    expect(await read(epayServer.notice('USR7NOx4Tk9b0000000001'))).toEqual(refusal('not-configured'));
  });
});

describe('a query of an order at Epay', () => {
  test('reports it as open until it is paid', async () => {
    const asked = await taken();
    expect(await provider.ask(asked)).toEqual({ kind: 'open' });
    epayServer.pay(asked.id);
    expect(await provider.ask(asked)).toEqual({
      kind: 'paid',
      received: {
        money: '73.00',
        currency: 'CNY',
        reference: epayServer.orders.get(asked.id)?.tradeNumber,
        method: null,
      },
    });
  });

  test('reports an unknown order as open', async () => expect(await provider.ask(order())).toEqual({ kind: 'open' }));
});
