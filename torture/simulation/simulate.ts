import type { Position, StreamName } from '../../src/domain/events/events.js';
import { type DomainEvent, streams } from '../../src/domain/events/events.js';
import { ApiKeyId, CallId, ChannelId, SecretId, UserId } from '../../src/domain/kernel/ids.js';
import { Instant } from '../../src/domain/kernel/instant.js';
import { Quota } from '../../src/domain/kernel/quota.js';
import type { ReservationEstimate } from '../../src/relay/metering/reservation-estimate.js';
import { apiKeyTerms } from '../../tests/support/given/api-key-terms.js';
import { factsOf } from '../../tests/support/given/calls.js';
import { estimateOf, settlementOf } from '../../tests/support/given/metering.js';
import { MemoryEventStore } from '../../tests/support/memory/memory-event-store.js';
import { Books } from '../checker/books.js';
import { checkCalls, type ToldCall } from '../checker/check-calls.js';
import type { RawEvent } from '../checker/raw-events.js';
import { type Durable, type SimulatedNode, startNode } from './node.js';
import { Scheduler } from './scheduler.js';
import { SimulatedLedger } from './simulated-ledger.js';
import { SimulatedNotes } from './simulated-notes.js';
import { rawOf, SimulatedLog } from './simulated-store.js';

/*
 * The billing core in one process under a seeded scheduler: calls are reserved, extended, settled, withheld, released
 * and lost, while appends fail or are answered too late, and processes die. The same seed does the same.
 */

export interface Simulated {
  readonly seed: number;
  readonly steps: number;
  readonly deaths: number;
  readonly calls: number;
  readonly withheldAtDeath: number;
  readonly problems: readonly string[];
}

interface Told {
  call: ToldCall;
  /** Who has told it. */
  node: SimulatedNode | null;
}

const users = [UserId(1), UserId(2), UserId(3)];
const apiKeys = [ApiKeyId(11), ApiKeyId(12), ApiKeyId(13)];
const busySteps = 4_000;
const restSteps = 30_000;
const deathShare = 0.004;
const maxDeaths = 3;
const refused = { status: 503, code: 'store_unavailable' };

class Simulation {
  readonly scheduler: Scheduler;
  readonly durable: Durable;
  node: SimulatedNode | null = null;
  readonly told = new Map<string, Told>();
  readonly arrivals: Record<string, number> = {};
  private readonly world = Symbol('callers');
  readonly log: SimulatedLog;
  open = 0;
  deaths = 0;
  starting = false;
  private ids = 0;

  constructor(seed: number) {
    this.scheduler = new Scheduler(seed);
    this.log = new SimulatedLog(new MemoryEventStore(), this.scheduler);
    this.durable = {
      ...{ log: this.log, ledger: new SimulatedLedger(this.log), notes: new SimulatedNotes(this.log) },
      ...{ checkpoints: new Map(), outbox: new Set(), newEventId: () => this.newId() },
    };
  }

  private newId(): string {
    return `00000000-0000-7000-8000-${String(++this.ids).padStart(12, '0')}`;
  }

  happened(stream: StreamName, event: DomainEvent): Promise<unknown> {
    return this.log.append(stream, [{ id: this.newId(), at: Instant(this.scheduler.now()), event }], 'any');
  }

  async found(): Promise<void> {
    const { scheduler } = this;
    for (const [index, user] of users.entries()) {
      const quota = Quota(scheduler.whole(0, 600));
      await this.happened(streams.user(user), { type: 'QuotaGranted', quota, reason: 'signup' });
      const key = apiKeys[index] ?? ApiKeyId(0);
      const terms = apiKeyTerms({ unlimited: index === 0 });
      const given = { owner: user, keyHash: '', secret: SecretId(`key-${index}`) };
      await this.happened(streams.apiKey(key), { type: 'ApiKeyIssued', ...given, quota: Quota(250), terms });
    }
  }

  start(): void {
    this.starting = true;
    const before = this.log.epoch;
    void startNode(this.durable).then((node) => {
      if (this.log.epoch !== before + 1) return;
      this.node = node;
      this.starting = false;
    });
  }

  async die(): Promise<void> {
    const { node } = this;
    if (node === null) return;
    this.deaths++;
    this.node = null;
    // Whose turn it was has had it: a process ends where it waits.
    await this.scheduler.settled();
    await node.kill();
    this.log.witness.died();
    this.open = 0;
  }

