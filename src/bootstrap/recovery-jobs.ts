import type { Handle } from '../application/handle.js';
import type { Tail } from '../application/memory/tail.js';
import type { CallProgressNotes, QuotaGate, ReadModelProgress } from '../application/ports/storage-ports.js';
import type { TaskStore } from '../application/ports/task-ports.js';
import { runRecovery } from '../application/reactions/recovery.js';
import type { Position } from '../domain/events/events.js';
import type { ReadModels } from '../projections/database.js';
import { openCalls } from '../projections/models/ledger/ledger-queries.js';
import type { InFlightCalls } from '../relay/metering/in-flight-calls.js';
import type { NodeStart } from './node-start.js';

/** Between two looks for calls that nobody serves and that have no outcome. */
const recoveryPauseMs = 60_000;

interface RecoveryJobs {
  readonly db: ReadModels;
  readonly handle: Handle;
  readonly gate: Pick<QuotaGate, 'chargeLeft'>;
  readonly tail: Pick<Tail, 'position'>;
  readonly progress: ReadModelProgress;
  readonly notes: CallProgressNotes;
  readonly taskStore: Pick<TaskStore, 'byCalls'>;
  readonly inFlight: Pick<InFlightCalls, 'has'>;
  /** Calls `look` with up to where calls have just been left by whoever served them. */
  readonly whenLost: (look: (upTo: Position) => void) => void;
  /** The end of the log as this process began. */
  readonly began: Position;
}

/** Calls without an outcome that nobody serves any more. Resolves once they have been looked for. */
export async function startRecovery({ clock, log, closing }: NodeStart, jobs: RecoveryJobs): Promise<void> {
  const { db, handle, gate, tail, progress, notes, taskStore: tasks, inFlight, whenLost, began } = jobs;
  const recovering = await runRecovery(
    {
      openCalls: (range) => openCalls(db, range),
      ...{ handle, clock, gate, notes, tasks },
      isInFlight: (callId) => inFlight.has(callId),
    },
    {
      progress,
      began,
      position: () => tail.position(),
      everyMs: recoveryPauseMs,
      recovered: ({ released, settled }) => log.warn({ released, settled }, 'ended calls that a process left open'),
      failed: (error) => log.error({ err: error }, 'calls left open could not be ended; it is tried again'),
      behind: () =>
        log.warn(
          'the ledger does not know all calls yet that an earlier process left open; it is asked again and again',
        ),
    },
  );
  closing.add(() => recovering.stop());
  whenLost((upTo) => recovering.look(upTo));
}
