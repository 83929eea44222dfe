import type { Logger } from 'pino';
import { type OpenDatabase, openDatabase } from '../adapters/database/open-database.js';
import { type Ending, openEnding } from '../application/ending.js';
import type { Config } from '../config.js';
import { allocateYoung } from '../process/allocation.js';
import { letHelpersWait } from '../process/thread-priorities.js';
import { ProjectingThread } from '../projecting/projecting-thread.js';

/*
 * What takes its time by itself: the database starts, and the thread of the projectors reads what it runs. Whoever serves
 * begins with it, before the rest of the code is read, which leaves the event loop no turn.
 */

export interface EarlyStart {
  readonly ending: Ending;
  readonly projections: ProjectingThread;
  /** Rejects with Failure `store-unavailable` when the database cannot be used. */
  readonly opening: Promise<OpenDatabase>;
}

interface EarlyStartOptions {
  /** Called when a database of our own has been started, and only takes its time until it answers. */
  readonly launched?: () => void;
  /** What runs in the thread of the projectors. Left out: what belongs to the code that asks, built or in source. */
  readonly projectingEntry?: URL;
}

export function startEarly(
  config: Pick<Config, 'database'>,
  log: Logger,
  { launched, projectingEntry }: EarlyStartOptions = {},
): EarlyStart {
  allocateYoung();
  letHelpersWait();
  const ending = openEnding();
  const projections = new ProjectingThread({
    log,
    ...(projectingEntry && { entry: projectingEntry }),
    lost(reason) {
      log.fatal({ reason }, 'this node can no longer keep its read models; it ends rather than serve stale ones');
      ending.begin(reason);
    },
  });
  return { ending, projections, opening: openDatabase(config.database, log, launched) };
}

/** Resolves as soon as there is nothing to do but wait, whatever comes of it. */
export function givenEarlyStart(config: Pick<Config, 'database'>, log: Logger): Promise<EarlyStart> {
  return new Promise((resolve) => {
    const begun = (): void => resolve(started);
    const started = startEarly(config, log, { launched: begun });
    started.opening.then(begun, begun);
  });
}
