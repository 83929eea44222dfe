import cluster, { type Worker } from 'node:cluster';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Log } from '../../adapters/log.js';
import type { NodeDirectory } from '../../application/memory/directory.js';
import type { SpentKeys } from '../../application/memory/quota-gate.js';
import type { Tail, TailConsumer } from '../../application/memory/tail.js';
import type { CallProgressNotes } from '../../application/ports/storage-ports.js';
import { RestartBudget } from '../../concurrency/restart-budget.js';
import { isCallStream, type Position, type Recorded } from '../../domain/events/events.js';
import type { CallId } from '../../domain/kernel/ids.js';
import type { Meter } from '../../relay/metering/metered.js';
import { type CallsOfWorker, CallsOfWorkers } from './calls-of-workers.js';
import type { WorkerMethods, WorkerSetting } from './messages.js';
import { Peer } from './peer.js';
import { pipeAt } from './pipe-at.js';
import { type PrimaryPorts, serveWorker } from './serve-worker.js';

/*
 * The processes that serve calls, seen from the one that decides: started, sent the events, watched, started again.
 * They share one listening address: the primary holds it and hands connections round.
 */

interface WorkerPatience {
  /** Before another one is started in the place of one that has ended unasked. */
  readonly restartMs: number;
  /** Of all workers together, within `crashesWithinMs`. */
  readonly crashes: number;
  readonly crashesWithinMs: number;
  /** Between two questions whether it is stuck, and how many of them it may leave unanswered. */
  readonly askMs: number;
  readonly unanswered: number;
  /** What one may take to end once it has been let go. */
  readonly endMs: number;
}

const usualPatience: WorkerPatience = {
  restartMs: 1_000,
  crashes: 20,
  crashesWithinMs: 10 * 60_000,
  askMs: 5_000,
  unanswered: 12,
  endMs: 5_000,
};

interface RelayWorkersOptions {
  readonly count: number;
  readonly log: Log;
  /** Called when no worker is started any more. */
  readonly lost: (reason: string) => void;
  /** What runs in them. */
  readonly entry?: string;
  readonly patience?: Partial<WorkerPatience>;
}

export interface RelayWorkersPorts extends PrimaryPorts {
  readonly directory: Pick<NodeDirectory, 'snapshot' | 'apiKey'>;
  readonly gate: SpentKeys;
  readonly meterOf: (calls: CallsOfWorker) => Meter;
  /** Of the tail: the last message that the directory took. */
  readonly position: () => Position;
  /** The end of the log, all that has been reserved included. */
  readonly head: () => Promise<Position>;
}

const isSource = import.meta.url.endsWith('.ts');
const ownEntry = fileURLToPath(new URL(isSource ? './relay-worker.ts' : './relay-worker.js', import.meta.url));

/** A process that has been started; it reads the code while the primary makes ready what it will be sent. */
interface Process {
  readonly worker: Worker;
  readonly exited: Promise<string>;
}

/** One that is sent what happens. */
interface Running {
  readonly peer: Peer<WorkerMethods>;
  readonly meter: Meter;
  /** Up to which position it was sent the log and has taken it. */
  sent: Position;
  taken: Position;
}

interface Waiter {
  readonly position: Position;
  readonly done: (reached: boolean) => void;
}

export class RelayWorkers implements TailConsumer {
  private readonly patience: WorkerPatience;
  private readonly calls = new CallsOfWorkers();
  private readonly running = new Set<Running>();
  private readonly meters = new Set<Meter>();
  private readonly waiters = new Set<Waiter>();
  private readonly stopping = new AbortController();
  private readonly prepared: Process[];
  /** All that have been started and have not ended. */
  private readonly alive = new Set<Process>();
  private kept: Promise<unknown> = Promise.resolve();
  private readonly crashes: RestartBudget;
  private lookForLost: (upTo: Position) => void = () => {};

