import type pg from 'pg';
import type { Logger } from 'pino';
import { postgresReactionPlaces } from './adapters/reaction-places.js';
import type { Handle } from './application/commands/handle.js';
import type { Tail } from './application/memory/tail.js';
import type {
  CallProgressNotes,
  Clock,
  EventStore,
  PersonalData,
  ReadModelProgress,
  Vault,
} from './application/ports.js';
import { dropSecrets } from './application/reactions/drop-secrets.js';
import { forgetDeletedUsers } from './application/reactions/forget-deleted-users.js';
import { keepReacting } from './application/reactions/keep-reacting.js';
import { keepRecovering } from './application/reactions/recovery.js';
import type { Closing } from './closing.js';
import type { Position } from './domain/events.js';
import type { ReadModels } from './projections/database.js';
import type { CallsUnderWay } from './relay/call/under-way.js';

/* What a node goes on doing beside what it is asked for: it finishes what others, or crashes, have left. */

/** Between two looks for calls that nobody serves and that have no outcome. */
const recoveryPauseMs = 60_000;

/** Between two rounds of reactions to what has happened. */
const reactionPauseMs = 2_000;

export interface UpkeepPorts {
  readonly store: EventStore;
  readonly pool: pg.Pool;
  readonly db: ReadModels;
  readonly handle: Handle;
  readonly clock: Clock;
  readonly tail: Tail;
  readonly progress: ReadModelProgress;
  readonly vault: Vault;
  readonly personal: PersonalData;
  readonly notes: CallProgressNotes;
  readonly underWay: Pick<CallsUnderWay, 'has' | 'keepNoting'>;
  /** Has `look` told up to where calls have just been left by whoever served them. */
  readonly whenLost: (look: (upTo: Position) => void) => void;
  readonly log: Logger;
  /** The end of the log as this process began. */
  readonly began: Position;
}

/** Resolves once calls that an earlier process left open have been looked for. */
export async function keepUp(ports: UpkeepPorts, closing: Closing): Promise<void> {
  const { store, pool, db, handle, clock, tail, progress, vault, personal, notes, underWay, whenLost, log, began } =
    ports;
  const recovering = await keepRecovering(
    { db, handle, clock, notes, isUnderWay: (callId) => underWay.has(callId) },
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
  closing.add(
    await keepReacting(
      { store, tail, places: postgresReactionPlaces(pool) },
      [dropSecrets({ store, vault }), forgetDeletedUsers({ personal })],
      {
        everyMs: reactionPauseMs,
        failed: (error, reaction) => log.error({ err: error, reaction }, 'a reaction failed; it is tried again'),
      },
    ),
  );
  closing.add(
    underWay.keepNoting(notes, (error) => log.warn({ reason: String(error) }, 'calls under way cannot be noted now')),
  );
}
