import { AsyncLocalStorage } from 'node:async_hooks';
import { type Random, randomFrom } from '../../src/demo/random.js';

/*
 * What happens next in a simulation is drawn from a seed. Whatever would wait for the world waits for its turn here; the
 * timers of the code under test are turns as well, in the order of a clock that moves only when one of them is due.
 */

interface Turn {
  readonly owner: symbol;
  readonly go: () => void;
}

interface Timer extends Turn {
  readonly dueAt: number;
  readonly number: number;
}

/** All microtasks have run when it resolves. */
const settle = (macrotask: typeof setImmediate): Promise<void> => new Promise((resolve) => void macrotask(resolve));

const realImmediate = setImmediate;
/** Which simulation code belongs to: what else runs in this process keeps its own timers. */
const within = new AsyncLocalStorage<Scheduler>();
const beganAt = 1_800_000_000_000;

export class Scheduler {
  readonly random: Random;
  private turns: Turn[] = [];
  private timers: Timer[] = [];
  private numbers = 0;
  private elapsed = 0;
  private readonly dead = new Set<symbol>();
  /** Whose code is running: what it asks to be called for later is its own. */
  owner: symbol = Symbol('world');

  constructor(seed: number) {
    this.random = randomFrom(seed);
  }

  now(): number {
    return beganAt + this.elapsed;
  }

  chance(share: number): boolean {
    return this.random() < share;
  }

  whole(from: number, to: number): number {
    return from + Math.floor(this.random() * (to - from + 1));
  }

  /** Resolves when it is this one's turn; never, where its owner has died. */
  turn(owner: symbol): Promise<void> {
    return new Promise((go) => {
      if (!this.dead.has(owner)) this.turns.push({ owner, go });
    });
  }

  /** Whoever's turn it was waits again. */
  settled(): Promise<void> {
    return settle(realImmediate);
  }

  /** Nothing that this owner waits for comes to pass any more. */
  kill(owner: symbol): void {
    this.dead.add(owner);
    this.turns = this.turns.filter((turn) => turn.owner !== owner);
    this.timers = this.timers.filter((timer) => timer.owner !== owner);
  }

  /** One step. false: nobody waits for anything but time, and none may pass. */
  async step(mayWait: boolean): Promise<boolean> {
    await this.settled();
    const waiting = this.turns.length;
    const timer = this.timers.reduce<Timer | null>(
      (first, one) => (first === null || one.dueAt < first.dueAt ? one : first),
      null,
    );
    if (waiting > 0 && !(timer !== null && mayWait && this.chance(0.1))) {
      const [turn] = this.turns.splice(Math.floor(this.random() * waiting), 1);
      this.take(turn);
      return true;
    }
    if (timer === null || !mayWait) return false;
    this.timers.splice(this.timers.indexOf(timer), 1);
    this.elapsed = Math.max(this.elapsed, timer.dueAt);
    this.take(timer);
    return true;
  }

  private take(turn: Turn | undefined): void {
    if (turn === undefined) return;
    this.owner = turn.owner;
    turn.go();
  }

  /** Does the work with the timers of this scheduler. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    const giveBack = this.takeTimers();
    try {
      return await within.run(this, work);
    } finally {
      // What goes on after the last step would set its timers in the next simulation.
      await settle(realImmediate);
      giveBack();
    }
  }

  private takeTimers(): () => void {
    const { setTimeout: real, clearTimeout: realClear } = globalThis;
    const timers = new Map<object, Timer>();
    const start = (callback: (...given: unknown[]) => void, ms = 0, ...given: unknown[]): object => {
      if (within.getStore() !== this) return real(callback, ms, ...given);
      const handle = { unref: () => handle, ref: () => handle, hasRef: () => false };
      const timer: Timer = {
        owner: this.owner,
        go: () => callback(...given),
        dueAt: this.elapsed + Math.max(1, ms),
        number: this.numbers++,
      };
      timers.set(handle, timer);
      if (!this.dead.has(this.owner)) this.timers.push(timer);
      return handle;
    };
    const clear = (handle?: object): void => {
      const timer = handle === undefined ? undefined : timers.get(handle);
      if (timer === undefined) {
        realClear(handle as NodeJS.Timeout | undefined);
        return;
      }
      const at = this.timers.indexOf(timer);
      if (at >= 0) this.timers.splice(at, 1);
    };
    Object.assign(globalThis, { setTimeout: start, clearTimeout: clear });
    return () => void Object.assign(globalThis, { setTimeout: real, clearTimeout: realClear });
  }
}
