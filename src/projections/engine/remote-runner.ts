import { deserializeError } from '../../domain/errors/serialized-error.js';
import { beginning, type Position } from '../../domain/events/events.js';
import { assertNever } from '../../domain/kernel/failure.js';
import type { News } from './news.js';
import type { ProjectionRunner, ReadModelState } from './runner.js';
import type { FromRunner, RunnerChannel, ToRunner } from './runner-messages.js';

/*
 * A runner in another thread, for everybody in this one. How far its read models have come is known here, so that only
 * who must really wait sends a message; and every wait ends here in time, whatever becomes of the other thread.
 */

/** Between two messages that the log has grown, unless somebody waits for what is new. */
const gatherMs = 50;

interface Waiter {
  readonly position: Position;
  readonly names: readonly string[] | null;
  readonly hopeful: boolean;
  /** On the clock of performance.now(). */
  readonly deadline: number;
  readonly done: (reached: boolean) => void;
}

export class RemoteRunner implements ProjectionRunner {
  /** Of the runner that is to be listened to. */
  private peer: RunnerChannel<ToRunner, FromRunner> | null = null;
  /** The same once that runner has started. */
  private channel: RunnerChannel<ToRunner, FromRunner> | null = null;
  private states: readonly ReadModelState[] = [];
  private readonly waiters = new Map<number, Waiter>();
  private waits = 0;
  private head: Position = beginning;
  private quarantined = false;
  /** The head that the runner was last sent. */
  private announced: Position = beginning;
  private gathering: NodeJS.Timeout | null = null;
  private readonly abort = new AbortController();
  private readonly following: Promise<void>;
  private readonly firstCatchUp: Promise<void>;
  private settleCatchUp: (error: Error | null) => void = () => {};

  /** `news` reports how the log grows, until the signal aborts; it does not throw. */
  constructor(news: (signal: AbortSignal) => AsyncIterable<News>) {
    this.firstCatchUp = new Promise((resolve, reject) => {
      this.settleCatchUp = (error) => (error === null ? resolve() : reject(error));
    });
    // The state can be queried; nobody has to.
    this.firstCatchUp.catch(() => {});
    this.following = this.follow(news);
  }

  /**
   * Resolves once the runner at the other end has started; those who wait then wait for that one. Rejects with what kept
   * it from starting.
   */
  connect(channel: RunnerChannel<ToRunner, FromRunner>): Promise<void> {
    this.peer = channel;
    return new Promise((resolve, reject) => {
      channel.on('message', (message) => {
        // The last words of one that is gone.
        if (this.peer !== channel) return;
        switch (message.kind) {
          case 'states':
            this.states = message.states;
            if (this.channel === null) this.begin(channel);
            return resolve();
          case 'answer':
            return this.waiters.get(message.id)?.done(message.reached);
          case 'caught-up':
            return this.settleCatchUp(message.error && deserializeError(message.error));
          case 'failed':
            channel.postMessage({ kind: 'stop' });
            return reject(deserializeError(message.error));
          default:
            return assertNever(message);
        }
      });
    });
  }

  /** The runner is gone. Those who wait go on waiting for the next one. */
  disconnect(): void {
    this.peer = null;
    this.channel = null;
    this.states = this.states.map((state) => ({ ...state, leading: false }));
  }

  /** There will be no other runner: `caughtUp` rejects with the reason, and nobody waits any more. */
  giveUp(reason: Error): void {
    this.disconnect();
    this.settleCatchUp(reason);
    this.end();
  }

  reached(position: Position, timeoutMs: number, names?: readonly string[]): Promise<boolean> {
    return this.wait(position, timeoutMs, names ?? null, false);
  }

  passed(name: string, position: Position, timeoutMs: number): Promise<boolean> {
    return this.wait(position, timeoutMs, [name], true);
  }

  caughtUp(): Promise<void> {
    return this.firstCatchUp;
  }

  status(): readonly ReadModelState[] {
    return this.states.map((state) => (state.head < this.head ? { ...state, head: this.head } : state));
  }

  /** The channel is told to stop; what stops with it is for whoever opened it to wait for. */
  async stop(): Promise<void> {
    this.channel?.postMessage({ kind: 'stop' });
    this.end();
    await this.following;
  }

  private end(): void {
    this.abort.abort();
    if (this.gathering !== null) clearTimeout(this.gathering);
    for (const { done } of [...this.waiters.values()]) done(false);
  }

  private wait(
    position: Position,
    timeoutMs: number,
    names: readonly string[] | null,
    hopeful: boolean,
  ): Promise<boolean> {
    for (const name of names ?? []) this.stateOf(name);
    if (this.isReached(position, names)) return Promise.resolve(true);
    if (this.abort.signal.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const id = ++this.waits;
      const done = (reached: boolean): void => {
        clearTimeout(timer);
        this.waiters.delete(id);
        resolve(reached);
      };
      const timer = setTimeout(done, timeoutMs, false);
      const waiter: Waiter = { position, names, hopeful, deadline: performance.now() + timeoutMs, done };
      this.waiters.set(id, waiter);
      this.sendWait(id, waiter);
    });
  }

  private isReached(position: Position, names: readonly string[] | null): boolean {
    const states = names === null ? this.states : names.map((name) => this.stateOf(name));
    return states.every((state) => state.position >= position);
  }

  private stateOf(name: string): ReadModelState {
    const state = this.states.find((model) => model.name === name);
    if (state === undefined) throw new Error(`There is no read model ${name}`);
    return state;
  }

  /** To the runner that has just started, all that its predecessor knew. */
  private begin(channel: RunnerChannel<ToRunner, FromRunner>): void {
    this.channel = channel;
    this.sendNews();
    for (const [id, waiter] of this.waiters) this.sendWait(id, waiter);
  }

  private sendWait(id: number, { position, names, hopeful, deadline }: Waiter): void {
    if (this.channel === null) return;
    if (this.isUrgent()) this.sendNews();
    const timeoutMs = Math.max(1, deadline - performance.now());
    this.channel.postMessage({ kind: 'wait', id, position, timeoutMs, names, hopeful });
  }

  private async follow(news: (signal: AbortSignal) => AsyncIterable<News>): Promise<void> {
    for await (const { head, quarantined } of news(this.abort.signal)) {
      this.head = head;
      this.quarantined ||= quarantined;
      if (this.isUrgent()) this.sendNews();
      else this.gathering ??= setTimeout(() => this.sendNews(), gatherMs);
    }
  }

  /** Somebody waits for what the runner does not know of yet. */
  private isUrgent(): boolean {
    if (this.announced >= this.head) return false;
    for (const { position } of this.waiters.values()) if (position > this.announced) return true;
    return false;
  }

  private sendNews(): void {
    if (this.gathering !== null) clearTimeout(this.gathering);
    this.gathering = null;
    if (this.channel === null) return;
    this.channel.postMessage({ kind: 'news', head: this.head, quarantined: this.quarantined });
    this.announced = this.head;
    this.quarantined = false;
  }
}
