import { setMaxListeners } from 'node:events';
import type { Client, Pool } from 'pg';
import { repeatedly } from '../../concurrency/repeatedly.js';
import { WakeUpSignal } from '../../concurrency/wake-up-signal.js';
import { beginning, type Position, type Recorded } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import { type Checkpoint, prepareReadModels, readCheckpoints } from './checkpoints.js';
import { LogWindow } from './log-window.js';
import { foldContext } from './newest.js';
import type { News } from './news.js';
import type { EventFeed, Projection, ProjectionContext } from './projection.js';
import { faultOf, Projector } from './projector.js';
import { wantedChannel } from './projector-connection.js';
import type { ProjectorLog, ProjectorPace } from './projector-pace.js';
import { quarantinedFor } from './quarantine.js';

/* All read models on one node: starts their projectors, knows how far each has come, and notifies those who wait. */

export interface RunnerOptions {
  readonly projections: readonly Projection[];
  readonly feed: EventFeed;
  /** Reports what is appended after the start, until the signal aborts. */
  readonly news: (signal: AbortSignal) => AsyncIterable<News>;
  /** For looking at checkpoints. */
  readonly pool: Pool;
  /** A new client, not yet connected: each model this node leads has a connection of its own. */
  readonly newClient: () => Client;
  readonly context: ProjectionContext;
  readonly log: ProjectorLog;
  readonly committed?: (model: string, batch: readonly Recorded[]) => void;
  /** Called whenever `status` may have changed. */
  readonly changed?: () => void;
  readonly pace?: Partial<RunnerPace>;
}

interface RunnerPace extends ProjectorPace {
  /** Between two looks at the table of checkpoints; what it takes to notice a dead leader. */
  readonly pollMs: number;
  /** The same while somebody waits for a model that another node projects. */
  readonly impatientPollMs: number;
  /** Events kept in memory for all projectors together. */
  readonly windowSize: number;
}

const usualPace: RunnerPace = {
  batchSize: 5_000,
  lingerMs: 400,
  idleCheckpointMs: 5_000,
  idleCheckpointEvents: 10_000,
  retryMs: 1_000,
  pollMs: 1_000,
  impatientPollMs: 20,
  windowSize: 32_000,
};

export interface ReadModelState {
  readonly name: string;
  readonly version: number;
  readonly position: Position;
  /** The newest position in the log, as far as this node knows. */
  readonly head: Position;
  /** This node projects it. */
  readonly leading: boolean;
  /** `building`: it was far behind when the runner started, and has not come to where the log ended then. */
  readonly status: Checkpoint['status'] | 'building';
  readonly failure: Checkpoint['failure'];
  /** What stopped it is an event of a newer release: nobody may pass it, so the node must end. */
  readonly unreadable: boolean;
  /** Events it leaves out because somebody decided so; known to the node that projects it. */
  readonly quarantined: number;
}

export interface ProjectionRunner {
  /**
   * Resolves true once every read model, or each of those named, holds `position`, or false after `timeoutMs`; false at
   * once when models that are stopped, or shown while they are being built, are all there is left to wait for.
   */
  reached(position: Position, timeoutMs: number, names?: readonly string[]): Promise<boolean>;
  /** Resolves once the read model has passed `position` where it may be stopped now, or after `timeoutMs`. */
  passed(name: string, position: Position, timeoutMs: number): Promise<boolean>;
  /**
   * Resolves once every read model that something is decided by, and that is not stopped, has come to where the log ended
   * when the runner started. Rejects with UnreadableEvent where one of them met an event of a newer release: nobody else
   * must pass it either.
   */
  caughtUp(): Promise<void>;
  status(): readonly ReadModelState[];
  /** Finishes the batches under way and gives the models to other nodes. */
  stop(): Promise<void>;
}

interface Waiter {
  readonly position: Position;
  readonly projectors: readonly Projector[];
  /** Waits also for those that are stopped: they are about to go on. */
  readonly hopeful: boolean;
  readonly done: (reached: boolean) => void;
}

