import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { type PaymentCommands, paymentCommands } from '../../src/application/payments/payment-commands.js';
import type { OutboundRequest } from '../../src/application/ports/outbound-ports.js';
import type { WebhookRequest } from '../../src/application/ports/payment-ports.js';
import { awaitingPayments } from '../../src/application/reactions/await-payments.js';
import { streams } from '../../src/domain/events/events.js';
import { type PaymentId, UserId } from '../../src/domain/kernel/ids.js';
import type { PaymentEvent } from '../../src/domain/payment/payment.js';
import { resolveBySystem } from '../../src/outbound/address-guard.js';
import { openGuardedClient } from '../../src/outbound/guarded-client.js';
import { openPayments } from '../../src/payments/payments.js';
import { openOrders } from '../support/given/open-orders.js';
import { type MemoryNode, openMemoryNode, root, TestStore } from '../support/memory/memory-node.js';
import { refusal } from '../support/refusal.js';
import type { Mood } from './epay-server.js';
import { type SimulatedProvider, startProviders } from './payment-providers.js';

/*
 * What everybody who takes money is held to: quota comes once for the money that was asked for, and for nothing else,
 * whatever is reported, however often, in whatever order. The providers stand on loopback and sign as the real ones do.
 */

const simulations = await startProviders();
const outbound = openGuardedClient({ allowedNetworks: ['127.0.0.0/8'], allowHttp: true, resolve: resolveBySystem });
afterAll(async () => {
  await outbound.close();
  await Promise.all(simulations.map((simulation) => simulation.stop()));
});

const alice = { id: UserId(7), group: 'default' };
const tenDollars = 5_000_000;
const minute = 60_000;
const day = 24 * 60 * minute;
const stripeUrl = simulations.find(({ name }) => name === 'stripe')?.url ?? '';
const options = Object.assign({ ServerAddress: 'https://gate.example' }, ...simulations.map(({ options }) => options));
const secrets: Readonly<Record<string, string>> = Object.assign({}, ...simulations.map(({ secrets }) => secrets));

/** Nothing an order could be recognised by: pages, other kinds of JSON, half an answer, too much of one. */
const senseless = ['<p>busy</p>', 'null', '[]', '{}', '"paid"', '{"code":1,', `{"x":"${'x'.repeat(100_000)}"}`];

let store: TestStore;
let node: MemoryNode;
let payments: PaymentCommands;
/** What the providers were asked. */
let requests: OutboundRequest[];
/** No cashier that says nothing is waited for to the end: it would take as long as people may wait. */
let patience: number;

/** A gateway on the log there is. Another one, started later, remembers nothing else. */
async function started(): Promise<{ node: MemoryNode; payments: PaymentCommands }> {
  const opened = await openMemoryNode(store);
  for (const [key, value] of Object.entries(options)) await opened.options.change(root, key, String(value));
  await opened.caughtUp();
  const providers = openPayments(
    {
      outbound: {
        fetch(request) {
          requests.push(request);
          return outbound.fetch({ ...request, timeoutMs: Math.min(request.timeoutMs, patience) });
        },
      },
      text: (key) => opened.directory.settings().text(key),
      isKept: (key) => key in secrets,
      secretOf: async (key) => secrets[key] ?? null,
    },
    stripeUrl,
  );
  const payments = paymentCommands({
    ...opened,
    providers,
    stepUps: { demand: (_user, _purpose, _proof, order) => order() },
    openCounts: { of: async () => ({ live: 0, known: [] }) },
  });
  return { node: opened, payments };
}

beforeEach(async () => {
  store = new TestStore();
  requests = [];
  patience = Number.POSITIVE_INFINITY;
  ({ node, payments } = await started());
});

const eventsOf = async (id: PaymentId): Promise<readonly PaymentEvent[]> =>
  (await store.readStream(streams.payment(id))).map(({ event }) => event as PaymentEvent);
const credits = async (id: PaymentId) => (await eventsOf(id)).filter(({ type }) => type === 'TopUpCompleted');
const last = async (id: PaymentId) => (await eventsOf(id)).at(-1);

