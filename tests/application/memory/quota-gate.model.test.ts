import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ApiKeyId, CallId, UserId } from '../../../src/domain/kernel/ids.js';
import { Quota } from '../../../src/domain/kernel/quota.js';
import type { Budget, BudgetPeriod } from '../../../src/domain/ledger/budget.js';
import { flush } from '../../support/flush.js';
import { foldAccount, GateWorld, type Owner } from '../../support/memory/gate-world.js';

/*
 * The gate against a model of it: any interleaving of calls, other nodes, grants and edits, with the tail and the read
 * model each at its own distance behind the log, and accounts that come and go. The model is one sentence: what an
 * account has is the fold of the log as far as the gate can know it, minus what this node's open calls hold.
 */

const users = [UserId(7), UserId(8)] as const;
const keys = [ApiKeyId(12), ApiKeyId(13)] as const;

interface Call {
  readonly id: CallId;
  readonly user: UserId;
  readonly key: ApiKeyId | null;
  readonly reserved: number;
}

/** A call of this node, from its admission on. */
interface LocalCall extends Call {
  readonly unlimited: boolean;
  readonly budget: Budget | null;
  held: number;
  /** What of it the gate has said it is charged. */
  due: number;
  /** How much of the log the gate knew of each payer when it was admitted. */
  readonly knownOf: ReadonlyMap<string, number>;
  durable: boolean;
  /** What its outcome in the log charges; null while it has none. */
  charged: number | null;
  /** What the clock showed then. */
  settledAt: number;
  /** Whether the gate was notified by the call itself. */
  reported: boolean;
  refunded: boolean;
}

const partiesOf = ({ user, key, reserved }: Call) => ({ userId: user, apiKeyId: key, quota: reserved });

/** One thing that happens; each kind looks at the members it needs, and does nothing where it cannot happen now. */
interface Step {
  readonly kind: keyof typeof weights;
  readonly who: number;
  readonly quota: number;
  readonly charged: number;
  readonly key: number;
  readonly unlimited: boolean;
  readonly count: number;
  /** Of what a call can cost, the least it makes do with. */
  readonly share: number;
  readonly budget: Budget | null;
  /** By how much the clock moves. */
  readonly ms: number;
}

/** How often each kind is drawn, in relation to the others. */
const weights = {
  admit: 6,
  reserve: 4,
  drop: 2,
  extend: 2,
  charge: 3,
  settle: 3,
  refund: 2,
  release: 2,
  report: 3,
  grant: 1,
  adjust: 1,
  editKey: 1,
  reserveElsewhere: 2,
  settleElsewhere: 1,
  releaseElsewhere: 1,
  ask: 4,
  answer: 6,
  fail: 1,
  deliver: 5,
  project: 4,
  pass: 2,
  restart: 1,
} as const;

class Model {
  readonly world: GateWorld;
  private readonly open: LocalCall[] = [];
  private readonly elsewhere: Call[] = [];
  private calls = 0;
  /** How far the newest snapshot of each account has given the gate more than the tail. */
  private readonly snapshotAt = new Map<string, number>();
  /** Answers of the gate in the order it gave them, checked after every step. */
  private readonly answers: (() => void)[] = [];
  /** Of each key, the budget of the newest call that was admitted. */
  private readonly newestBudget = new Map<ApiKeyId, Budget | null>();
  checked = 0;
  admitted = 0;
  beyondBudget = 0;
  decided = 0;

  constructor(capacity: number) {
    this.world = new GateWorld(true, capacity);
    for (const [index, user] of users.entries()) this.world.grant(user, 300 - 100 * index);
    for (const key of keys) this.world.issueKey(key, 200);
    this.world.deliver();
    this.world.project();
  }

  /** How much of the log the gate can know of an account. */
  private known(owner: Owner): number {
    return Math.max(this.world.delivered, this.snapshotAt.get(JSON.stringify(owner)) ?? 0);
  }

