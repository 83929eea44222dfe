import { setTimeout as sleep } from 'node:timers/promises';
import { MessageChannel, Worker } from 'node:worker_threads';
import type { Log } from '../adapters/log.js';
import { RestartBudget } from '../concurrency/restart-budget.js';
import { isTransient } from '../domain/errors/transient-error.js';
import type { Position } from '../domain/events/events.js';
import { type NewsSource, newsOf } from '../projections/engine/news.js';
import { RemoteRunner } from '../projections/engine/remote-runner.js';
import type { ProjectionRunner, ReadModelState } from '../projections/engine/runner.js';
import type { FromThread, ThreadSetting, ToThread } from './thread-messages.js';

/*
 * Starts the thread of the projectors and keeps it running: when it ends unasked, another one goes on from the
 * checkpoints. One that keeps ending is a reason to end the node, which must not go on with read models nobody keeps.
 */

export interface ThreadPatience {
  /** Before another thread is started. */
  readonly restartMs: number;
  /** Threads that may end unasked within `crashesWithinMs`. */
  readonly crashes: number;
  readonly crashesWithinMs: number;
  /** Between two questions whether it is stuck, and how many of them it may leave unanswered. */
  readonly askMs: number;
  readonly unanswered: number;
  /** What batches under way may take when it is told to stop. */
  readonly stopMs: number;
}

const usualPatience: ThreadPatience = {
  restartMs: 1_000,
  crashes: 5,
  crashesWithinMs: 10 * 60_000,
  askMs: 5_000,
  unanswered: 12,
  stopMs: 30_000,
};

interface ProjectingThreadOptions {
  readonly log: Log;
  /** Called when no thread is started any more: nobody keeps the read models. */
  readonly lost: (reason: string) => void;
  /** What runs in the thread. */
  readonly entry?: URL;
  readonly patience?: Partial<ThreadPatience>;
}

const isSource = import.meta.url.endsWith('.ts');
const ownEntry = new URL(isSource ? './thread-from-source.cjs' : './thread.js', import.meta.url);

interface Running {
  readonly worker: Worker;
  /** Resolves with the reason when it has ended. */
  readonly ended: Promise<Error>;
}

/** The thread begins at once to load what it will run, while the gateway makes ready what `start` needs. */
export class ProjectingThread implements ProjectionRunner {
  private readonly patience: ThreadPatience;
  private readonly stopping = new AbortController();
  private running: Running | null;
  private remote: RemoteRunner | null = null;
  private supervising: Promise<void> = Promise.resolve();
  private stopped: Promise<void> | null = null;
  private readonly crashes: RestartBudget;

  constructor(private readonly options: ProjectingThreadOptions) {
    this.patience = { ...usualPatience, ...options.patience };
    this.crashes = new RestartBudget(this.patience.crashes, this.patience.crashesWithinMs);
    this.running = this.spawn();
  }

  /** Resolves once the projectors run; rejects with what keeps them from it. */
  async start(store: NewsSource, setting: ThreadSetting): Promise<void> {
    const { log } = this.options;
    const remote = new RemoteRunner((signal) =>
      newsOf(store, signal, {
        broke: (error) => log.warn({ err: error }, 'the subscription of the projectors broke off'),
      }),
    );
    this.remote = remote;
    this.running = await this.launch(remote, setting, this.running ?? this.spawn());
    this.supervising = this.supervise(remote, setting);
  }

  reached(position: Position, timeoutMs: number, names?: readonly string[]): Promise<boolean> {
    return this.started().reached(position, timeoutMs, names);
  }

  passed(name: string, position: Position, timeoutMs: number): Promise<boolean> {
    return this.started().passed(name, position, timeoutMs);
  }

  caughtUp(): Promise<void> {
    return this.started().caughtUp();
  }

  status(): readonly ReadModelState[] {
    return this.started().status();
  }

  stop(): Promise<void> {
    this.stopped ??= this.shutDown();
    return this.stopped;
  }

