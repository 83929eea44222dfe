import { postgresEventLines } from '../adapters/seals/event-lines.js';
import { postgresSealKeyStore } from '../adapters/seals/seal-key-store.js';
import { postgresSealStore } from '../adapters/seals/seal-store.js';
import { SealsReplaced, type SeenSeal } from '../application/seals/seal-witness.js';
import { sealNewEvents } from '../application/seals/sealer.js';
import { atIntervals } from '../concurrency/at-intervals.js';
import type { NodeStart } from './node-start.js';
import type { NodeDatabase } from './open-node-database.js';
import type { NodeVault } from './open-vault.js';

/** Between two looks for events that are not sealed yet. */
const sealsPauseMs = 10_000;

interface SealJobs {
  readonly pool: NodeDatabase['pool'];
  readonly vault: NodeVault['vault'];
}

/** Seals what has come into the log, and what came while nobody did. */
export function startSealing({ clock, log, closing }: NodeStart, { pool, vault }: SealJobs): void {
  const ports = {
    ...{ vault, clock },
    lines: postgresEventLines(pool),
    seals: postgresSealStore(pool),
    keys: postgresSealKeyStore(pool),
  };
  const seen: SeenSeal = { newest: null };
  const stopping = new AbortController();
  const stop = atIntervals(sealsPauseMs, async () => {
    await sealNewEvents(ports, { signal: stopping.signal, seen }).catch((error: unknown) => {
      if (error instanceof SealsReplaced)
        log.error({ reason: error.message }, 'somebody has changed the seals of the log: nothing more is sealed');
      else log.warn({ reason: String(error) }, 'the log cannot be sealed now; it is tried again');
    });
  });
  closing.add(() => {
    stopping.abort();
    return stop();
  });
}