  /** The fold of what the gate can know, minus the holds of this node's calls whose end it cannot know yet. */
  private remaining(owner: Owner): number {
    const seen = this.world.log.slice(0, this.known(owner));
    const { balance, reservations: holds } = foldAccount(seen, owner);
    return balance - this.held(seen, holds, owner);
  }

  /** The same, but holds alone leave nothing at least. */
  available(owner: Owner): number {
    const seen = this.world.log.slice(0, this.known(owner));
    const { balance } = foldAccount(seen, owner);
    return Math.max(this.remaining(owner), Math.min(balance - this.due(seen, owner), 0));
  }

  /** What this node's calls are charged and the gate cannot know from the log yet. */
  private due(seen: GateWorld['log'], owner: Owner): number {
    const ended = endedIn(seen);
    return this.ownOf(owner).reduce((sum, { id, due }) => (ended.has(id) ? sum : sum + due), 0);
  }

  private room(owner: Owner, { knownOf }: LocalCall): number {
    const known = this.known(owner);
    const seen = this.world.log.slice(0, known);
    const before = knownOf.get(JSON.stringify(owner)) ?? known;
    let withdrawn = 0;
    for (const recorded of this.world.log.slice(before, known)) {
      if ('facts' in recorded.event) continue;
      withdrawn -= Math.min(foldAccount([recorded], owner).balance, 0);
    }
    return foldAccount(seen, owner).balance - this.due(seen, owner) + withdrawn;
  }

  private roomInBudget({ budget }: LocalCall, key: ApiKeyId): number {
    const newest = this.newestBudget.get(key) ?? null;
    if (budget === null || newest === null) return Number.POSITIVE_INFINITY;
    const owner = { apiKey: key };
    const seen = this.world.log.slice(0, this.known(owner));
    const { spent } = foldAccount(seen, owner);
    const now = new Date(this.world.clock.now());
    const by = ({ quota, period }: Budget): number =>
      [...spent].reduce((left, [date, sum]) => (isInPeriod[period](date, now) ? left - sum : left), Number(quota));
    return Math.max(by(budget), by(newest)) - this.due(seen, owner);
  }

  /** What is left of a key's budget: as above, and of what was spent only that of the present period counts. */
  leftOf(budget: Budget, key: ApiKeyId): number {
    const owner = { apiKey: key };
    const known = Math.max(this.world.delivered, this.snapshotAt.get(JSON.stringify(owner)) ?? 0);
    const seen = this.world.log.slice(0, known);
    const { spent, reservations: holds } = foldAccount(seen, owner);
    const now = new Date(this.world.clock.now());
    let left = budget.quota - this.held(seen, holds, owner);
    for (const [date, quota] of spent) if (isInPeriod[budget.period](date, now)) left -= quota;
    return Math.max(left, 0);
  }

  private ownOf(owner: Owner): LocalCall[] {
    return this.open.filter((call) => ('user' in owner ? call.user === owner.user : call.key === owner.apiKey));
  }

  private held(seen: GateWorld['log'], holds: ReadonlyMap<CallId, number>, owner: Owner): number {
    const own = this.ownOf(owner);
    const ended = endedIn(seen);
    let held = 0;
    for (const [call, quota] of holds) if (!own.some(({ id }) => id === call)) held += quota;
    for (const call of own) if (!ended.has(call.id)) held += call.held;
    return held;
  }

  async take(step: Step): Promise<void> {
    await this[step.kind](step);
    await this.settleDown();
  }

  /**
   * The node dies. What it alone knew is gone: admissions that were not written, and by how much holds had grown. Another
   * one finds the rest in the read model and the log; to it those calls are like any node's.
   */
  private async restart(): Promise<void> {
    while (this.world.waiting.length > 0) {
      this.world.fail();
      await this.settleDown();
    }
    for (const { id, user, key, reserved, durable, charged } of this.open.splice(0))
      if (durable && charged === null) this.elsewhere.push({ id, user, key, reserved });
    this.snapshotAt.clear();
    this.world.restart();
  }

