import { setTimeout as pause } from 'node:timers/promises';
import type { Payer, PlannedCredit } from './plan.js';
import type { World } from './world.js';

/*
 * Money from outside while the gateway is tortured. Whoever brings it repeats it, under the same name, until somebody
 * says that it has arrived; and once more after that.
 */

export interface Credit {
  readonly kind: 'code' | 'order';
  readonly payer: Payer;
  /** Of the code or the order, as its stream is named; null: it was never begun. */
  readonly id: string | null;
  /** It was said to have arrived. */
  acknowledged: boolean;
  /** Brings it again; false: nobody has said that it has arrived. */
  again(url: string): Promise<boolean>;
}

const patienceMs = 5_000;

const asked = async (url: string, path: string, init: RequestInit = {}): Promise<string | null> => {
  try {
    const answer = await fetch(url + path, { ...init, signal: AbortSignal.timeout(patienceMs) });
    return await answer.text();
  } catch {
    return null;
  }
};

const posting = (headers: Readonly<Record<string, string>>, body: object): RequestInit => ({
  method: 'POST',
  headers: { ...headers, 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

const jsonIn = (text: string | null): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
};

function redemption(world: World, payer: Payer): Credit {
  const code = world.codes.pop();
  if (code === undefined) throw new Error('there are no codes left');
  const headers = { ...world.payers[payer].headers, 'idempotency-key': `torture-code-${code.id}` };
  const credit: Credit = {
    kind: 'code',
    payer,
    id: String(code.id),
    acknowledged: false,
    async again(url) {
      const { success } = jsonIn(await asked(url, '/api/user/topup', posting(headers, { key: code.code })));
      if (success === true) credit.acknowledged = true;
      return success === true;
    },
  };
  return credit;
}

let ordered = 0;

/**
 * Its payer has been at the cashier. An order of which nobody has heard the number is no payment yet. Each has a name of
 * its own: two alike that come at once without one are taken for one that was sent twice.
 */
async function order(world: World, payer: Payer, url: string): Promise<Credit> {
  const headers = { ...world.payers[payer].headers, 'idempotency-key': `torture-order-${++ordered}` };
  const { data } = jsonIn(await asked(url, '/api/user/pay', posting(headers, { amount: 1, payment_method: 'zfb' })));
  const form = typeof data === 'object' && data !== null ? (data as Record<string, string>) : null;
  const id = form?.out_trade_no ?? null;
  if (form !== null && id !== null) {
    world.cashier.post(form);
    world.cashier.pay(id);
  }
  const credit: Credit = {
    kind: 'order',
    payer,
    id,
    acknowledged: false,
    async again(here) {
      if (id === null) return true;
      const heard = await asked(here, `/api/user/epay/notify?${world.cashier.notice(id)}`);
      if (heard === 'success') credit.acknowledged = true;
      return heard === 'success';
    },
  };
  return credit;
}

/** Brings it once, at its time. */
export async function bringCredit(world: World, planned: PlannedCredit, url: string): Promise<Credit> {
  await pause(planned.delayMs);
  const { kind, payer } = planned;
  const credit: Credit = kind === 'code' ? redemption(world, payer) : await order(world, payer, url);
  await credit.again(url);
  return credit;
}

/** Brings it until it has arrived, and once more. Throws where it does not arrive. */
export async function insistOn(credit: Credit, url: string, limitMs: number): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!(await credit.again(url))) {
    if (performance.now() > deadline) throw new Error(`the ${credit.kind} ${credit.id} is not taken`);
    await pause(50);
  }
  await credit.again(url);
}
