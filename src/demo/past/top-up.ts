import { streams } from '../../domain/events/events.js';
import { PaymentId } from '../../domain/kernel/ids.js';
import { type PaymentCommand, paymentDecider } from '../../domain/payment/payment.js';
import { type TopUpPrices, topUpOffer } from '../../domain/payment/top-up-price.js';
import type { Random } from '../random.js';
import type { SeededPerson } from '../seed.js';
import type { Stage } from './stage.js';

/* Quota that somebody of the cast buys: asked for, begun, and paid. */

const prices: TopUpPrices = {
  ...{ price: '1', currency: 'USD', group: 'default', groupRatio: '1', quotaPerUnit: '500000' },
  inCurrency: true,
};

const tradeNumber = ({ id }: SeededPerson, random: Random): PaymentId => {
  const digits = String(Math.floor(random() * 1e10)).padStart(10, '0');
  return PaymentId(`USR${id}NOdemo${digits.slice(0, 2)}${digits}`);
};

/** `paid` false: the buyer has thought better of it, and the order runs out. */
export async function topUp(stage: Stage, buyer: SeededPerson, dollars: number, paid: boolean, random: Random) {
  const { quota, money } = topUpOffer(dollars, 1, prices, 1);
  const id = tradeNumber(buyer, random);
  const give = (command: PaymentCommand) => stage.handle(paymentDecider, streams.payment(id), command);
  const terms = { user: buyer.id, provider: 'stripe', method: 'card', amount: dollars, quota, money, prices } as const;
  await give({ type: 'RequestTopUp', ...terms });
  await give({ type: 'BeginTopUp', session: `cs_demo_${id}` });
  if (!paid) return (await give({ type: 'ExpireTopUp', reason: 'provider' })).position;
  const received = { money, currency: prices.currency, reference: `pi_demo_${id}`, method: 'card' };
  const { position } = await give({
    ...{ type: 'CompleteTopUp', provider: 'stripe', learned: { by: 'notice' } },
    ...received,
  });
  stage.balances.add(buyer.id, quota);
  return position;
}
