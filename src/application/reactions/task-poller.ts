import { repeatAfter } from '../../concurrency/at-intervals.js';
import { Semaphore } from '../../concurrency/semaphore.js';
import type { TaskId } from '../../domain/kernel/ids.js';
import type { KnownProgress, TaskFailureReason } from '../../domain/task/task.js';
import type { Clock } from '../ports/storage-ports.js';
import type {
  AskedTasks,
  OpenTask,
  OpenTasks,
  TaskSource,
  TaskTerms,
  TaskUpstreams,
  UnreachedTasks,
} from '../ports/task-poll-ports.js';
import type { TaskObservation } from '../ports/task-ports.js';
import { TaskAges } from './task-ages.js';
import { sourceKey, TaskLooks } from './task-looks.js';

/*
 * Asks upstreams how far tasks are, from when they have taken them to their end. What is open is read anew in each round,
 * so that a process that dies leaves nothing behind; a task's own stream sees to it that it has one end.
 */

interface TaskPollerPorts {
  readonly open: OpenTasks;
  readonly upstreams: TaskUpstreams;
  /** See Tasks. `known`: how far it was when it was read. */
  readonly observe: (taskId: TaskId, seen: TaskObservation, known: KnownProgress) => Promise<void>;
  readonly clock: Clock;
  /** Milliseconds that never go back. */
  readonly uptimeMs: () => number;
  /** Between two rounds. */
  readonly everyMs: number;
  readonly log: {
    info(facts: object, message: string): void;
    warn(facts: object, message: string): void;
  };
}

const pageSize = 1_000;
/** Requests at a time, of all channels; those of callers who look are counted apart. */
const requestsAtOnce = 4;
const looksAtOnce = 8;
const maxPauseMs = 5 * 60_000;
/** An upstream gets so long of this process to be asked, whatever the age of its tasks: a clock may be wrong. */
const minTriedMs = 10 * 60_000;
/** Of tasks whose wire is not known any more: the longest limit that there is. */
const maxLimitMs = 24 * 60 * 60_000;
/** In a row, by which what an upstream stumbles over among fifty tasks is found; more are no one task's fault. */
const maxRefusals = 8;

/** One that could not be reached. */
interface Silence {
  readonly pauseMs: number;
  readonly until: number;
}

const ended = (upstreamId: string, reason: TaskFailureReason): TaskObservation => ({
  ...{ upstreamId, status: 'failed', reason, progress: null, startedAt: null, finishedAt: null },
  content: { urls: [] },
});

export class TaskPoller {
  private readonly requests = new Semaphore(requestsAtOnce);
  private readonly looks = new Semaphore(looksAtOnce);
  private readonly ages: TaskAges;
  private readonly silent = new Map<string, Silence>();
  /** Sources that are being asked in a round. */
  private readonly polled = new Map<string, Promise<void>>();
  private readonly taskLooks: TaskLooks;
  private stopped = false;

  constructor(private readonly ports: TaskPollerPorts) {
    const { open, clock, uptimeMs, log } = ports;
    this.ages = new TaskAges(() => clock.now(), uptimeMs);
    this.taskLooks = new TaskLooks({
      find: (taskId) => open.find(taskId),
      mayAsk: (source) => !this.stopped && !this.isSilent(sourceKey(source)),
      ask: (source, tasks) => this.askAll(source, tasks, this.looks),
      failed: (error, taskId) => log.warn({ err: error, taskId }, 'a task cannot be looked at now'),
      uptimeMs,
    });
  }

  /** Asks again and again. The result stops it. */
  start(): () => Promise<void> {
    const { everyMs } = this.ports;
    const stop = repeatAfter(everyMs, async () => {
      await this.round().catch((error: unknown) =>
        this.ports.log.warn({ err: error }, 'open tasks cannot be read now; it is tried again'),
      );
      return everyMs;
    });
    return async () => {
      this.stopped = true;
      await stop();
      await Promise.all([...this.polled.values(), this.taskLooks.settled()]);
    };
  }

  /** Reads what is open, and has all sources asked that are neither silent nor being asked. */
  async round(): Promise<void> {
    const sources = new Map<string, { readonly source: TaskSource; readonly tasks: OpenTask[] }>();
    const known = new Set<TaskId>();
    for (let after: TaskId | null = null; ; ) {
      const page: readonly OpenTask[] = await this.ports.open.page(after, pageSize);
      for (const task of page) {
        known.add(task.taskId);
        const key = sourceKey(task);
        const { channelId, platform } = task;
        const group = sources.get(key);
        if (group === undefined) sources.set(key, { source: { channelId, platform }, tasks: [task] });
        else group.tasks.push(task);
      }
      after = page.at(-1)?.taskId ?? null;
      if (page.length < pageSize || after === null) break;
    }
    this.ages.keep(known);
    this.taskLooks.keep(known);
    for (const key of this.silent.keys()) if (!sources.has(key)) this.silent.delete(key);
    for (const [key, { source, tasks }] of sources) this.poll(key, source, tasks);
  }

  /** Resolves when all that the last round began is done. */
  async settled(): Promise<void> {
    await Promise.all(this.polled.values());
  }

  /** See Tasks. */
  look(taskId: TaskId): Promise<void> {
    return this.taskLooks.look(taskId);
  }

  private isSilent(key: string): boolean {
    return (this.silent.get(key)?.until ?? 0) > this.ports.uptimeMs();
  }

