import { systemClock } from '../../adapters/clock.js';
import { sealReading } from '../../adapters/seals/seal-reading.js';
import { closePeriod } from '../../application/books/close-period.js';
import { sealNewEvents } from '../../application/seals/sealer.js';
import { Failure } from '../../domain/kernel/failure.js';
import type { Instant } from '../../domain/kernel/instant.js';
import { Period } from '../../domain/ledger/period.js';
import { type CommandContext, optionsIn, UsageError } from '../command.js';
import { type CommandDatabase, withDatabase } from '../database.js';
import { closingJson, closingLine } from './closing-text.js';
import { progressOn } from './progress.js';

/** `audit close [--period 2026-10] [--json]`: closes the books of a period, or says how they were closed. */
export async function auditClose({ config, log, args }: CommandContext): Promise<void> {
  const given = optionsIn(args, { period: { type: 'string' }, json: { type: 'boolean' } });
  const period = periodGiven(given.period) ?? monthBefore(systemClock.now());
  await withDatabase(config, log, async (database) => {
    checkFlushed(database);
    const ports = closePortsOf(database);
    // Also where no gateway runs that would.
    await sealNewEvents({ ...sealReading(database.pool), ...ports, vault: database.vault });
    const closed = await asUsage(() => closePeriod(ports, period, { progress: progressOn(process.stderr) }));
    console.log(given.json ? closingJson(closed) : closingLine(closed));
  });
}

/** The month before the one that this is in. */
function monthBefore(at: Instant): Period {
  const now = new Date(at);
  const before = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1));
  return Period(before.toISOString().slice(0, 7));
}

/** null: none was given. Throws UsageError. */
export function periodGiven(text: string | undefined): Period | null {
  try {
    return text === undefined ? null : Period(text);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw new UsageError(`--period ${text}: give ${error.details.allowed}.`);
  }
}

export const closePortsOf = ({ pool, store, handle }: CommandDatabase) => ({
  ...{ store, handle, clock: systemClock },
  seals: sealReading(pool).seals,
});

/** What a journal holds must be in the log before anything is closed or leaves. Throws UsageError. */
export function checkFlushed({ unflushed }: Pick<CommandDatabase, 'unflushed'>): void {
  if (unflushed > 0)
    throw new UsageError(
      `A gateway that ended badly has left ${unflushed} events in its journal. Start it once first.`,
    );
}

/** What is not ready is for whoever asks. */
export async function asUsage<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'period-not-ready') throw error;
    throw new UsageError(`${error.details.reason}.`);
  }
}