  private started(): RemoteRunner {
    if (this.remote === null) throw new Error('The projectors have not been started');
    return this.remote;
  }

  private async shutDown(): Promise<void> {
    this.stopping.abort();
    await this.remote?.stop();
    const timeout = setTimeout(() => {
      this.options.log.warn('the projectors do not come to an end; their batches are given up');
      void this.running?.worker.terminate();
    }, this.patience.stopMs);
    await this.supervising;
    clearTimeout(timeout);
    // One that has never begun waits for ever.
    await this.running?.worker.terminate();
  }

  private spawn(): Running {
    const worker = new Worker(this.options.entry ?? ownEntry, {
      name: 'projections',
      // What reads TypeScript here does not read it there.
      execArgv: isSource ? [] : undefined,
    });
    return { worker, ended: this.watched(worker) };
  }

  /** Resolves once the projectors have started in this thread. */
  private async launch(remote: RemoteRunner, setting: ThreadSetting, running: Running): Promise<Running> {
    const { worker, ended } = running;
    const { port1, port2 } = new MessageChannel();
    const started = remote.connect(port1);
    worker.postMessage({ kind: 'begin', setting, runner: port2 } satisfies ToThread, [port2]);
    void ended.then(() => port1.close());
    try {
      await Promise.race([started, ended.then((reason) => Promise.reject(reason))]);
      return running;
    } catch (error) {
      await worker.terminate();
      throw error;
    }
  }

  /** Writes what it logs, and ends it when it is stuck. */
  private watched(worker: Worker): Promise<Error> {
    const { log } = this.options;
    const { askMs, unanswered } = this.patience;
    let reason: Error | null = null;
    let silent = 0;
    worker.on('message', (message: FromThread) => {
      if (message.kind === 'alive') silent = 0;
      else log[message.level](message.facts, message.message);
    });
    worker.on('error', (error) => {
      reason = error;
    });
    // Counted, not timed: a process that was paused has not been left without an answer.
    const polling = setInterval(() => {
      if (silent++ < unanswered) return worker.postMessage({ kind: 'ask' } satisfies ToThread);
      reason = new Error(`The thread of the projectors has not answered for ${(askMs * unanswered) / 1_000} s`);
      void worker.terminate();
    }, askMs);
    return new Promise((resolve) => {
      worker.on('exit', (code) => {
        clearInterval(polling);
        resolve(reason ?? new Error(`The thread of the projectors ended with code ${code}`));
      });
    });
  }

  private async supervise(remote: RemoteRunner, setting: ThreadSetting): Promise<void> {
    while (this.running !== null) {
      const reason = await this.running.ended;
      this.running = null;
      if (this.stopping.signal.aborted) return;
      remote.disconnect();
      this.options.log.error({ err: reason }, 'the projectors have ended unasked');
      this.running = this.crashes.bears() ? await this.relaunch(remote, setting) : this.giveUp(remote, reason);
    }
  }

  /** Tries until the projectors run again; null: they must not, or shall not any more. */
  private async relaunch(remote: RemoteRunner, setting: ThreadSetting): Promise<Running | null> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      await sleep(this.patience.restartMs, null, { signal }).catch(() => null);
      if (signal.aborted) return null;
      try {
        const running = await this.launch(remote, setting, this.spawn());
        if (!signal.aborted) return running;
        await running.worker.terminate();
      } catch (error) {
        this.options.log.warn({ err: error }, 'the projectors could not be started anew');
        // A database that is away is waited for, here as elsewhere.
        if (!isTransient(error) && !this.crashes.bears()) return this.giveUp(remote, error);
      }
    }
    return null;
  }

  private giveUp(remote: RemoteRunner, cause: unknown): null {
    const reason = `The read models cannot be kept any more: ${cause instanceof Error ? cause.message : String(cause)}`;
    remote.giveUp(new Error(reason, { cause }));
    this.options.lost(reason);
    return null;
  }
}
