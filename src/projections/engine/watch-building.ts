import { repeatedly } from '../../concurrency/repeatedly.js';
import { WakeUpSignal } from '../../concurrency/wake-up-signal.js';
import { beginning, type Position } from '../../domain/events/events.js';
import { type EventFeed, schemaOf } from './projection.js';
import type { ProjectorLog } from './projector-pace.js';
import type { ProjectionRunner, ReadModelState } from './runner.js';

/*
 * Read models on their way to where the log ended when the node started. One whose fold has changed needs a quarter of
 * an hour for ten million calls; the operator is informed, and what it replaces stays until it is there.
 */

interface WatchOptions {
  readonly progress: Pick<ProjectionRunner, 'status'>;
  readonly feed: Pick<EventFeed, 'estimateBetween'>;
  /** Where the log ended when the node started. */
  readonly head: Position;
  /** Drops what is left of older versions, except of these read models; resolves with what it dropped. */
  readonly dropOld: (kept: ReadonlySet<string>) => Promise<readonly string[]>;
  /** Called with why nobody may go on: a read model has met an event of a newer release. */
  readonly unreadable: (reason: string) => void;
  readonly log: ProjectorLog;
  readonly lookMs?: number;
  /** Between two lines on how far a read model is. */
  readonly sayMs?: number;
}

interface Build {
  readonly from: Position;
  readonly startedAt: number;
  saidAt: number;
}

/** How much of the log it holds, about and rounded down; 100 only where that is all of it. */
export function percentOf(
  { position, head }: Pick<ReadModelState, 'position' | 'head'>,
  feed: Pick<EventFeed, 'estimateBetween'>,
): number {
  if (position >= head) return 100;
  const events = feed.estimateBetween(beginning, head);
  return Math.min(99, Math.floor((feed.estimateBetween(beginning, position) * 100) / events));
}

/** Ends by itself when all of them have come so far; the result ends it before. */
export function watchBuilding(options: WatchOptions): () => Promise<void> {
  const { progress, feed, head, dropOld, unreadable, log, lookMs = 1_000, sayMs = 60_000 } = options;
  const builds = new Map<string, Build>();
  const stopping = new AbortController();
  let kept: ReadonlySet<string> | null = null;
  let dropAgainAt = 0;

  const report = (state: ReadModelState): void => {
    const { name, position } = state;
    const readModel = schemaOf(state);
    const build = builds.get(name);
    const now = Date.now();
    if (build === undefined) {
      if (state.status !== 'building') return;
      builds.set(name, { from: position, startedAt: now, saidAt: now });
      const events = feed.estimateBetween(position, state.head);
      log.info({ readModel, events }, 'a read model is being built from the log; what is read from it is incomplete');
    } else if (position >= head) {
      builds.delete(name);
      const events = feed.estimateBetween(build.from, position);
      log.info(
        { readModel, events, seconds: Math.ceil((now - build.startedAt) / 1_000) },
        'a read model has been built',
      );
    } else if (now - build.saidAt >= sayMs && state.failure === null) {
      build.saidAt = now;
      log.info({ readModel, percent: percentOf(state, feed) }, 'a read model is being built');
    }
  };

  const drop = async (behind: ReadonlySet<string>): Promise<void> => {
    if (kept?.size === behind.size || Date.now() < dropAgainAt) return;
    try {
      const dropped = await dropOld(behind);
      kept = behind;
      if (dropped.length > 0) log.info({ dropped }, 'older versions of read models have been dropped');
    } catch (error) {
      dropAgainAt = Date.now() + sayMs;
      log.warn({ err: error }, 'older versions of read models cannot be dropped now; it is tried again');
    }
  };

  const round = async (): Promise<number> => {
    const states = progress.status();
    for (const state of states) report(state);
    const met = states.find((state) => state.unreadable);
    if (met !== undefined) {
      stopping.abort();
      unreadable(met.failure?.error ?? '');
      return 0;
    }
    const behind = states.filter(({ position }) => position < head).map(({ name }) => name);
    await drop(new Set(behind));
    if (kept?.size === 0) stopping.abort();
    return lookMs;
  };

  const wakeUp = new WakeUpSignal();
  const watching = repeatedly(stopping.signal, wakeUp, round);
  return () => {
    stopping.abort();
    return watching;
  };
}