describe.each(simulations)('the payment provider $name', (simulation: SimulatedProvider) => {
  const { name, method, money, currency } = simulation;
  const credit = { type: 'TopUpCompleted', user: alice.id, quota: tenDollars, provider: name, money, currency };

  beforeEach(() => simulation.is('up'));

  const ordered = async (): Promise<PaymentId> => {
    const { id, begun } = await payments.begin(alice, { amount: 10, method }, '/topup');
    simulation.visited(begun);
    return id;
  };
  const paid = async (): Promise<PaymentId> => {
    const id = await ordered();
    simulation.pay(id);
    return id;
  };
  const handle = (notice: WebhookRequest, to = payments): Promise<boolean> => to.handleWebhook(name, notice);
  /** The browser comes back, and the page asks. */
  const comesBack = async (id: PaymentId) => {
    node.clock.advance(minute);
    return (await payments.poll(alice, id)).status;
  };
  const look = (clock = node.clock, of = payments) => {
    const failures: unknown[] = [];
    const round = awaitingPayments({ open: openOrders(store), clock, payments: of }, (error) => failures.push(error));
    return async () => {
      await round();
      expect(failures).toEqual([]);
    };
  };

  test('credits a payment once, however many webhooks arrive', async () => {
    const id = await paid();
    expect(await handle(simulation.notice(id))).toBe(true);
    expect(await last(id)).toMatchObject({ ...credit, learned: { by: 'notice' }, late: false });
    for (let count = 0; count < 3; count++) expect(await handle(simulation.notice(id))).toBe(true);
    expect(await credits(id)).toHaveLength(1);
  });

  test('credits once with concurrent webhooks, waiting users, queries, and polling', async () => {
    const id = await paid();
    node.clock.advance(minute);
    const taken = await Promise.all([
      ...Array.from({ length: 5 }, () => handle(simulation.notice(id))),
      payments.poll(alice, id).then(() => true),
      payments.recheck(root, id).then(() => true),
      look()().then(() => true),
    ]);
    expect(taken).toEqual(taken.map(() => true));
    expect(await credits(id)).toMatchObject([credit]);
  });

  test.each(Object.entries(simulation.forged))('is refused with a webhook %s', async (_, forge) => {
    const id = await paid();
    expect(await handle(forge(id))).toBe(false);
    expect(await credits(id)).toEqual([]);
    expect(payments.refusedWebhooks(root)).toEqual([{ provider: name, reason: 'wrong-signature', count: 1 }]);
    expect(node.warned).toEqual([{ provider: name, reason: 'wrong-signature', count: 1, order: null }]);
    expect(await handle(simulation.notice(id))).toBe(true);
    expect(await credits(id)).toHaveLength(1);
  });

  test.each<[string, (id: string) => WebhookRequest]>([
    ['a smaller amount', (id) => simulation.notice(id, { money: '0.01' })],
    ['a cent less', (id) => simulation.notice(id, { money: (Number(money) - 0.01).toFixed(2) })],
    ['a larger amount', (id) => simulation.notice(id, { money: money.replace('.', '0.') })],
    ...Object.entries(simulation.differing).map(([what, notice]): [string, typeof notice] => [`money ${what}`, notice]),
  ])('that reports %s is refused, and the order stays open', async (_, notice) => {
    const id = await paid();
    expect(await handle(notice(id))).toBe(false);
    expect(await handle(notice(id))).toBe(false);
    expect(await credits(id)).toEqual([]);
    expect(payments.refusedWebhooks(root)).toEqual([{ provider: name, reason: 'differs', count: 2 }]);
    expect(node.warned).toEqual([{ provider: name, reason: 'differs', count: 1, order: id }]);
    expect(await handle(simulation.notice(id))).toBe(true);
    expect(await credits(id)).toHaveLength(1);
  });

  test('need not repeat a webhook about an unknown order, which is counted', async () => {
    const id = await paid();
    const before = await store.head();
    expect(await handle(simulation.notice(id, { order: 'USR7NOabcdef1234567890' }))).toBe(true);
    expect(await handle(simulation.notice(id, { order: 'of-another-shop' }))).toBe(true);
    expect(await store.head()).toBe(before);
    expect(payments.refusedWebhooks(root)).toEqual([{ provider: name, reason: 'unknown-order', count: 1 }]);
  });

  test('cannot complete an order of another payment provider', async () => {
    const own = await paid();
    for (const other of simulations.filter((each) => each !== simulation)) {
      const { id } = await payments.begin(alice, { amount: 10, method: other.method }, '/topup');
      expect(await handle(simulation.notice(own, { order: id, money: other.money }))).toBe(false);
      expect(await credits(id)).toEqual([]);
    }
  });

  test('may report before the browser returns, which then finds the order paid', async () => {
    const id = await paid();
    expect(await handle(simulation.notice(id))).toBe(true);
    const asked = requests.length;
    expect(await comesBack(id)).toBe('completed');
    expect(requests).toHaveLength(asked);
    expect(await credits(id)).toHaveLength(1);
  });

  test('may report after the browser returns, which found it open or was first', async () => {
    const unpaid = await ordered();
    expect(await comesBack(unpaid)).toBe('open');
    simulation.pay(unpaid);
    expect(await handle(simulation.notice(unpaid))).toBe(true);
    expect(await last(unpaid)).toMatchObject({ ...credit, learned: { by: 'notice' } });
    const first = await paid();
    expect(await comesBack(first)).toBe('completed');
    expect(await handle(simulation.notice(first))).toBe(true);
    expect(await credits(first)).toMatchObject([{ ...credit, learned: { by: 'poll' } }]);
  });

  test('is queried after a start about payments during the downtime', async () => {
    const [missed, open] = [await paid(), await ordered()];
    const successor = await started();
    successor.node.clock.advance(2 * minute);
    await look(successor.node.clock, successor.payments)();
    expect(await credits(missed)).toMatchObject([{ ...credit, learned: { by: 'poll' } }]);
    expect(await credits(open)).toEqual([]);
    expect(await handle(simulation.notice(missed), successor.payments)).toBe(true);
    expect(await credits(missed)).toHaveLength(1);
  });

  test('has a late payment credited after the order expired, and marked as late', async () => {
    const [ordering, asked] = [await ordered(), await ordered()];
    node.clock.advance(day + minute);
    await look()();
    expect(await last(ordering)).toEqual({ type: 'TopUpExpired', reason: 'time' });
    for (const id of [ordering, asked]) simulation.pay(id);
    for (let count = 0; count < 2; count++) expect(await handle(simulation.notice(ordering))).toBe(true);
    expect(await credits(ordering)).toMatchObject([{ ...credit, late: true }]);
    await payments.recheck(root, asked);
    expect(await credits(asked)).toMatchObject([{ ...credit, late: true, learned: { by: 'poll' } }]);
  });

  describe.each<[string, Mood, string[]]>([
    ['disconnects', 'down', ['']],
    ['sends nothing', 'slow', ['']],
    ['sends nonsense', 'senseless', senseless],
  ])('a payment provider that %s', (_, mood, answers) => {
    test('leaves the payment of an order unknown, which fails nothing and ends nothing', async () => {
      const id = await paid();
      for (const nonsense of answers) {
        simulation.is(mood, nonsense);
        if (mood === 'slow') patience = 100;
        node.clock.advance(minute);
        expect(await payments.poll(alice, id)).toEqual({ status: 'open', unanswered: true, position: null });
      }
      await expect(payments.recheck(root, id)).rejects.toThrow(refusal('payment-unanswered'));
      // A day is over, and it may have been paid all the same.
      node.clock.advance(day);
      await look()();
      expect((await eventsOf(id)).filter(({ type }) => type === 'TopUpExpired')).toEqual([]);
      simulation.is('up');
      patience = Number.POSITIVE_INFINITY;
      expect(await comesBack(id)).toBe('completed');
      expect(await credits(id)).toMatchObject([credit]);
    });
  });

  test('is queried with bounded time and size', async () => {
    const id = await paid();
    await comesBack(id);
    expect(requests.length).toBeGreaterThan(0);
    for (const { timeoutMs, maxBytes } of requests) {
      expect(timeoutMs).toBeLessThanOrEqual(10_000);
      expect(maxBytes).toBeLessThanOrEqual(64 * 1024);
    }
  });

  test('and an administrator that completes by hand at the same moment credit once', async () => {
    for (let count = 0; count < 10; count++) {
      const id = await paid();
      const [byHand, ...taken] = await Promise.allSettled([
        payments.completeByHand(root, id, 'seen in the bank account'),
        handle(simulation.notice(id)),
        handle(simulation.notice(id)),
      ]);
      expect(taken.map((each) => each.status === 'fulfilled' && each.value)).toEqual([true, true]);
      if (byHand.status === 'rejected') expect(byHand.reason).toMatchObject({ code: 'payment-completed' });
      expect(await credits(id)).toHaveLength(1);
      await expect(payments.completeByHand(root, id, 'again')).rejects.toThrow(refusal('payment-completed'));
    }
  });
});