  /** Lets everything arrive and asks for every account once more. */
  async finish(): Promise<void> {
    while (this.open.some(({ durable }) => !durable)) await this.drop({ who: 0 });
    this.deliver({ count: Number.POSITIVE_INFINITY });
    this.project({ count: Number.POSITIVE_INFINITY });
    for (let who = 0; who < users.length + keys.length; who++) this.ask({ who });
    await this.settleDown();
    while (this.world.waiting.length > 0) {
      this.answer();
      await this.settleDown();
    }
  }

  private async settleDown(): Promise<void> {
    await flush();
    for (const answer of this.answers.splice(0)) answer();
  }

  private async extend({ who, quota }: Pick<Step, 'who' | 'quota'>): Promise<void> {
    const call = pick(
      this.open.filter(({ charged }) => charged === null),
      who,
    );
    if (call === undefined) return;
    const more = quota - call.held;
    const affordable =
      more <= 0 ||
      (this.available({ user: call.user }) >= more &&
        (call.key === null || call.unlimited || this.available({ apiKey: call.key }) >= more) &&
        (call.key === null || call.budget === null || this.leftOf(call.budget, call.key) >= more));
    expect(await this.world.gate.extend(call.id, Quota(quota)), 'extended').toBe(affordable);
    if (affordable) call.held = Math.max(call.held, quota);
  }

  /**
   * What the call has cost is decided: never more than its payers have beside what others are charged already, whatever
   * is held. What somebody takes away meanwhile takes it from no call.
   */
  private async charge({ who, quota }: Pick<Step, 'who' | 'quota'>): Promise<void> {
    const call = pick(
      this.open.filter(({ charged }) => charged === null),
      who,
    );
    if (call === undefined) return;
    call.due = 0;
    const rooms = [this.room({ user: call.user }, call)];
    if (call.key !== null && !call.unlimited) rooms.push(this.room({ apiKey: call.key }, call));
    if (call.key !== null && call.budget !== null) rooms.push(this.roomInBudget(call, call.key));
    const charged = Math.max(Math.min(quota, ...rooms), 0);
    expect(await this.world.gate.charge(call.id, Quota(quota)), 'charged').toBe(charged);
    call.due = charged;
    call.held = Math.max(call.held, charged);
    this.decided += 1;
  }

  private reserve({ who }: Pick<Step, 'who'>): void {
    const call = pick(
      this.open.filter(({ durable }) => !durable),
      who,
    );
    if (call === undefined) return;
    call.durable = true;
    this.world.reserve(call.id, partiesOf(call));
  }

  private settle({ who, charged }: Pick<Step, 'who' | 'charged'>): void {
    const call = this.running(who);
    if (call === undefined) return;
    call.charged = charged;
    call.settledAt = this.world.clock.now();
    this.world.settle(call.id, { ...partiesOf(call), charged });
  }

  /** A settlement is taken back; the call itself has been sent nothing and never will. */
  private refund({ who }: Pick<Step, 'who'>): void {
    const call = pick(
      this.open.filter(({ charged, reported, refunded }) => charged !== null && charged > 0 && !reported && !refunded),
      who,
    );
    if (call === undefined || call.charged === null) return;
    call.refunded = true;
    const { charged, settledAt } = call;
    this.world.refund(call.id, { ...partiesOf(call), charged, settledAt });
  }

  private release({ who }: Pick<Step, 'who'>): void {
    const call = this.running(who);
    if (call === undefined) return;
    call.charged = 0;
    this.world.release(call.id, partiesOf(call));
  }

  private running(who: number): LocalCall | undefined {
    return pick(
      this.open.filter(({ durable, charged }) => durable && charged === null),
      who,
    );
  }

  /** The append of an outcome has answered: before the tail brings the same news, or after. */
  private async report({ who }: Pick<Step, 'who'>): Promise<void> {
    const call = pick(
      this.open.filter(({ charged, reported, refunded }) => charged !== null && !reported && !refunded),
      who,
    );
    if (call === undefined || call.charged === null) return;
    call.reported = true;
    call.held = call.charged;
    call.due = call.charged;
    await this.world.gate.settled(call.id, Quota(call.charged));
  }