  /** One caller's call, from beginning to end, at the process that serves now. */
  begin(number: number): void {
    const { node, scheduler } = this;
    if (node === null) return;
    const id = `c${number}`;
    const call: ToldCall = { model: id, outcome: 'unknown', status: null, requestId: id, cost: null };
    const told: Told = { call, node };
    this.told.set(id, told);
    this.open++;
    void scheduler
      .turn(node.owner)
      .then(() => this.serve(node, id, told))
      .then(() => {
        if (!node.dead) this.open--;
      });
  }

  private async serve(node: SimulatedNode, id: string, told: Told): Promise<void> {
    const { scheduler } = this;
    const say = (changed: Partial<ToldCall>): void => {
      told.call = { ...told.call, ...changed };
    };
    const who = scheduler.whole(0, users.length - 1);
    const facts = factsOf({ userId: users[who], apiKeyId: apiKeys[who], model: id });
    const max = scheduler.whole(10, 120);
    const min = scheduler.chance(0.5) ? max : scheduler.whole(1, max);
    const estimate: ReservationEstimate = { ...estimateOf(max), min: Quota(min), minOfKey: Quota(min) };
    const terms = { unlimited: who === 0, budget: null };
    const reserving = await node.meter.reserve(CallId(id), facts, terms, estimate).catch(() => null);
    if (reserving === null) return say({ outcome: 'fail', status: 503 });
    if (!reserving.ok) return say({ outcome: 'fail', status: 403 });
    const { reservation } = reserving;
    const { inFlightCall } = reservation;
    inFlightCall.attempts = [ChannelId(3)];
    inFlightCall.sending = { started: true };
    this.arrivals[id] = 1;
    for (let waits = scheduler.whole(0, 6); waits > 0; waits--) await scheduler.turn(node.owner);
    if (scheduler.chance(0.2)) await reservation.extend(Quota(reservation.reserved + scheduler.whole(1, 80)));
    const cost = scheduler.whole(0, 2 * max);
    const settlement = settlementOf(cost);
    const how = scheduler.random();
    if (how < 0.4) {
      const charged = await reservation.settleOrWithdraw(settlement, refused);
      return say(
        charged === null ? { outcome: 'fail', status: 503 } : { outcome: 'ok', status: 200, cost: BigInt(cost) },
      );
    }
    if (how < 0.7) {
      inFlightCall.stream = { generated: { said: { length: cost, roughTokens: () => cost } } } as never;
      for (let waits = scheduler.whole(0, 4); waits > 0; waits--) await scheduler.turn(node.owner);
      const settled = await reservation.settle(settlement).catch(() => null);
      if (settled !== null) say({ outcome: 'ok', status: 200, cost: BigInt(cost) });
      return;
    }
    if (how < 0.9) {
      const failed = { kind: 'upstream-failed', status: 502, code: null, attempts: [ChannelId(3)] } as const;
      await reservation.release({ ...failed, useTimeMs: 5, unknownAttempts: scheduler.whole(0, 1) });
      return say({ outcome: 'fail', status: 502 });
    }
    reservation.leave();
  }

  grant(): void {
    const user = users[this.scheduler.whole(0, users.length - 1)] ?? UserId(1);
    const [delta, none] = [Quota(this.scheduler.whole(1, 200)), Quota(0)];
    const event = { type: 'QuotaAdjusted', delta, gift: none, by: UserId(1), observed: none } as const;
    void this.scheduler.turn(this.world).then(() => this.happened(streams.user(user), event));
  }

  settleFaults(): void {
    this.log.faulty = false;
  }

  async raw(): Promise<RawEvent[]> {
    const { events } = this.log;
    const recorded = await events.readAll(-1 as unknown as Position, Number.MAX_SAFE_INTEGER);
    return recorded.map(rawOf);
  }

  /** What has an outcome to come, or something that does not follow the log; null: nothing. */
  async unrest(): Promise<string | null> {
    const { node, open, durable } = this;
    if (node === null) return 'no process serves';
    if (open > 0) return `${open} callers wait`;
    if (node.meter.pending() > 0) return `${node.meter.pending()} outcomes are on their way`;
    const head = await this.log.events.head();
    if (durable.ledger.tables.position < head) return 'the ledger is behind';
    if (node.tail.position() < head) return 'the tail is behind';
    const left = [...durable.ledger.tables.open.keys()];
    if (left.length > 0) return `calls without an outcome: ${left.join(', ')}`;
    return (durable.checkpoints.get('messages') ?? -1) < head ? 'the reactions are behind' : null;
  }
}

