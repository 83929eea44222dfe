import { callDecider } from '../domain/call.js';
import { beginning, streams } from '../domain/events.js';
import { Instant } from '../domain/instant.js';
import type { ReadModels } from '../projections/database.js';
import { openCalls } from '../projections/ledger-queries.js';
import type { Handle } from './handle.js';
import type { Clock, ReadModelProgress } from './ports.js';

export interface RecoveryPorts {
  readonly db: ReadModels;
  readonly progress: ReadModelProgress;
  readonly handle: Handle;
  readonly clock: Clock;
}

const pageSize = 1000;
const parallel = 100;

/**
 * Gives back what a node that died had reserved: every reservation without an outcome is released, once, and its
 * unknown upstream cost booked to suspense. Safe to repeat. To be called when no node that could still settle these
 * calls is alive, after the ledger has caught up. Resolves with the number of calls released.
 */
export async function releaseOrphanedCalls({ db, progress, handle, clock }: RecoveryPorts): Promise<number> {
  const until = Instant(clock.now() + 1);
  let released = 0;
  for (;;) {
    const orphans = await openCalls(db, { olderThan: until, limit: pageSize });
    if (orphans.length === 0) return released;
    let newest = beginning;
    for (let from = 0; from < orphans.length; from += parallel) {
      const handled = await Promise.all(
        orphans.slice(from, from + parallel).map(({ callId, reservation, since }) =>
          handle(callDecider, streams.call(callId), {
            type: 'Release',
            event: {
              type: 'CallReleased',
              facts: reservation.facts,
              reserved: reservation.reserved,
              reason: 'recovered',
              status: null,
              code: null,
              attempts: [],
              useTimeMs: Math.max(0, clock.now() - since),
              suspense: reservation.reserved,
            },
          }),
        ),
      );
      for (const { events, position } of handled) {
        released += events.length;
        if (position > newest) newest = position;
      }
    }
    if (!(await progress.reached(newest, 30_000)))
      throw new Error('the ledger does not follow the log: recovery stopped');
  }
}