  constructor(private readonly options: RelayWorkersOptions) {
    this.patience = { ...usualPatience, ...options.patience };
    this.crashes = new RestartBudget(this.patience.crashes, this.patience.crashesWithinMs);
    cluster.setupPrimary({
      exec: options.entry ?? ownEntry,
      args: [],
      // The sources are read as they are read here, by whatever does it.
      ...(isSource && { execArgv: ['--import', 'tsx'] }),
      stdio: ['ignore', 'inherit', 'inherit', 'ipc', 'pipe'],
    });
    this.prepared = Array.from({ length: options.count }, () => this.fork());
  }

  /** Resolves with the port once all of them listen; rejects with what keeps one from it. */
  async start(ports: RelayWorkersPorts, setting: WorkerSetting): Promise<number> {
    ports.gate.onSpent((apiKey) => {
      for (const { peer } of this.running) peer.send('spent', apiKey);
    });
    const started = this.prepared.splice(0).map((process) => this.launch(process, ports, setting));
    this.kept = Promise.allSettled(started.map(async (first) => this.keep(await first, ports, setting)));
    const listening = await Promise.all(started.map(async (first) => (await first).port));
    return listening[0] ?? 0;
  }

  take(batch: readonly Recorded[]): void {
    const news = batch.filter(({ stream }) => !isCallStream(stream));
    const last = news.at(-1);
    if (last === undefined) return;
    for (const running of this.running) {
      running.sent = last.position;
      running.peer.send('news', news);
    }
  }

  /** Resolves true once every worker has taken what it was sent up to `position`, or false after `timeoutMs`. */
  reached(position: Position, timeoutMs: number): Promise<boolean> {
    if (this.isReached(position)) return Promise.resolve(true);
    return new Promise((resolve) => {
      const done = (reached: boolean): void => {
        clearTimeout(timer);
        this.waiters.delete(waiter);
        resolve(reached);
      };
      const timer = setTimeout(done, timeoutMs, false);
      const waiter: Waiter = { position, done };
      this.waiters.add(waiter);
    });
  }

  /** A tail that has reached what all of the node have reached. */
  following(tail: Tail): Tail {
    tail.add(this);
    const { reached } = tail;
    return {
      ...tail,
      reached: async (position, timeoutMs) => (await reached(position, timeoutMs)) && this.reached(position, timeoutMs),
    };
  }

  /** Whether one of them serves the call, or its outcome is on its way to the log. */
  has(callId: CallId): boolean {
    return this.calls.has(callId);
  }

  /**
   * Called when a worker has left calls behind: up to where in the log they are to be looked for, all known of them
   * noted.
   */
  whenLost(look: (upTo: Position) => void): void {
    this.lookForLost = look;
  }

  startNoting(notes: Pick<CallProgressNotes, 'note'>, warn: (error: unknown) => void): () => Promise<void> {
    return this.calls.startNoting(notes, warn);
  }

  /** Outcomes still on their way to the log. */
  pending(): number {
    let pending = 0;
    for (const meter of this.meters) pending += meter.pending();
    return pending;
  }

  /** New calls are refused from now on; who is under way may finish. */
  refuse(): void {
    this.stopping.abort();
    for (const { peer } of this.running) peer.send('refuse');
  }

  /** The same, and nobody new is listened to. Resolves when none is under way any more, in any of them. */
  async finish(): Promise<void> {
    this.stopping.abort();
    await Promise.all([...this.running].map(({ peer }) => peer.ask('finish').catch(() => {})));
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    for (const { peer } of this.running) peer.close();
    for (const { worker } of this.prepared.splice(0)) worker.process.kill('SIGKILL');
    const killing = setTimeout(() => {
      for (const { worker } of this.alive) worker.process.kill('SIGKILL');
    }, this.patience.endMs);
    await Promise.all([this.kept, ...[...this.alive].map(({ exited }) => exited)]);
    clearTimeout(killing);
  }