/** Makes the tables that are missing and starts folding; see `caughtUp` for when they may be read. */
export async function startProjections(options: RunnerOptions): Promise<ProjectionRunner> {
  await prepareReadModels(options.pool, options.projections);
  // In this order: what is projected meanwhile lies before the head that is asked for afterwards.
  const checkpoints = await readCheckpoints(options.pool);
  const head = await options.feed.head();
  for (const projection of options.projections) mustBeOfThisLog(projection, checkpoints, head);
  const runner = new Runner(options, head);
  await runner.start();
  return runner;
}

/** Throws `store-unavailable` for a read model that has folded more than there is: what it shows happened elsewhere. */
function mustBeOfThisLog({ name, version }: Projection, checkpoints: readonly Checkpoint[], head: Position): void {
  const checkpoint = checkpoints.find((row) => row.name === name && row.version === version);
  if (checkpoint === undefined || checkpoint.position <= head) return;
  throw new Failure('store-unavailable', {
    reason:
      `The read model ${name} (version ${version}) is at position ${checkpoint.position}, but the log ends at ${head}: ` +
      'it was made from another log, or the log was restored without it. Make it anew with ' +
      `"npm run replay -- --model ${name.replaceAll('_', '-')}", and start again.`,
  });
}

class Runner implements ProjectionRunner {
  private readonly pace: RunnerPace;
  private readonly window: LogWindow;
  private readonly projectors: readonly Projector[];
  /** Those that were far behind at the start, until they have come to where the log ended then. */
  private readonly building = new Set<Projector>();
  private readonly waiters = new Set<Waiter>();
  private readonly abort = new AbortController();
  private readonly pollBell = new WakeUpSignal();
  private running: Promise<unknown> = Promise.resolve();
  private firstCatchUp: Promise<unknown> = Promise.resolve();

  /** `head`: where the log ends now. */
  constructor(
    private readonly options: RunnerOptions,
    private readonly head: Position,
  ) {
    const { projections, feed, newClient, context, log, committed = () => {} } = options;
    this.pace = { ...usualPace, ...options.pace };
    this.window = new LogWindow(feed, head, { pageSize: this.pace.batchSize, capacity: this.pace.windowSize });
    this.projectors = projections.map((projection) => {
      const projector: Projector = new Projector({
        projection,
        window: this.window,
        quarantined: () => quarantinedFor(feed, projection),
        newClient,
        context: (quarantined) => foldContext(context, feed, projection, quarantined),
        pace: this.pace,
        log,
        wanted: () => this.wantedOf(projector),
        changed: () => this.changed(),
        committed,
      });
      return projector;
    });
  }

  async start(): Promise<void> {
    await this.observe();
    // What fits into one batch is folded before a reader could be answered that it is missing.
    for (const projector of this.projectors)
      if (this.options.feed.estimateBetween(projector.position, this.head) > this.pace.batchSize)
        this.building.add(projector);
    const { signal } = this.abort;
    // Each read model listens, and whatever waits for news; Node warns of more than ten.
    setMaxListeners(0, signal);
    this.running = Promise.all([
      repeatedly(signal, this.pollBell, () => this.poll()),
      this.follow(),
      ...this.projectors.map((projector) => projector.run(signal)),
    ]);
    const deciding = this.projectors.filter(({ projection }) => projection.purpose === 'deciding');
    this.firstCatchUp = this.wait(this.head, null, deciding);
  }

  reached(position: Position, timeoutMs: number, names?: readonly string[]): Promise<boolean> {
    return this.wait(
      position,
      timeoutMs,
      names === undefined ? this.projectors : names.map((name) => this.named(name)),
    );
  }

  passed(name: string, position: Position, timeoutMs: number): Promise<boolean> {
    return this.wait(position, timeoutMs, [this.named(name)], true);
  }

  async caughtUp(): Promise<void> {
    await this.firstCatchUp;
    for (const { unreadable } of this.projectors) if (unreadable !== null) throw unreadable;
  }

  status(): readonly ReadModelState[] {
    return this.projectors.map((projector) => ({
      name: projector.projection.name,
      version: projector.projection.version,
      position: projector.position,
      head: this.window.newest,
      leading: projector.leading,
      status: projector.stopped ? 'stopped' : this.building.has(projector) ? 'building' : 'running',
      failure: projector.failure,
      unreadable: projector.stopped && projector.unreadable !== null,
      quarantined: projector.quarantined.size,
    }));
  }

