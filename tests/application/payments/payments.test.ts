import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { type PaymentCommands, paymentCommands } from '../../../src/application/payments/payment-commands.js';
import type { OrderState, PaymentProvider } from '../../../src/application/ports/payment-ports.js';
import type { AppendResult, ExpectedRevision } from '../../../src/application/ports/storage-ports.js';
import { awaitingPayments } from '../../../src/application/reactions/await-payments.js';
import { type NewEvent, type Recorded, type StreamName, streamKey } from '../../../src/domain/events/events.js';
import { Failure } from '../../../src/domain/kernel/failure.js';
import { type PaymentId, UserId } from '../../../src/domain/kernel/ids.js';
import type { TopUpCompleted } from '../../../src/domain/payment/payment.js';
import { openOrders } from '../../support/given/open-orders.js';
import { type MemoryNode, openMemoryNode, root, TestStore } from '../../support/memory/memory-node.js';

/*
 * Orders over a log that fails as logs do, with a payment provider that reports payments in any order and any number.
 */

/** A log whose answers get lost: what was appended is there, and nobody hears of it. */
class ForgetfulStore extends TestStore {
  /** `before`: nothing is appended. `after`: it is, and neither that nor the stream can be read. */
  fails: 'before' | 'after' | null = null;
  appended: (stream: StreamName, events: readonly NewEvent[]) => void = () => {};
  private deaf = false;

  override async append(
    stream: StreamName,
    events: readonly NewEvent[],
    expected: ExpectedRevision,
  ): Promise<AppendResult> {
    if (!stream.startsWith('payment-') || this.fails === null) return this.reported(stream, events, expected);
    const { fails } = this;
    this.fails = null;
    if (fails === 'after') {
      await this.reported(stream, events, expected);
      this.deaf = true;
    }
    throw new Failure('store-unavailable');
  }

  private async reported(
    stream: StreamName,
    events: readonly NewEvent[],
    expected: ExpectedRevision,
  ): Promise<AppendResult> {
    const result = await super.append(stream, events, expected);
    if (result.ok) this.appended(stream, events);
    return result;
  }

  override async *streamPages(stream: StreamName, after?: number): AsyncIterable<readonly Recorded[]> {
    if (this.deaf) {
      this.deaf = false;
      throw new Failure('store-unavailable');
    }
    yield* super.streamPages(stream, after);
  }
}

/** Signs nothing: what is tested here begins behind the signature. */
class OpenProvider implements PaymentProvider {
  readonly paid = new Set<string>();
  answers = true;
  asked: string[] = [];

  methods() {
    return ['alipay'];
  }
  async begin() {
    return { kind: 'form' as const, url: 'https://cashier.example', fields: {} };
  }
  async readWebhook({ query }: { readonly query: URLSearchParams }) {
    const of = (name: string) => query.get(name) ?? '';
    const cents = query.get('refunded');
    if (cents !== null) {
      const refunded = (Number(cents) / 100).toFixed(2);
      const returned = { by: 'refund' as const, refunded, currency: 'CNY', reference: of('reference') };
      return { ok: true as const, order: of('order'), news: { kind: 'returned' as const, returned } };
    }
    const dispute = query.get('dispute');
    if (dispute !== null) {
      const by = dispute === 'won' ? ('dispute-won' as const) : ('dispute' as const);
      const returned = { by, dispute: 'du', money: of('money'), currency: 'CNY' };
      return { ok: true as const, order: of('order'), news: { kind: 'returned' as const, returned } };
    }
    const received = { money: of('money'), currency: 'CNY', reference: of('reference'), method: null };
    return { ok: true as const, order: of('order'), news: { kind: 'paid' as const, received } };
  }
  async ask({ id, money }: { readonly id: string; readonly money: string }): Promise<OrderState> {
    this.asked.push(id);
    if (!this.answers) return { kind: 'unanswered', reason: 'unreachable' };
    if (!this.paid.has(id)) return { kind: 'open' };
    return { kind: 'paid', received: { money, currency: 'CNY', reference: `ref-${id}`, method: null } };
  }
}

/** Nobody pays by it here. */
const closed = { methods: () => [] } as unknown as PaymentProvider;