function problemsOfLedger(books: Books, balances: ReadonlyMap<string, bigint>): string[] {
  const problems: string[] = [];
  const expect = (account: string, wanted: bigint): void => {
    const found = balances.get(account) ?? 0n;
    if (found !== wanted) problems.push(`the ledger has ${found} for ${account}, and the log ${wanted}`);
  };
  for (const [name, balance] of Object.entries(books.house)) expect(name, balance);
  for (const [kind, accounts] of [['user', books.users] as const, ['api-key', books.apiKeys] as const])
    for (const [id, { given, charged, held }] of accounts) {
      expect(`${kind}:${id}:available`, given - charged - held);
      expect(`${kind}:${id}:reserved`, held);
    }
  const sum = [...balances].reduce((total, [name, one]) => (name.startsWith('api-key:') ? total : total + one), 0n);
  if (sum !== 0n) problems.push(`the ledger sums to ${sum}`);
  return problems;
}

async function reckon(simulation: Simulation): Promise<{ problems: string[]; withheldAtDeath: number }> {
  const { node, durable, told, arrivals } = simulation;
  const books = new Books();
  const events = await simulation.raw();
  const problems = new Set([...simulation.log.witness.problems, ...books.fold(events)]);
  const checked = [true, false].map((killed) => {
    const own = [...told.values()].filter((one) => (one.node?.dead ?? false) === killed).map(({ call }) => call);
    return checkCalls({ told: own, stories: books.calls, arrivals, killed, earlier: new Map() });
  });
  for (const { problems: found } of checked) for (const problem of found) problems.add(problem);
  for (const problem of problemsOfLedger(books, durable.ledger.tables.balances)) problems.add(problem);
  const settled = [...books.calls.values()].reduce((count, story) => count + story.settled.length, 0);
  if (durable.outbox.size !== settled) problems.add(`${durable.outbox.size} messages for ${settled} settlements`);
  for (const [id, { given, charged }] of books.users) {
    // The gate reads what it does not remember; that is somebody's turn.
    const asked = Promise.all([node?.gate.available(UserId(id)), node?.gate.balance(UserId(id))]);
    let answer: readonly (number | undefined)[] | null = null;
    void asked.then((balances) => {
      answer = balances;
    });
    while (answer === null && (await simulation.scheduler.step(true)));
    const [available, balance] = answer ?? [];
    const owned = Number(given - charged);
    if (available !== owned || balance !== owned)
      problems.add(`the gate has ${available} available of ${balance} for user ${id}, who owns ${owned}`);
  }
  return { problems: [...problems], withheldAtDeath: checked.reduce((sum, one) => sum + one.withheldAtDeath, 0) };
}

async function run(simulation: Simulation, seed: number): Promise<Simulated> {
  const { scheduler } = simulation;
  await simulation.found();
  simulation.start();
  const planned = scheduler.whole(4, 14);
  let calls = 0;
  let steps = 0;
  for (; steps < busySteps && calls < planned; steps++) {
    if (simulation.node !== null && scheduler.chance(0.08)) simulation.begin(calls++);
    if (scheduler.chance(0.01)) simulation.grant();
    if (simulation.deaths < maxDeaths && scheduler.chance(deathShare)) await simulation.die();
    if (simulation.node === null && !simulation.starting) simulation.start();
    await scheduler.step(true);
  }
  // Some die when all has been begun.
  for (let more = scheduler.whole(0, 60); more > 0; more--, steps++) await scheduler.step(true);
  if (scheduler.chance(0.3)) {
    await simulation.die();
    if (!simulation.starting) simulation.start();
  }
  simulation.settleFaults();
  let unrest: string | null = 'it has just begun to rest';
  for (const end = steps + restSteps; steps < end && unrest !== null; steps++) {
    if (!(await scheduler.step(true))) break;
    unrest = steps % 20 === 0 ? await simulation.unrest() : unrest;
  }
  const { deaths } = simulation;
  if (unrest !== null)
    return { seed, steps, deaths, calls, withheldAtDeath: 0, problems: [`there is no rest: ${unrest}`] };
  return { seed, steps, deaths, calls, ...(await reckon(simulation)) };
}

export async function simulate(seed: number): Promise<Simulated> {
  const simulation = new Simulation(seed);
  return simulation.scheduler.run(() => run(simulation, seed));
}
