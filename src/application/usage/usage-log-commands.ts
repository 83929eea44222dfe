import { type ClearedBy, usageLogDecider } from '../../domain/call/usage-log.js';
import { type Position, streams } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import { type Instant, unixSeconds } from '../../domain/kernel/instant.js';
import type { Actor } from '../../domain/user/user.js';
import type { ReadModels } from '../../projections/database.js';
import { usageLog } from '../../projections/models/usage-log/usage-log.js';
import { linesBefore, linesCleared } from '../../projections/models/usage-log/usage-log-clearing.js';
import { authorise } from '../authorise.js';
import type { Handle, Run } from '../handle.js';
import type { Tail } from '../memory/tail.js';
import type { Clock, ReadModelProgress } from '../ports/storage-ports.js';
import type { TaskStore } from '../ports/task-ports.js';

/*
 * Clearing the usage log: what is shown is trimmed, and what tasks of that time say and show is forgotten. Statistics, statements and balances stay as they are.
 */

interface UsageLogCommandPorts {
  readonly handle: Handle;
  readonly clock: Clock;
  readonly db: ReadModels;
  readonly progress: Pick<ReadModelProgress, 'reached'>;
  readonly tail: Pick<Tail, 'position'>;
  readonly taskContents: Pick<TaskStore, 'clear'>;
}

/** Longest it is waited for the log to hold what has happened, and for it to be cleared. */
const patienceMs = 10_000;

interface Cleared {
  /** How many were taken away. */
  readonly lines: number;
  readonly position: Position;
}

export function usageLogCommands({ handle, clock, db, progress, tail, taskContents }: UsageLogCommandPorts) {
  const holds = (position: Position): Promise<boolean> => progress.reached(position, patienceMs, [usageLog.name]);

  const clearedBy = async (by: ClearedBy, run: Run, before: Instant): Promise<Cleared> => {
    // Only a log that lacks nothing shows what there is to be cleared.
    if (!(await holds(tail.position()))) throw new Failure('store-unavailable');
    const { events, position } = await run(usageLogDecider, streams.usageLog, async () => ({
      type: 'ClearUsageLog',
      before,
      now: clock.now(),
      lines: await linesBefore(db, unixSeconds(before)),
      by,
    }));
    // Also where nothing of the log is left to be cleared: prompts are no lines.
    await taskContents.clear(before);
    if (events.length === 0) return { lines: 0, position };
    const lines = (await holds(position)) ? await linesCleared(db, position) : undefined;
    if (lines === undefined) throw new Failure('outcome-unknown');
    return { lines, position };
  };

  return {
    /**
     * Takes away what happened before, for everybody. Nothing is recorded where there is nothing to be taken. Throws
     * `invalid-field` for a moment to come, `store-unavailable` while the log is being rebuilt, and `outcome-unknown`
     * where it is going to be cleared and nobody can know yet how many lines that takes.
     */
    async clear(actor: Actor, before: Instant): Promise<Cleared> {
      authorise(actor, 'admin');
      return clearedBy(actor.id, handle.by(actor), before);
    },

    /** The same, because an option says so. */
    retain: (before: Instant): Promise<Cleared> => clearedBy('retention', handle, before),
  };
}

export type UsageLogCommands = ReturnType<typeof usageLogCommands>;
