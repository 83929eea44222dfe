import { createHash, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type {
  OrderNews,
  OrderState,
  OrderToPay,
  PaymentProvider,
  WebhookRead,
} from '../application/ports/payment-ports.js';
import { isDecimal } from '../domain/kernel/decimal.js';
import { Failure } from '../domain/kernel/failure.js';
import {
  maxPaymentAnswerBytes,
  optionAddress,
  ownAddresses,
  type PaymentSetting,
  paymentTimeoutMs,
} from './payment-setting.js';

/*
 * Epay, the interface of many payment services for Alipay and WeChat Pay: a form that is signed with a key both sides
 * know, a notice that is signed the same way, and a question by GET. Notices come by GET or by POST, as a query or as a
 * form.
 */

/** It knows no other money. */
const epayCurrency = 'CNY';
const epayMethods = ['alipay', 'wxpay'] as const;

const noticePath = '/api/user/epay/notify';
const paidStatus = 'TRADE_SUCCESS';

/** All but the signature, sorted, joined as they are, and the key: MD5, lower-case hex. */
export function epaySignature(members: Iterable<readonly [string, string]>, key: string): string {
  const signed = [...members].filter(([name, value]) => name !== 'sign' && name !== 'sign_type' && value !== '');
  const text = signed
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
  return createHash('md5').update(`${text}${key}`).digest('hex');
}

const isSameText = (a: string, b: string): boolean => {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
};

/** Far beyond what Epay sends. */
const maxMembers = 32;
const maxMemberLength = 1024;

/**
 * What is signed is one text: a member that holds what separates members could be read as several, or several as one. So
 * those that are looked at consist of what they can consist of.
 */
const plain = /^[\w.:-]{1,128}$/;

/** Each member once; null: something is not as Epay sends it. */
function membersOf(query: URLSearchParams): ReadonlyMap<string, string> | null {
  const members = new Map<string, string>();
  for (const [name, value] of query) {
    if (members.has(name) || members.size >= maxMembers || value.length > maxMemberLength) return null;
    members.set(name, value);
  }
  return members;
}

const formType = /^application\/x-www-form-urlencoded *(?:;|$)/i;

const joined = (query: URLSearchParams, form: URLSearchParams): URLSearchParams =>
  new URLSearchParams([...query, ...form]);

const answerShape = z.object({
  code: z.coerce.number(),
  pid: z.coerce.string().optional(),
  trade_no: z.coerce.string().optional(),
  out_trade_no: z.coerce.string().optional(),
  money: z.coerce.string().optional(),
  status: z.coerce.number().optional(),
});

function answerIn(body: Buffer): z.infer<typeof answerShape> | null {
  try {
    return answerShape.parse(JSON.parse(body.toString('utf8')));
  } catch {
    return null;
  }
}

export function epay(setting: PaymentSetting): PaymentProvider {
  const { outbound, text, isKept, secretOf } = setting;

  const merchant = () => text('EpayId').trim();
  const payPage = () => optionAddress(setting, 'PayAddress');

  const readWebhook = async (query: URLSearchParams): Promise<WebhookRead> => {
    const key = await secretOf('EpayKey');
    if (key === null || merchant() === '') return { ok: false, reason: 'not-configured' };
    const members = membersOf(query);
    if (members === null) return { ok: false, reason: 'malformed' };
    const of = (name: string): string => members.get(name) ?? '';
    if (!isSameText(of('sign').toLowerCase(), epaySignature(members, key)))
      return { ok: false, reason: 'wrong-signature' };
    if ((of('sign_type') || 'MD5').toUpperCase() !== 'MD5') return { ok: false, reason: 'wrong-signature' };
    const needed = ['pid', 'trade_no', 'out_trade_no', 'type', 'money', 'trade_status'];
    if (!needed.every((name) => plain.test(of(name))) || !isDecimal(of('money')))
      return { ok: false, reason: 'malformed' };
    if (of('pid') !== merchant()) return { ok: false, reason: 'wrong-merchant' };
    const received = {
      money: of('money'),
      currency: epayCurrency,
      reference: of('trade_no'),
      method: of('type'),
    };
    const news: OrderNews = of('trade_status') === paidStatus ? { kind: 'paid', received } : { kind: 'nothing' };
    return { ok: true, order: of('out_trade_no'), news };
  };

  const ask = async ({ id }: OrderToPay): Promise<OrderState> => {
    const [address, key] = [payPage(), await secretOf('EpayKey')];
    if (address === null || key === null) return { kind: 'unanswered', reason: 'not-configured' };
    const question = new URLSearchParams({ act: 'order', pid: merchant(), key, out_trade_no: id });
    const answer = await outbound.fetch({
      url: `${address}/api.php?${question}`,
      headers: { accept: 'application/json' },
      timeoutMs: paymentTimeoutMs,
      maxBytes: maxPaymentAnswerBytes,
    });
    if (!answer.ok) return { kind: 'unanswered', reason: answer.reason };
    const reported = answer.status === 200 ? answerIn(answer.body) : null;
    if (reported === null) return { kind: 'unanswered', reason: 'unreadable' };
    // It knows no such order: nobody has come with the form yet. A wrong key is answered the same way.
    if (reported.code !== 1 || reported.status !== 1) return { kind: 'open' };
    const { out_trade_no, trade_no = '', money = '', pid = merchant() } = reported;
    if (out_trade_no !== id || pid !== merchant() || !plain.test(trade_no) || !isDecimal(money))
      return { kind: 'unanswered', reason: 'another-order' };
    return { kind: 'paid', received: { money, currency: epayCurrency, reference: trade_no, method: null } };
  };

  return {
    methods: () =>
      payPage() !== null && merchant() !== '' && isKept('EpayKey') && ownAddresses(setting) !== null ? epayMethods : [],

    async begin({ id, method, amount, money }, returnPath) {
      const [address, own, key] = [payPage(), ownAddresses(setting), await secretOf('EpayKey')];
      if (address === null || own === null || key === null) throw new Failure('payment-not-configured');
      const members = {
        pid: merchant(),
        type: method,
        out_trade_no: id,
        notify_url: `${own.notices}${noticePath}`,
        return_url: `${own.site}${returnPath}`,
        name: `TUC${amount}`,
        money,
        device: 'pc',
      };
      const sign = epaySignature(Object.entries(members), key);
      return { kind: 'form', url: `${address}/submit.php`, fields: { ...members, sign_type: 'MD5', sign } };
    },

    readWebhook({ query, body, header }) {
      const isForm = formType.test(header('content-type'));
      // What is signed is one list: of members in two places nobody could say which were meant.
      return readWebhook(isForm && body.length > 0 ? joined(query, new URLSearchParams(body.toString('utf8'))) : query);
    },
    ask,
  };
}