  private fork(): Process {
    const worker = cluster.fork();
    const exited = new Promise<string>((resolve) => {
      worker.once('exit', (code, signal) => {
        this.alive.delete(process);
        resolve(signal === null ? `it ended with code ${code}` : `it got ${signal}`);
      });
    });
    const process: Process = { worker, exited };
    this.alive.add(process);
    return process;
  }

  /** Resolves once it listens. */
  private async launch(
    { worker, exited }: Process,
    ports: RelayWorkersPorts,
    setting: WorkerSetting,
  ): Promise<{ readonly port: number; readonly ended: Promise<string> }> {
    const { log } = this.options;
    const calls = this.calls.enter();
    const meter = ports.meterOf(calls);
    this.meters.add(meter);
    const service = serveWorker({
      ...ports,
      meter,
      calls,
      onTaken: (position) => {
        running.taken = position;
        this.answerWaiters();
      },
    });
    const peer = new Peer<WorkerMethods>(worker.process.stdio[pipeAt] as Duplex, service.methods, (error) =>
      log.error({ err: error }, 'what a worker said could not be done'),
    );
    const { directory, position } = ports;
    const running: Running = { peer, meter, sent: position(), taken: position() };
    const unwatch = this.watch(worker, peer);
    // What it said before its end has been heard when the pipe is closed.
    const ended = Promise.all([exited, peer.closed]).then(([reason]) => {
      unwatch();
      this.running.delete(running);
      const hadCalls = service.end();
      this.answerWaiters();
      if (hadCalls && !this.stopping.signal.aborted) void this.reportLost(ports.head);
      return reason;
    });
    try {
      // From this moment on it is sent what happens.
      this.running.add(running);
      const { options, prices, ...known } = directory.snapshot(position());
      return {
        port: await peer.ask('begin', setting, { ...known, options: [...options], prices: [...prices] }),
        ended,
      };
    } catch (error) {
      peer.close();
      throw error;
    }
  }

  private async reportLost(head: () => Promise<Position>): Promise<void> {
    // Where they cannot be noted now, older notes make the outcome cost more to nobody but us.
    await this.calls.noted().catch(() => {});
    // Where the log does not say, they are found a minute later, with whatever else has no outcome then.
    const upTo = await head().catch(() => null);
    if (upTo !== null) this.lookForLost(upTo);
  }

  /** Ends it when it is stuck. Counted, not timed: a machine that was paused has not been left without an answer. */
  private watch(worker: Worker, peer: Peer<WorkerMethods>): () => void {
    let silent = 0;
    const polling = setInterval(() => {
      if (silent++ >= this.patience.unanswered) {
        this.options.log.error('a worker is stuck and is ended');
        worker.process.kill('SIGKILL');
      }
      peer.ask('alive').then(
        () => {
          silent = 0;
        },
        () => {},
      );
    }, this.patience.askMs).unref();
    return () => clearInterval(polling);
  }

  private async keep(
    first: { readonly ended: Promise<string> },
    ports: RelayWorkersPorts,
    setting: WorkerSetting,
  ): Promise<void> {
    const { log, lost } = this.options;
    const { signal } = this.stopping;
    for (let current: typeof first | null = first; !signal.aborted; ) {
      const reason: string = current === null ? 'it could not be started' : await current.ended;
      if (signal.aborted) return;
      log.error({ reason }, 'a worker has ended unasked; what it served is lost, and recovered');
      if (!this.crashes.bears()) return lost('Workers end again and again');
      await sleep(this.patience.restartMs, null, { signal }).catch(() => null);
      if (signal.aborted) return;
      current = await this.launch(this.fork(), ports, setting).catch((error: unknown) => {
        log.error({ err: error }, 'a worker could not be started');
        return null;
      });
    }
  }

  private isReached(position: Position): boolean {
    for (const { sent, taken } of this.running) if (taken < sent && taken < position) return false;
    return true;
  }

  private answerWaiters(): void {
    for (const waiter of this.waiters) if (this.isReached(waiter.position)) waiter.done(true);
  }
}