const alice = { id: UserId(7), group: 'default' };
const money = '73.00';

let store: ForgetfulStore;
let node: MemoryNode;
let openProvider: OpenProvider;
let payments: PaymentCommands;

const paymentsOf = (of: MemoryNode): PaymentCommands =>
  paymentCommands({
    ...of,
    providers: { epay: openProvider, stripe: closed },
    stepUps: { demand: (_user, _purpose, _proof, order) => order() },
    openCounts: { of: async () => ({ live: 0, known: [] }) },
    warn: () => {},
  });

const open = async () => {
  store = new ForgetfulStore();
  node = await openMemoryNode(store);
  openProvider = new OpenProvider();
  payments = paymentsOf(node);
};
beforeEach(open);

const events = async (id: PaymentId) =>
  (await store.everything()).filter(({ stream }) => streamKey(stream) === id).map(({ event }) => event);
/** What the events of an order have left of its quota with its user. */
const left = async (id: PaymentId): Promise<number> =>
  (await events(id)).reduce((sum, event) => {
    if (event.type === 'TopUpCompleted' || event.type === 'TopUpDisputeWon') return sum + event.quota;
    return event.type === 'TopUpRefunded' || event.type === 'TopUpDisputed' ? sum - event.quota : sum;
  }, 0);
const credits = async (id: PaymentId) =>
  (await events(id)).filter((event): event is TopUpCompleted => event.type === 'TopUpCompleted');

const begun = async (): Promise<PaymentId> =>
  (await payments.begin(alice, { amount: 10, method: 'alipay' }, '/topup')).id;

const notice = (id: string, sum = money) => ({
  query: new URLSearchParams({ order: id, money: sum, reference: `ref-${id}` }),
  body: Buffer.alloc(0),
  header: () => '',
});

const returning = (id: string, what: Readonly<Record<string, string>>) => ({
  ...notice(id),
  query: new URLSearchParams({ order: id, ...what }),
});

/** As a provider: again, until it is answered that it need not. */
async function reported(id: string, request = notice(id)): Promise<void> {
  for (let attempt = 0; attempt < 5; attempt++)
    if (await payments.handleWebhook('epay', request).catch(() => false)) return;
  throw new Error('a notice is never taken');
}

type Step =
  | { readonly kind: 'pay' | 'notice' | 'poll' | 'recheck' | 'expire' | 'hand' | 'forge' | 'three at once' }
  | { readonly kind: 'refund'; readonly cents: number }
  | { readonly kind: 'dispute' | 'win'; readonly cents: number }
  | { readonly kind: 'trouble'; readonly fails: 'before' | 'after' };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.constantFrom<Step>(
    ...(['pay', 'notice', 'poll', 'recheck', 'expire', 'hand', 'forge', 'three at once'] as const).map((kind) => ({
      kind,
    })),
  ),
  fc.record({
    kind: fc.constantFrom('refund' as const, 'dispute' as const, 'win' as const),
    cents: fc.integer({ min: 1, max: 8000 }),
  }),
  fc.constantFrom<Step>({ kind: 'trouble', fails: 'before' }, { kind: 'trouble', fails: 'after' }),
);