  /** One at a time of each source. Never throws. */
  private poll(key: string, source: TaskSource, tasks: readonly OpenTask[]): void {
    if (this.stopped || this.polled.has(key)) return;
    const work = this.isSilent(key) ? this.failOverdue(source, tasks) : this.askAll(source, tasks, this.requests);
    const polled = work
      .catch((error: unknown) => this.ports.log.warn({ err: error, ...source }, 'tasks cannot be followed now'))
      .finally(() => this.polled.delete(key));
    this.polled.set(key, polled);
  }

  /**
   * In batches, one after the other. One that is refused is asked about in two: what an upstream stumbles over must not
   * hide how the others are. No further one where it cannot be reached, or refuses again and again.
   */
  private async askAll(source: TaskSource, tasks: readonly OpenTask[], places: Semaphore): Promise<void> {
    const terms = this.ports.upstreams.terms(source.channelId, source.platform);
    if (terms === 'gone') return this.failAll(tasks, 'channel-gone');
    if (terms === 'unasked') return this.failOverdue(source, tasks);
    const batches: (readonly OpenTask[])[] = [];
    for (let from = 0; from < tasks.length; from += terms.batch) batches.push(tasks.slice(from, from + terms.batch));
    const refused: OpenTask[] = [];
    let refusals = 0;
    for (let batch = batches.shift(); batch !== undefined && !this.stopped; batch = batches.shift()) {
      // It may have become silent while others had all places.
      const answer = await places.take(async () =>
        this.isSilent(sourceKey(source)) ? null : this.askBatch(source, batch),
      );
      if (answer === null) return this.failOverdue(source, [...refused, ...batch, ...batches.flat()]);
      if (answer.kind === 'seen') {
        refusals = 0;
        await this.noteAll(batch, answer.tasks, terms);
      } else if (answer.kind === 'unreached' || ++refusals > maxRefusals) {
        this.wait(source, answer.why);
        return this.failOverdue(source, [...refused, ...batch, ...batches.flat()]);
      } else if (batch.length === 1) refused.push(...batch);
      else {
        const half = Math.ceil(batch.length / 2);
        batches.unshift(batch.slice(0, half), batch.slice(half));
      }
    }
    if (refused.length === tasks.length) this.wait(source, 'it refuses to answer');
    await this.failOverdue(source, refused);
  }

  private async askBatch(source: TaskSource, batch: readonly OpenTask[]): Promise<AskedTasks> {
    const { upstreams, log } = this.ports;
    const { channelId, platform } = source;
    const answer = await upstreams.ask(channelId, platform, batch).catch((error: unknown): UnreachedTasks => {
      log.warn({ err: error, ...source }, 'an upstream could not be asked about its tasks');
      return { kind: 'unreached', why: 'the question failed here' };
    });
    if (answer.kind === 'seen') this.heard(source);
    return answer;
  }

  /** What is written keeps no request waiting. */
  private async noteAll(
    batch: readonly OpenTask[],
    observations: readonly TaskObservation[],
    { limitMs }: TaskTerms,
  ): Promise<void> {
    const seen = new Map(observations.map((task) => [task.upstreamId, task]));
    for (const task of batch) {
      const observation = seen.get(task.upstreamId);
      if (observation !== undefined) await this.noted(task, observation);
      const atEnd = observation?.status === 'succeeded' || observation?.status === 'failed';
      if (!atEnd && this.isOverdue(task, limitMs)) await this.timeOut(task);
    }
  }

  private isOverdue(task: OpenTask, limitMs: number): boolean {
    const { ageMs, knownMs } = this.ages.of(task);
    return ageMs > limitMs && knownMs >= minTriedMs;
  }

  private wait(source: TaskSource, why: string): void {
    const key = sourceKey(source);
    // Those that were asked at the same time have been silent once.
    if (this.isSilent(key)) return;
    const before = this.silent.get(key);
    const pauseMs = before === undefined ? this.ports.everyMs : Math.min(before.pauseMs * 2, maxPauseMs);
    this.silent.set(key, { pauseMs, until: this.ports.uptimeMs() + pauseMs });
    if (before === undefined)
      this.ports.log.warn({ ...source, why }, 'an upstream cannot be asked about its tasks; it is asked less often');
  }

  private heard(source: TaskSource): void {
    if (this.silent.delete(sourceKey(source)))
      this.ports.log.info({ ...source }, 'an upstream can be asked about its tasks again');
  }

  /** Of tasks that nobody can be asked about. */
  private async failOverdue({ channelId, platform }: TaskSource, tasks: readonly OpenTask[]): Promise<void> {
    const terms = this.ports.upstreams.terms(channelId, platform);
    if (terms === 'gone') return this.failAll(tasks, 'channel-gone');
    const limitMs = terms === 'unasked' ? maxLimitMs : terms.limitMs;
    for (const task of tasks) if (this.isOverdue(task, limitMs)) await this.timeOut(task);
  }

  private async failAll(tasks: readonly OpenTask[], reason: TaskFailureReason): Promise<void> {
    for (const task of tasks) await this.noted(task, ended(task.upstreamId, reason));
  }

  private timeOut(task: OpenTask): Promise<void> {
    const { taskId, channelId, platform } = task;
    this.ports.log.info({ taskId, channelId, platform }, 'a task is at no end after its time, and fails');
    return this.noted(task, ended(task.upstreamId, 'timed-out'));
  }

  /** What cannot be written now is seen again in the next round. */
  private async noted({ taskId, known }: OpenTask, seen: TaskObservation): Promise<void> {
    try {
      await this.ports.observe(taskId, seen, known);
    } catch (error) {
      this.ports.log.warn({ err: error, taskId }, 'what became of a task cannot be written now; it is tried again');
    }
  }
}