  private async drop({ who }: Pick<Step, 'who'>): Promise<void> {
    const call = pick(
      this.open.filter(({ durable }) => !durable),
      who,
    );
    if (call === undefined) return;
    this.open.splice(this.open.indexOf(call), 1);
    await this.world.gate.drop(call.id);
  }

  private grant({ who, quota }: Pick<Step, 'who' | 'quota'>): void {
    this.world.grant(pickFrom(users, who), quota);
  }

  private adjust({ who, quota }: Pick<Step, 'who' | 'quota'>): void {
    this.world.adjust(pickFrom(users, who), quota - 100);
  }

  private editKey({ who, quota }: Pick<Step, 'who' | 'quota'>): void {
    this.world.editKey(pickFrom(keys, who), quota - 100);
  }

  private reserveElsewhere({ who, quota, key }: Pick<Step, 'who' | 'quota' | 'key'>): void {
    const call = {
      id: CallId(`theirs-${this.calls++}`),
      user: pickFrom(users, who),
      key: keys[key] ?? null,
      reserved: quota,
    };
    this.elsewhere.push(call);
    this.world.reserve(call.id, partiesOf(call));
  }

  private settleElsewhere({ who, charged }: Pick<Step, 'who' | 'charged'>): void {
    const call = this.endElsewhere(who);
    if (call !== undefined) this.world.settle(call.id, { ...partiesOf(call), charged });
  }

  private releaseElsewhere({ who }: Pick<Step, 'who'>): void {
    const call = this.endElsewhere(who);
    if (call !== undefined) this.world.release(call.id, partiesOf(call));
  }

  private endElsewhere(who: number): Call | undefined {
    const call = pick(this.elsewhere, who);
    if (call !== undefined) this.elsewhere.splice(this.elsewhere.indexOf(call), 1);
    return call;
  }

  private answer(): void {
    const [owner] = this.world.waiting;
    if (owner === undefined) return;
    this.snapshotAt.set(JSON.stringify(owner), this.world.projected);
    this.world.answer();
  }

  private fail(): void {
    this.world.fail();
  }

  private deliver({ count }: Pick<Step, 'count'>): void {
    this.world.deliver(count);
  }

  private project({ count }: Pick<Step, 'count'>): void {
    this.world.project(count);
  }

  /** Over the bounds of periods, mostly forward. */
  private pass({ ms }: Pick<Step, 'ms'>): void {
    this.world.clock.advance(ms);
  }

  private admit({ who, quota, key: keyIndex, unlimited, share, budget }: Step): void {
    const [user, key] = [pickFrom(users, who), keys[keyIndex] ?? null];
    const id = CallId(`ours-${this.calls++}`);
    const min = Math.floor(quota * share);
    const range = { max: Quota(quota), min: Quota(min), minOfKey: Quota(min) };
    this.world.gate
      .admit({ ...{ callId: id, userId: user, apiKeyId: key, terms: { unlimited, budget } }, ...range })
      .then(
        (verdict) => {
          this.answers.push(() => {
            const ofUser = this.available({ user });
            const ofKey = key === null || unlimited ? null : this.available({ apiKey: key });
            const ofBudget = key === null || budget === null ? null : this.leftOf(budget, key);
            const affords = (amount: number) => amount > 0 && amount >= min;
            const granted = Math.min(quota, ofUser, ofKey ?? quota, ofBudget ?? quota);
            if (ofKey !== null && !affords(ofKey))
              expect(verdict).toStrictEqual({ admitted: false, short: 'api-key', available: ofKey });
            else if (ofBudget !== null && !affords(ofBudget)) {
              expect(verdict).toMatchObject({ admitted: false, short: 'budget', available: ofBudget, budget });
              this.beyondBudget += 1;
            } else if (!affords(ofUser))
              expect(verdict).toStrictEqual({ admitted: false, short: 'user', available: ofUser });
            else expect(verdict).toStrictEqual({ admitted: true, granted });
            this.checked += 1;
            if (!verdict.admitted) return;
            this.admitted += 1;
            const payers: Owner[] = [{ user }, ...(key === null ? [] : [{ apiKey: key }])];
            const knownOf = new Map(payers.map((payer) => [JSON.stringify(payer), this.known(payer)]));
            if (key !== null) this.newestBudget.set(key, budget);
            this.open.push({
              ...{ id, user, key, unlimited, budget, reserved: granted, held: granted, due: 0, knownOf },
              ...{ durable: false, charged: null, settledAt: 0, reported: false, refunded: false },
            });
          });
        },
        () => undefined,
      );
  }