test('a payment order is credited once for its money or manually, and debited as money is refunded, in any order of events', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
      await open();
      const id = await begun();
      let isPaid = false;
      let refunded = 0;
      let disputed: number | null = null;
      let isWon = false;
      const quietly = (work: Promise<unknown>): Promise<unknown> => work.catch(() => {});
      for (const { kind, ...rest } of steps) {
        node.clock.advance(6_000);
        if (kind === 'pay') isPaid = openProvider.paid.add(id) !== undefined;
        else if (kind === 'trouble' && 'fails' in rest) store.fails = rest.fails;
        else if (kind === 'refund' && 'cents' in rest) {
          if (!isPaid) continue;
          refunded = Math.max(refunded, rest.cents);
          await reported(id, returning(id, { refunded: String(rest.cents) }));
        } else if ((kind === 'dispute' || kind === 'win') && 'cents' in rest) {
          if (!isPaid) continue;
          disputed ??= rest.cents;
          isWon ||= kind === 'win';
          const ofAll = (disputed / 100).toFixed(2);
          await reported(id, returning(id, { dispute: kind === 'win' ? 'won' : 'open', money: ofAll }));
        } else if (kind === 'expire') await quietly(payments.expire(id, 'time'));
        else if (kind === 'forge') await quietly(payments.handleWebhook('epay', notice(id, '0.01')));
        else if (kind === 'poll') {
          await quietly(payments.poll(alice, id));
        } else if (kind === 'recheck') await quietly(payments.recheck(root, id));
        else if (kind === 'hand') {
          await quietly(payments.completeByHand(root, id, 'seen'));
        } else if (isPaid && kind === 'notice') await reported(id);
        else if (isPaid) await Promise.all([reported(id), reported(id), reported(id)]);
        if (isPaid && (kind === 'notice' || kind === 'three at once')) expect(await credits(id)).toHaveLength(1);
        expect((await credits(id)).length).toBeLessThanOrEqual(1);
        expect(await left(id)).toBeGreaterThanOrEqual(0);
      }
      store.fails = null;
      // What was paid is found out in the end, if nobody has reported it.
      await payments.recheck(root, id);
      const [credit, ...more] = await credits(id);
      expect(more).toEqual([]);
      if (isPaid) expect(credit).toMatchObject({ user: alice.id, quota: 5_000_000, money });
      const gone = Math.min(refunded + (isWon ? 0 : (disputed ?? 0)), 7300);
      if (isPaid) expect(await left(id)).toBe(5_000_000 - Math.round((5_000_000 * gone) / 7300));
      const byHand = steps.some(({ kind }) => kind === 'hand');
      if (!isPaid && !byHand) expect(credit).toBeUndefined();
    }),
    { numRuns: 300 },
  );
});

const meanwhile = ['notice', 'poll', 'recheck', 'expire', 'hand', 'forge', 'lost before', 'lost after'] as const;

test('a payment order is credited once if it is paid, with any concurrency, by a gateway or its successor', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...meanwhile), { maxLength: 8 }),
      fc.boolean(),
      fc.scheduler(),
      async (coming, isPaid, scheduler) => {
        await open();
        const successor = paymentsOf(await openMemoryNode(store));
        const id = await begun();
        if (isPaid) openProvider.paid.add(id);
        const come = async (what: (typeof meanwhile)[number], to: PaymentCommands): Promise<void> => {
          await store.turn();
          if (what === 'lost before' || what === 'lost after')
            store.fails = what === 'lost before' ? 'before' : 'after';
          else if (what === 'poll') await to.poll(alice, id);
          else if (what === 'recheck') await to.recheck(root, id);
          else if (what === 'expire') await to.expire(id, 'time');
          else if (what === 'hand') await to.completeByHand(root, id, 'seen');
          else if (what === 'forge') expect(await to.handleWebhook('epay', notice(id, '0.01'))).toBe(false);
          // A provider that is answered to be done with it reports nothing again: by then it is credited.
          else if (isPaid && (await to.handleWebhook('epay', notice(id)))) expect(credited).toHaveLength(1);
        };
        const credited: StreamName[] = [];
        store.appended = (stream, events) => {
          if (events.some(({ event }) => event.type === 'TopUpCompleted')) credited.push(stream);
        };
        store.turn = () => scheduler.schedule(Promise.resolve());
        const all = coming.map((what, index) => come(what, index % 2 === 0 ? payments : successor));
        const outcomes = await scheduler.waitFor(Promise.allSettled(all));
        for (const outcome of outcomes)
          if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(Failure);

        store.turn = async () => {};
        store.fails = null;
        await payments.recheck(root, id);
        const found = await credits(id);
        expect(found).toHaveLength(isPaid ? 1 : found.length);
        if (!coming.includes('hand') && !isPaid) expect(found).toEqual([]);
        expect(found.length).toBeLessThanOrEqual(1);
      },
    ),
    { numRuns: 300 },
  );
});