  async stop(): Promise<void> {
    this.abort.abort();
    for (const waiter of this.waiters) waiter.done(false);
    await this.running;
  }

  private named(name: string): Projector {
    const found = this.projectors.find(({ projection }) => projection.name === name);
    if (found === undefined) throw new Error(`There is no read model ${name}`);
    return found;
  }

  /** `timeoutMs` null: as long as it takes. */
  private wait(
    position: Position,
    timeoutMs: number | null,
    projectors: readonly Projector[],
    hopeful = false,
  ): Promise<boolean> {
    return new Promise((resolve) => {
      const waiter: Waiter = {
        position,
        projectors,
        hopeful,
        done: (reached) => {
          clearTimeout(timer);
          this.waiters.delete(waiter);
          resolve(reached);
        },
      };
      const timer = timeoutMs === null ? undefined : setTimeout(() => waiter.done(false), timeoutMs);
      this.waiters.add(waiter);
      this.answerWaiters();
      if (this.waiters.has(waiter)) this.hurry(waiter);
    });
  }

  /** Wakes whoever is behind the position, here or on other nodes. */
  private hurry({ position, projectors }: Waiter): void {
    const behind = projectors.filter((projector) => projector.position < position);
    for (const projector of behind) projector.wake();
    if (behind.some(({ leading }) => !leading)) this.pollBell.ring();
  }

  /** Wakes the leaders on other nodes. Where this fails the batch merely comes later, when its leader has rested. */
  private async askOthers(position: Position): Promise<void> {
    await this.options.pool.query('select pg_notify($1, $2)', [wantedChannel, String(position)]).catch(() => {});
  }

  /** The newest position somebody waits for this projector to reach. */
  private wantedOf(projector: Projector): Position {
    let newest = beginning;
    for (const { position, projectors } of this.waiters)
      if (position > newest && projectors.includes(projector)) newest = position;
    return newest;
  }

  private changed(): void {
    for (const projector of this.building) if (projector.position >= this.head) this.building.delete(projector);
    this.answerWaiters();
    this.options.changed?.();
  }

  private answerWaiters(): void {
    for (const waiter of this.waiters) {
      const behind = waiter.projectors.filter(({ position }) => position < waiter.position);
      if (behind.length === 0) waiter.done(true);
      else if (!waiter.hopeful && behind.every((projector) => this.mayTakeLong(projector))) waiter.done(false);
    }
  }

  /** Nobody is kept waiting for a model that is stopped, or that is shown as far as it has been built. */
  private mayTakeLong(projector: Projector): boolean {
    return projector.stopped || (this.building.has(projector) && projector.projection.purpose === 'showing');
  }

  private async poll(): Promise<number> {
    await this.observe().catch((error: unknown) =>
      this.options.log.warn({ reason: faultOf(error) }, 'checkpoints cannot be read'),
    );
    let wanted = beginning;
    for (const projector of this.projectors) {
      const position = projector.leading ? beginning : this.wantedOf(projector);
      if (position > projector.position && position > wanted) wanted = position;
    }
    if (wanted === beginning) return this.pace.pollMs;
    // Each time anew: the leader asked last time may be gone, and its successor knows of nobody who waits.
    await this.askOthers(wanted);
    return this.pace.impatientPollMs;
  }

  private async observe(): Promise<void> {
    const checkpoints = await readCheckpoints(this.options.pool);
    for (const projector of this.projectors) {
      const { name, version } = projector.projection;
      const checkpoint = checkpoints.find((row) => row.name === name && row.version === version);
      if (checkpoint !== undefined) projector.observe(checkpoint);
    }
  }

  private async follow(): Promise<void> {
    for await (const { head, quarantined } of this.options.news(this.abort.signal)) {
      this.window.skipTo(head);
      for (const projector of this.projectors) {
        projector.arrived();
        if (quarantined && projector.stopped) projector.wake();
      }
    }
  }
}
