import { createHash } from 'node:crypto';
import { startUpstream } from '../support/upstreams/upstream.js';

/* Epay on loopback: it takes the forms that browsers post, and signs what it sends with the merchant's key. */

export const merchant = { id: '1017', key: 'merchant key/+&=%' };

/** As Epay's documents have it; written down here once more, so that ours is held against it. */
export function signed(members: Readonly<Record<string, string>>, key = merchant.key): string {
  const names = Object.keys(members)
    .filter((name) => name !== 'sign' && name !== 'sign_type' && members[name] !== '')
    .sort();
  const text = names.map((name) => `${name}=${members[name]}`).join('&');
  return createHash('md5')
    .update(text + key, 'utf8')
    .digest('hex');
}

/** `down`: hangs up. `slow`: says nothing. `senseless`: answers, and not what was asked. */
export type Mood = 'up' | 'down' | 'slow' | 'senseless';

type Members = Readonly<Record<string, string>>;

interface TakenOrder {
  readonly form: Members;
  readonly tradeNumber: string;
  paid: boolean;
}

export interface EpayServer {
  readonly url: string;
  mood: Mood;
  /** What it answers when it is senseless. */
  nonsense: string;
  readonly orders: ReadonlyMap<string, TakenOrder>;
  /** Questions asked. */
  asked: number;
  /** The browser posts the form; throws for one that Epay would not take. */
  post(form: Members): TakenOrder;
  pay(order: string): void;
  /** What it reports of an order: the query of its webhook, with members changed before they are signed. */
  notice(order: string, change?: Members): URLSearchParams;
  stop(): Promise<void>;
}

const formMembers = ['pid', 'type', 'out_trade_no', 'notify_url', 'return_url', 'name', 'money', 'device'];

export async function startEpayServer(): Promise<EpayServer> {
  const orders = new Map<string, TakenOrder>();
  const answerTo = (query: URLSearchParams): object => {
    epayServer.asked += 1;
    if (query.get('pid') !== merchant.id || query.get('key') !== merchant.key) return { code: -3, msg: 'KEY wrong' };
    const id = query.get('out_trade_no') ?? '';
    const order = orders.get(id);
    if (query.get('act') !== 'order' || order === undefined) return { code: -1, msg: 'no such order' };
    const { type, money, name } = order.form;
    return {
      code: 1,
      msg: 'found',
      trade_no: order.tradeNumber,
      out_trade_no: id,
      type,
      pid: Number(merchant.id),
      addtime: '2026-01-02 03:04:05',
      name,
      money,
      status: order.paid ? 1 : 0,
    };
  };
  const server = await startUpstream((call, response) => {
    if (call.url === '/submit.php') {
      const { form } = epayServer.post(Object.fromEntries(new URLSearchParams(call.body)));
      const back = `${form.return_url}?out_trade_no=${form.out_trade_no}&trade_status=TRADE_SUCCESS`;
      response.writeHead(200, { 'content-type': 'text/html' }).end(`<h1>Cashier</h1><a href="${back}">Back</a>`);
      return;
    }
    if (epayServer.mood === 'down') response.destroy();
    else if (epayServer.mood === 'senseless') response.writeHead(200).end(epayServer.nonsense);
    else if (epayServer.mood === 'up')
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify(answerTo(new URL(call.url, 'http://cashier').searchParams)));
  });
  const epayServer: EpayServer = {
    url: server.url,
    mood: 'up',
    nonsense: '<p>busy</p>',
    orders,
    asked: 0,
    post(form) {
      const missing = formMembers.filter((name) => form[name] === undefined || form[name] === '');
      if (missing.length > 0) throw new Error(`the form lacks ${missing.join(', ')}`);
      if (form.pid !== merchant.id || form.sign_type !== 'MD5' || form.sign !== signed(form))
        throw new Error('the form is not signed by the merchant');
      const id = form.out_trade_no ?? '';
      if (orders.has(id)) throw new Error('the trade number has been used');
      const order = { form, tradeNumber: `2026010203${String(orders.size).padStart(6, '0')}`, paid: false };
      orders.set(id, order);
      return order;
    },
    pay(id) {
      const order = orders.get(id);
      if (order === undefined) throw new Error(`nobody has come with ${id}`);
      order.paid = true;
    },
    notice(id, change = {}) {
      const order = orders.get(id);
      const members: Members = {
        pid: merchant.id,
        trade_no: order?.tradeNumber ?? '20260102030405',
        out_trade_no: id,
        type: order?.form.type ?? 'alipay',
        name: order?.form.name ?? 'TUC1',
        money: order?.form.money ?? '7.30',
        trade_status: 'TRADE_SUCCESS',
        ...change,
      };
      return new URLSearchParams({ sign: signed(members), sign_type: 'MD5', ...members });
    },
    stop: () => server.stop(),
  };
  return epayServer;
}