describe('a payment order', () => {
  test('with a repeated idempotency key is one, at its original price', async () => {
    const order = { amount: 10, method: 'alipay' };
    const first = await payments.begin(alice, order, '/topup', 'key');
    await node.options.change(root, 'Price', '8');
    await node.caughtUp();
    expect(payments.price(alice, 10).money).toBe('80.00');
    expect(await payments.begin(alice, order, '/topup', 'key')).toMatchObject({ id: first.id });
    expect(await events(first.id)).toHaveLength(1);
    expect((await payments.begin(alice, order, '/topup')).id).not.toBe(first.id);
  });

  test('with an unknown outcome is the same when it is repeated', async () => {
    store.fails = 'after';
    await expect(begun()).rejects.toMatchObject({ code: 'outcome-unknown' });
    const id = await begun();
    expect(await events(id)).toHaveLength(1);
    expect((await store.everything()).filter(({ event }) => event.type === 'TopUpRequested')).toHaveLength(1);
  });

  test('is rate limited: thirty within ten minutes', async () => {
    for (let count = 0; count < 30; count++) await begun();
    await expect(begun()).rejects.toMatchObject({ code: 'too-many-attempts' });
    node.clock.advance(10 * 60_000);
    await begun();
  });
});

describe('payment orders without a webhook', () => {
  const minute = 60_000;
  const day = 24 * 60 * minute;
  const failures: unknown[] = [];
  const round = () =>
    awaitingPayments({ open: openOrders(store), clock: node.clock, payments }, (error) => failures.push(error));

  test('are queried, and credited when they are paid', async () => {
    const id = await begun();
    openProvider.paid.add(id);
    const look = round();
    await look();
    expect(openProvider.asked).toEqual([]);
    node.clock.advance(minute);
    await look();
    expect(await credits(id)).toMatchObject([{ learned: { by: 'poll' } }]);
    await look();
    expect(openProvider.asked).toEqual([id]);
  });

  test('are queried at growing intervals', async () => {
    await begun();
    const look = round();
    for (let count = 0; count < 24 * 60; count++) {
      await look();
      node.clock.advance(minute);
    }
    expect(openProvider.asked.length).toBeGreaterThan(20);
    expect(openProvider.asked.length).toBeLessThan(40);
  });

  test('are all queried after a start, some in each round', async () => {
    const ids: PaymentId[] = [];
    for (let count = 0; count < 30; count++) ids.push(await begun());
    node.clock.advance(2 * minute);
    const look = round();
    await look();
    expect(openProvider.asked).toHaveLength(20);
    await look();
    expect(new Set(openProvider.asked)).toEqual(new Set(ids));
    await look();
    expect(openProvider.asked).toHaveLength(30);
  });

  test('expire after a day', async () => {
    const id = await begun();
    const look = round();
    node.clock.advance(day - minute);
    await look();
    expect(await events(id)).toHaveLength(1);
    node.clock.advance(61 * minute);
    await look();
    expect((await events(id)).at(-1)).toEqual({ type: 'TopUpExpired', reason: 'time' });
  });

  test('are kept longer while the provider is unavailable, but for a bounded time', async () => {
    const id = await begun();
    openProvider.answers = false;
    const look = round();
    node.clock.advance(2 * day);
    await look();
    expect(await events(id)).toHaveLength(1);
    node.clock.advance(day);
    await look();
    expect((await events(id)).at(-1)).toMatchObject({ type: 'TopUpExpired' });
    await payments.handleWebhook('epay', notice(id));
    expect(await credits(id)).toMatchObject([{ late: true }]);
  });

  test('do not delay others by failing', async () => {
    const [broken, sound] = [await begun(), await begun()];
    openProvider.paid.add(sound);
    node.clock.advance(2 * minute);
    const ask = openProvider.ask.bind(openProvider);
    openProvider.ask = async (order) => {
      if (order.id === broken) throw new Error('a bug');
      return ask(order);
    };
    await round()();
    expect(failures).toHaveLength(1);
    expect(await credits(sound)).toHaveLength(1);
  });
});

