import type { Pool } from 'pg';
import { postgresDetachedLog } from '../adapters/archives/detached-log.js';
import { postgresEventLines } from '../adapters/seals/event-lines.js';
import { postRepairs, RepairInterrupted } from '../application/audit/repair/post-repairs.js';
import type { PayerPorts } from '../application/audit/repair/repair-payers.js';
import { handle } from '../application/handle.js';
import type { Tail } from '../application/memory/tail.js';
import type { EventStore, ReactionCheckpoints } from '../application/ports/storage-ports.js';
import { runReactions } from '../application/reactions/run-reactions.js';
import { RecentFolds } from '../application/recent-folds.js';
import type { NodeStart } from './node-start.js';

/** Between two looks for repairs that were ordered. */
const pauseMs = 500;

/** Of calls that come once and never again, beside those of everybody else. */
const folds = { streams: 100, weight: 4 * 1024 * 1024 };

interface RepairJobs extends Pick<PayerPorts, 'gate' | 'directory'> {
  readonly store: EventStore;
  readonly tail: Tail;
  readonly checkpoints: ReactionCheckpoints;
  readonly pool: Pool;
}

/** Posts repairs that were ordered, those included that a node before this one left. By itself: it may take minutes. */
export async function startRepairs(
  { clock, log, closing }: NodeStart,
  { checkpoints, pool, ...ports }: RepairJobs,
): Promise<void> {
  const { store, tail } = ports;
  let isStopping = false;
  const reaction = postRepairs({
    ...ports,
    lines: postgresEventLines(pool),
    archives: postgresDetachedLog(pool),
    handle: handle(store, clock, new RecentFolds(store, folds)),
    isStopping: () => isStopping,
  });
  const stop = await runReactions({ store, tail, checkpoints }, [reaction], {
    everyMs: pauseMs,
    failed: (error) => {
      if (!(error instanceof RepairInterrupted)) log.error({ err: error }, 'a price repair failed; it is tried again');
    },
  });
  closing.add(() => {
    isStopping = true;
    return stop();
  });
}
