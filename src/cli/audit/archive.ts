import { archiveFiles } from '../../adapters/archives/archive-files.js';
import { postgresDetachedLog } from '../../adapters/archives/detached-log.js';
import { systemClock } from '../../adapters/clock.js';
import { sealReading } from '../../adapters/seals/seal-reading.js';
import {
  ArchiveDamaged,
  type ArchivePorts,
  archivePeriod,
  detachPeriod,
  restorePeriod,
} from '../../application/books/archive-period.js';
import { type CommandContext, optionsIn, UsageError } from '../command.js';
import { type CommandDatabase, withDatabase } from '../database.js';
import { unlessUnwritable } from '../new-file.js';
import { asUsage, checkFlushed, periodGiven } from './close.js';
import { progressOn } from './progress.js';

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;

/**
 * `audit archive --period 2026-10 --out FILE [--detach] [--json]`: the log of a closed period as a file, compressed, with
 * its seals; with `--detach` its calls then leave the log.
 */
export async function auditArchive({ config, log, args }: CommandContext): Promise<void> {
  const given = optionsIn(args, { period: text, out: text, detach: flag, json: flag });
  const period = periodGiven(given.period);
  const { out } = given;
  if (period === null) throw new UsageError('--period: give a closed period, as in 2026-10.');
  if (out === undefined || !out.endsWith('.gz')) throw new UsageError('--out: give a file whose name ends in .gz.');
  await withDatabase(config, log, async (database) => {
    checkFlushed(database);
    const ports = archivePortsOf(database);
    const archived = await unlessDamaged(() =>
      archivePeriod(ports, period, out).catch((error) => unlessUnwritable('out', out)(error)),
    );
    const taken = given.detach
      ? await unlessDamaged(() => detachPeriod(ports, archived, out, { progress: progressOn(process.stderr) }))
      : null;
    // What has gone is room for what comes.
    if (taken !== null) await database.pool.query('VACUUM (ANALYZE) events');
    const { events, digest } = archived;
    if (given.json) console.log(JSON.stringify({ period, file: out, events, digest, taken }));
    else {
      console.log(`${period} is archived in ${out}: ${events} events, SHA-256 ${digest}.`);
      if (taken !== null)
        console.log(`${taken} events have left the log. Keep the file where it is: it is read when they are needed.`);
    }
  });
}

/** `audit restore --file FILE`: what an archive holds is in the log again. */
export async function auditRestore({ config, log, args }: CommandContext): Promise<void> {
  const { file } = optionsIn(args, { file: text });
  if (file === undefined) throw new UsageError('--file: give the archive.');
  await withDatabase(config, log, async (database) => {
    const progress = progressOn(process.stderr);
    const period = await unlessDamaged(() => restorePeriod(archivePortsOf(database), file, { progress }));
    console.log(`The log has the events of ${period} again.`);
  });
}

export const archivePortsOf = ({ pool, store, handle, vault }: CommandDatabase): ArchivePorts => ({
  ...{ store, handle, vault, clock: systemClock, files: archiveFiles },
  ...sealReading(pool),
  detached: postgresDetachedLog(pool),
});

/** A file that is not the right one is for whoever gave it. */
const unlessDamaged = <Result>(work: () => Promise<Result>): Promise<Result> =>
  asUsage(work).catch((error: unknown) => {
    throw error instanceof ArchiveDamaged ? new UsageError(`${error.message}.`) : error;
  });