describe('payment orders that the read model lacks', () => {
  const tooMany = new Failure('too-many-open-payments', { allowed: 20 });
  /** Reached by no order, as long as a test lets it stand. */
  let catchUp: () => void;
  let lagging: PaymentCommands;
  /** What the read model has counted. */
  let known: readonly PaymentId[];

  beforeEach(() => {
    known = [];
    const reached = new Promise<void>((resolve) => {
      catchUp = resolve;
    });
    lagging = paymentCommands({
      ...node,
      progress: { reached: () => reached.then(() => true) },
      providers: { epay: openProvider, stripe: closed },
      stepUps: { demand: (_user, _purpose, _proof, order) => order() },
      openCounts: {
        of: async (_user, ids) => ({ live: known.length, known: ids.filter((id) => known.includes(id)) }),
      },
      warn: () => {},
    });
  });

  const begin = async (key: string | null = null): Promise<PaymentId> =>
    (await lagging.begin(alice, { amount: 10, method: 'alipay' }, '/topup', key)).id;

  test('count: at most twenty are open, one after the other', async () => {
    for (let count = 0; count < 20; count++) await begin();
    await expect(begin()).rejects.toThrow(tooMany);
    expect((await store.everything()).filter(({ event }) => event.type === 'TopUpRequested')).toHaveLength(20);
  });

  test('count: at most twenty are open, of thirty at the same time', async () => {
    const begun = await Promise.allSettled(Array.from({ length: 30 }, () => begin()));
    expect(begun.filter(({ status }) => status === 'fulfilled')).toHaveLength(20);
    expect((await store.everything()).filter(({ event }) => event.type === 'TopUpRequested')).toHaveLength(20);
  });

  test('count once, whether the read model has added them itself or has reported them', async () => {
    const ids: PaymentId[] = [];
    for (let count = 0; count < 10; count++) ids.push(await begin());
    known = ids;
    for (let count = 0; count < 10; count++) ids.push(await begin());
    await expect(begin()).rejects.toThrow(tooMany);
    known = ids;
    catchUp();
    await expect(begin()).rejects.toThrow(tooMany);
    known = ids.slice(1);
    await expect(begin()).resolves.toBeDefined();
  });

  test('count once when they are repeated under their idempotency key', async () => {
    const first = await begin('first');
    for (let count = 0; count < 8; count++) expect(await begin('first')).toBe(first);
    for (let count = 0; count < 19; count++) await begin();
    await expect(begin()).rejects.toThrow(tooMany);
  });
});

describe('a user that waits for an own payment order', () => {
  const asked = async (id: PaymentId): Promise<number> => {
    openProvider.asked = [];
    await payments.poll(alice, id);
    return openProvider.asked.length;
  };

  test('causes a query of the provider once in five seconds, for each order separately', async () => {
    const [one, other] = [await begun(), await begun()];
    expect([await asked(one), await asked(one), await asked(other)]).toEqual([1, 0, 1]);
    node.clock.advance(4_999);
    expect(await asked(one)).toBe(0);
    node.clock.advance(1);
    expect([await asked(one), await asked(one)]).toEqual([1, 0]);
  });

  test('causes a query again after the clock was set back', async () => {
    const id = await begun();
    expect(await asked(id)).toBe(1);
    node.clock.advance(-86_400_000);
    expect([await asked(id), await asked(id)]).toEqual([1, 0]);
  });

  test('causes no query for another user’s order, nor for a completed one', async () => {
    const id = await begun();
    await expect(payments.poll({ id: UserId(8) }, id)).rejects.toThrow('payment-not-found');
    expect(openProvider.asked).toEqual([]);
    openProvider.paid.add(id);
    expect(await asked(id)).toBe(1);
    node.clock.advance(5_000);
    expect(await asked(id)).toBe(0);
  });
});

test('refused webhooks are recorded in the log at intervals, and all of them are counted', async () => {
  const warned: object[] = [];
  const counting = paymentCommands({
    ...node,
    providers: { epay: openProvider, stripe: closed },
    stepUps: { demand: (_user, _purpose, _proof, order) => order() },
    openCounts: { of: async () => ({ live: 0, known: [] }) },
    warn: (facts) => warned.push(facts),
  });
  const { id } = await counting.begin(alice, { amount: 10, method: 'alipay' }, '/topup');
  for (let count = 0; count < 50; count++) await counting.handleWebhook('epay', notice(id, '1.00'));
  expect(warned).toHaveLength(1);
  expect(counting.refusedWebhooks(root)).toEqual([{ provider: 'epay', reason: 'differs', count: 50 }]);
  node.clock.advance(60_000);
  await counting.handleWebhook('epay', notice(id, '1.00'));
  expect(warned).toHaveLength(2);
});
