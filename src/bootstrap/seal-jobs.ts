import { appendHead } from '../adapters/seals/head-file.js';
import { sealReading } from '../adapters/seals/seal-reading.js';
import type { NodeDirectory } from '../application/memory/directory.js';
import type { Notify } from '../application/notifications/notifier.js';
import { SealsReplaced, type SeenSeal } from '../application/seals/seal-witness.js';
import { sealNewEvents } from '../application/seals/sealer.js';
import { sealHeadSender } from '../application/seals/send-seal-heads.js';
import { atIntervals } from '../concurrency/at-intervals.js';
import type { UserId } from '../domain/kernel/ids.js';
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
    ...sealReading(pool),
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

/** Between two looks whether the head of the seals is due. */
const headPauseMs = 30_000;

interface SealHeadJobs {
  readonly pool: NodeDatabase['pool'];
  readonly directory: Pick<NodeDirectory, 'settings'>;
  readonly notify: Notify;
  readonly root: () => Promise<UserId | null>;
}

/** Sends the head of the seals to where the options say. */
export function startSealHeads({ config, clock, log, closing }: NodeStart, jobs: SealHeadJobs): void {
  const { pool, directory, notify, root } = jobs;
  const path = config.sealHeadFile;
  const send = sealHeadSender({
    ...{ clock, notify, root, log },
    seals: sealReading(pool).seals,
    settings: () => directory.settings(),
    append: path === null ? null : (line) => appendHead(path, line),
  });
  closing.add(
    atIntervals(headPauseMs, () =>
      send().catch((error: unknown) => {
        log.warn({ reason: String(error) }, 'the head of the seals cannot be sent now; it is tried again');
      }),
    ),
  );
}
