import type { Application } from '../../application/application.js';
import { handle } from '../../application/handle.js';
import type { EventStore, ExpectedRevision } from '../../application/ports/storage-ports.js';
import { untilVisible } from '../../application/until-visible.js';
import { beginning, type NewEvent, type Position, type StreamName } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import { Instant } from '../../domain/kernel/instant.js';
import type { DemoClock } from '../demo-clock.js';
import { type Random, randomFrom } from '../random.js';
import type { Seeded, SeededPerson } from '../seed.js';
import { DemoBalances } from './balances.js';
import { pastCall } from './calls.js';
import { dayMs, hourMs, type Intent, intentsOf, rushBefore } from './hours.js';
import type { Stage } from './stage.js';
import { timeline } from './timeline.js';
import { topUp } from './top-up.js';
import { type TurnedAway, unknownCallersOf } from './unknown-callers.js';

/*
 * Thirty days before the demo began, written into the log as the events they would have left: in the order of time, each
 * decided by what was there then. Nothing is put into tables.
 */

export const pastDays = 30;

interface PastPorts {
  readonly app: Application;
  readonly store: EventStore;
  /** That of the gateway: it goes along with what is written. */
  readonly clock: DemoClock;
  readonly seeded: Seeded;
}

/**
 * When the past of a demo begins that is started now: at midnight UTC, so that it has as many days as charts do. A day of
 * which less than an hour has passed is one more.
 */
export const pastBegins = (now: number): Instant =>
  Instant((Math.floor((now - hourMs) / dayMs) + 1 - pastDays) * dayMs);

/** Appends under way at once: what the store takes into one batch. */
const together = 500;
/** Longest the memory of the node is waited for, and the read models: on a slow machine they have far to go. */
const memoryMs = 30_000;
const readModelsMs = 300_000;
/** Somebody who buys quota does so below this much of what is bought. */
const littleLeft = 0.15;
const quotaPerDollar = 500_000;

interface Pending {
  readonly stream: StreamName;
  readonly events: readonly NewEvent[];
  readonly expected: ExpectedRevision;
}

/** Events on their way into the log, some hundred streams at a time. */
class Pen {
  private pending: Pending[] = [];
  private last: Position = beginning;

  constructor(private readonly store: Pick<EventStore, 'append'>) {}

  async write(entry: Pending): Promise<void> {
    this.pending.push(entry);
    if (this.pending.length >= together) await this.flush();
  }

  /** Resolves with the last position that was written. */
  async flush(): Promise<Position> {
    const batch = this.pending.splice(0);
    const results = await Promise.all(
      batch.map(({ stream, events, expected }) => this.store.append(stream, events, expected)),
    );
    for (const result of results) {
      if (!result.ok) throw new Failure('lost-race');
      if (result.position > this.last) this.last = result.position;
    }
    return this.last;
  }
}

/** Writes what lies between `begin` and `until`; `begin` is a full hour. */
class PastWriter {
  private readonly pen: Pen;
  private readonly balances = new DemoBalances();
  private readonly stage: Stage;
  private readonly acts: ReturnType<typeof timeline>;
  private readonly random: Random = randomFrom(20_260_101);

  constructor(
    private readonly ports: PastPorts,
    private readonly begin: number,
    private readonly until: number,
  ) {
    const { app, store, clock, seeded } = ports;
    this.pen = new Pen(store);
    this.stage = { app, seeded, balances: this.balances, handle: handle(store, clock) };
    this.acts = timeline(pastDays, this.random);
    for (const { id, cast } of seeded.people) this.balances.add(id, cast.quota);
  }

  async write(): Promise<Position> {
    const { people } = this.ports.seeded;
    const rush = rushBefore(this.until, people, this.random);
    for (let hour = this.begin; hour < this.until; hour += hourMs) {
      const passed = (hour - this.begin) / (this.until - this.begin);
      const calls = intentsOf(Instant(hour), passed, people, this.random);
      const unknownCallers = unknownCallersOf(hour, this.begin, this.random);
      const rushed = rush.filter(({ at }) => at >= hour && at < hour + hourMs);
      const happening = [...calls, ...rushed, ...unknownCallers].sort((a, b) => a.at - b.at);
      for (const next of happening) {
        if (next.at >= this.until) break;
        await this.actUpTo(next.at);
        await ('person' in next ? this.call(next) : this.turnAway(next));
      }
    }
    await this.actUpTo(this.until - 1);
    return this.pen.flush();
  }

  private turnAway({ stream, events }: TurnedAway): Promise<void> {
    return this.pen.write({ stream, events, expected: 'any' });
  }

  private async call(intent: Intent): Promise<void> {
    const { id } = intent.person;
    await this.fill(intent.person, intent.at);
    const { directory } = this.ports.app;
    const { stream, events, charged, endedAt } = pastCall(intent, this.balances.of(id), {
      ...{ directory, begin: this.begin, random: this.random },
    });
    if (endedAt >= this.until) return;
    this.balances.add(id, -charged);
    await this.pen.write({ stream, events, expected: 'no-stream' });
  }

  /** Who buys quota buys it in time. */
  private async fill(person: SeededPerson, at: number): Promise<void> {
    const dollars = person.cast.topUp;
    if (dollars === 0 || this.balances.of(person.id) > dollars * quotaPerDollar * littleLeft) return;
    await this.act(at, (stage) => topUp(stage, person, dollars, true, this.random));
  }

  private async actUpTo(at: number): Promise<void> {
    for (;;) {
      const [next] = this.acts;
      if (next === undefined || this.begin + next.at > at) return;
      this.acts.shift();
      await this.act(this.begin + next.at, next.run);
    }
  }

  /** After all that came before it, and before anything that comes after it. */
  private async act(at: number, run: (stage: Stage) => Promise<Position | null>): Promise<void> {
    // Quota that is given is decided by what the gate knows of the balance, and the tail delivers that.
    await this.known(await this.pen.flush());
    this.ports.clock.standAt(Instant(at));
    const position = await run(this.stage);
    if (position !== null) await this.known(position);
  }

  private async known(position: Position): Promise<void> {
    if (!(await this.ports.app.tail.reached(position, memoryMs))) throw new Failure('store-unavailable');
  }
}

/**
 * The clock stands where the seeding took place, and is the system's afterwards. Resolves once the read models hold it
 * all. Throws Failure where the log or they cannot be written in time.
 */
export async function writePast(ports: PastPorts): Promise<void> {
  const { app, clock } = ports;
  const begin = clock.now();
  try {
    const position = await new PastWriter(ports, begin, Date.now() - 60_000).write();
    await untilVisible(app, position, readModelsMs);
  } finally {
    clock.goOn();
  }
}