  private ask({ who }: Pick<Step, 'who'>): void {
    const owner = pickFrom<Owner>([...users.map((user) => ({ user })), ...keys.map((apiKey) => ({ apiKey }))], who);
    const asked = 'user' in owner ? this.world.gate.available(owner.user) : this.world.gate.remaining(owner.apiKey);
    asked.then(
      (available) => {
        this.answers.push(() => {
          const expected = 'user' in owner ? this.available(owner) : this.remaining(owner);
          expect(available, JSON.stringify(owner)).toBe(expected);
          this.checked += 1;
        });
      },
      () => undefined,
    );
  }
}

const dateOf = (at: Date): string => at.toISOString().slice(0, 10);

/** Whether a date lies in the period that a moment lies in. */
const isInPeriod: Readonly<Record<BudgetPeriod, (date: string, now: Date) => boolean>> = {
  daily: (date, now) => date === dateOf(now),
  weekly(date, now) {
    const monday = new Date(now);
    while (monday.getUTCDay() !== 1) monday.setUTCDate(monday.getUTCDate() - 1);
    const sunday = new Date(monday);
    sunday.setUTCDate(sunday.getUTCDate() + 6);
    return date >= dateOf(monday) && date <= dateOf(sunday);
  },
  monthly: (date, now) => date.slice(0, 7) === dateOf(now).slice(0, 7),
};

const isEnd = (type: string): boolean => type === 'CallSettled' || type === 'CallReleased';
const endedIn = (seen: GateWorld['log']): ReadonlySet<string> =>
  new Set(seen.flatMap(({ event, stream }) => (isEnd(event.type) ? [stream.slice(5)] : [])));
const pick = <Item>(items: readonly Item[], index: number): Item | undefined =>
  items[index % Math.max(1, items.length)];
const pickFrom = <Item>(items: readonly Item[], index: number): Item => pick(items, index) as Item;

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom(
    ...Object.entries(weights).flatMap(([kind, weight]) => Array<Step['kind']>(weight).fill(kind as Step['kind'])),
  ),
  who: fc.nat(7),
  quota: fc.nat(120),
  charged: fc.nat(150),
  key: fc.nat(keys.length),
  unlimited: fc.boolean(),
  count: fc.integer({ min: 1, max: 4 }),
  share: fc.constantFrom(0, 0.5, 1),
  budget: fc.option(
    fc.record({
      quota: fc.integer({ min: 1, max: 250 }).map(Quota),
      period: fc.constantFrom<BudgetPeriod>('daily', 'weekly', 'monthly'),
    }),
  ),
  ms: fc.integer({ min: -40, max: 400 }).map((hours) => hours * 3_600_000),
});

test('the available amount is the fold of the log minus the reservations of open calls, whatever happens in whatever order', async () => {
  let checked = 0;
  let admitted = 0;
  let beyondBudget = 0;
  let decided = 0;
  const runs = fc.asyncProperty(
    fc.integer({ min: 1, max: 3 }),
    fc.array(step, { minLength: 20, maxLength: 80, size: 'max' }),
    async (capacity, sequence) => {
      const model = new Model(capacity);
      for (const next of sequence) await model.take(next);
      await model.finish();
      checked += model.checked;
      admitted += model.admitted;
      beyondBudget += model.beyondBudget;
      decided += model.decided;
    },
  );
  await fc.assert(runs, { numRuns: 1_000 });
  // The runs must have been about something.
  expect(checked).toBeGreaterThan(10_000);
  expect(admitted).toBeGreaterThan(2_000);
  expect(beyondBudget).toBeGreaterThan(200);
  expect(decided).toBeGreaterThan(300);
}, 120_000);
