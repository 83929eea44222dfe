import { beginning, latestOf, streams } from '../../domain/events/events.js';
import {
  archivedAs,
  type BooksState,
  booksDecider,
  closedAs,
  notReady,
  type PeriodArchived,
  type PeriodClosed,
} from '../../domain/ledger/closing.js';
import type { Period } from '../../domain/ledger/period.js';
import type { Handle } from '../handle.js';
import type { ArchiveFiles, DetachedLog, LogArchive } from '../ports/archive-ports.js';
import type { EventLines, Seal, SealKeyStore, SealStore } from '../ports/seal-ports.js';
import type { Clock, EventStore, Vault } from '../ports/storage-ports.js';
import { positionOf, sealDigest } from '../seals/seal.js';
import { beforeFirstSeal, SealWalk } from '../seals/seal-walk.js';
import { sealedExport } from '../seals/sealed-export.js';
import { trustedKeys } from '../seals/trusted-keys.js';
import { booksOf } from './close-period.js';

/*
 * The log of a closed period as a file, and without it. Nothing leaves the log before the file has been read back and found
 * to be what was sealed; what leaves comes back from the file, checked in the same way.
 */

export interface ArchivePorts {
  readonly store: Pick<EventStore, 'streamPages'>;
  readonly handle: Handle;
  readonly lines: EventLines;
  readonly seals: Pick<SealStore, 'after' | 'newest' | 'numbered' | 'covering'>;
  readonly keys: Pick<SealKeyStore, 'all'>;
  readonly vault: Pick<Vault, 'get'>;
  readonly clock: Clock;
  readonly files: ArchiveFiles;
  readonly detached: DetachedLog;
}

/** The seals whose events are in it: all of the period, but for those of a seal that goes on into the next one. */
interface Stretch {
  /** The seal before it; null: it begins with the first. */
  readonly before: Seal | null;
  readonly last: Seal;
}

/** Archives the period, or says how it was archived. Throws Failure `period-not-ready`, and ArchiveDamaged. */
export async function archivePeriod(ports: ArchivePorts, period: Period, path: string): Promise<PeriodArchived> {
  const { store, files, handle } = ports;
  const books = await booksOf(store);
  const closing = closedAs(books, period);
  if (closing === null) throw notReady(`the books of ${period} are not closed`);
  const file = files.resolved(path);
  const known = archivedAs(books, period);
  const there = await files.digest(file);
  if (known !== null && known.digest === there) return known;
  const gone = (await ports.detached.all()).find((archive) => archive.period === period);
  if (gone !== undefined) throw notReady(`${period} is archived in ${gone.file}, and its calls have left the log`);
  const stretch = await stretchOf(ports, books, closing);
  // One that is there already may be of a run that was interrupted: it counts if it is what would be written.
  if (there === null) await files.write(file, sealedExport({ ...ports, stretch }));
  const events = await checkFile(ports, file, stretch);
  const digest = await files.digest(file);
  if (digest === null) throw new ArchiveDamaged(`${file} has gone`);
  await handle(booksDecider, streams.books, {
    ...{ type: 'ArchivePeriod', period, digest, events },
    ...{ after: stretch.before?.last ?? beginning, last: stretch.last.last },
    seals: { first: (stretch.before?.number ?? -1) + 1, last: stretch.last.number },
  });
  const archived = archivedAs(await booksOf(store), period);
  if (archived === null) throw new Error(`${period} was archived, and the log does not say so`);
  return archived;
}

/** The file is not the archive, or what is in it is not what was sealed. */
export class ArchiveDamaged extends Error {}

async function stretchOf({ seals }: ArchivePorts, books: BooksState, closing: PeriodClosed): Promise<Stretch> {
  const earlier = books.closed.slice(0, books.closed.indexOf(closing));
  // What ends where another one does has nothing of its own.
  const from = latestOf(earlier.map(({ sealedTo }) => sealedTo));
  const reached = latestOf(
    earlier.filter(({ period }) => archivedAs(books, period) !== null).map(({ sealedTo }) => sealedTo),
  );
  const open = earlier.find(({ sealedTo }) => sealedTo > reached);
  if (open !== undefined) throw notReady(`${open.period} is to be archived first`);
  if (closing.sealedTo <= from) throw notReady(`no seal lies within ${closing.period}`);
  const last = await seals.covering(closing.sealedTo);
  if (last === null || last.last !== closing.sealedTo) throw notReady('the seals are not those of the closing');
  const covering = from === beginning ? null : await seals.covering(from);
  if (from !== beginning && covering?.last !== from) throw notReady('the seals are not those of the closing before');
  return { before: covering, last };
}

/**
 * Reads the file to its end: how many events are in it. Its lines are held against the seals that the database has, so
 * whatever was changed, left out or added is found.
 */
async function checkFile(
  { seals, keys, files }: ArchivePorts,
  file: string,
  { before, last }: Stretch,
): Promise<number> {
  const findings: string[] = [];
  const { trusted } = trustedKeys(await keys.all(), null);
  const walk = await SealWalk.begin({
    keys: trusted,
    seals: { after: (number, limit) => seals.after(number, limit), newest: () => Promise.resolve(last) },
    from:
      before === null
        ? beforeFirstSeal
        : { number: before.number, digest: sealDigest(before), keyNumber: trusted.get(before.keyId)?.number ?? 0 },
    found: ({ code, reason }) => {
      if (findings.length < 3) findings.push(`${code}: ${reason}`);
    },
  });
  let events = 0;
  let position = Number(before?.last ?? beginning);
  try {
    for await (const lines of files.lines(file)) {
      const those = lines.filter((line) => line.startsWith('['));
      for (const line of those) {
        if (positionOf(line) <= position) throw new ArchiveDamaged('its events are not in order');
        position = positionOf(line);
      }
      events += those.length;
      await walk.take(those);
    }
  } catch (error) {
    throw new ArchiveDamaged(`${file} is not what was archived: ${error instanceof Error ? error.message : error}`);
  }
  await walk.end();
  if (position !== Number(last.last)) findings.push(`it ends at position ${position}, and not at ${last.last}`);
  if (findings.length > 0) throw new ArchiveDamaged(`${file} is not what was archived: ${findings.join('; ')}`);
  return events;
}

interface DetachOptions {
  readonly progress?: ((events: number) => void) | undefined;
}

/**
 * Takes the calls of an archived period out of the log, a step at a time; whoever does it again goes on. The file must be
 * where `path` says, as it is read from then on. How many events have gone now.
 */
export async function detachPeriod(
  ports: ArchivePorts,
  archived: PeriodArchived,
  path: string,
  { progress }: DetachOptions = {},
): Promise<number> {
  const { files, detached, store } = ports;
  const books = await booksOf(store);
  const closing = closedAs(books, archived.period);
  if (closing === null) throw new Error(`${archived.period} is archived, and not closed`);
  const file = files.resolved(path);
  if ((await files.digest(file)) !== archived.digest)
    throw new ArchiveDamaged(`${file} is not the archive of ${archived.period}, or is not there`);
  await checkFile(ports, file, await stretchIn(ports, archived));
  const gone = new Set((await detached.all()).map(({ period }) => period));
  const open = books.archived.find(({ period, last }) => last <= archived.after && !gone.has(period));
  if (open !== undefined) throw notReady(`${open.period} is to be detached first`);
  if (!gone.has(archived.period)) await checkAtRest(detached);
  await detached.detach({ ...archiveOf(archived, closing), file });
  // Whoever orders a repair from here on is refused; whoever has done so before is seen here.
  if (!gone.has(archived.period))
    await checkAtRest(detached).catch(async (error: unknown) => {
      await detached.attach(archived.period, archived.events);
      throw error;
    });
  let events = 0;
  for (
    let some = await detached.takeAway(archived.period);
    some !== null;
    some = await detached.takeAway(archived.period)
  ) {
    events += some;
    progress?.(events);
  }
  return events;
}

/** A correction must not come to a call that is just leaving. Throws `period-not-ready`. */
async function checkAtRest(detached: Pick<DetachedLog, 'isRepairing'>): Promise<void> {
  if (await detached.isRepairing())
    throw notReady('a price repair has not ended: a gateway posts it while it serves, and then try again');
}

const archiveOf = (archived: PeriodArchived, closing: PeriodClosed): Omit<LogArchive, 'file'> => {
  const { period, after, last, events, digest } = archived;
  return { period, after, last, until: closing.until, events, digest };
};

/** The seals of an archive, as the database has them. */
async function stretchIn({ seals }: ArchivePorts, archived: PeriodArchived): Promise<Stretch> {
  const { first, last } = archived.seals;
  const [before, end] = await Promise.all([first === 0 ? null : seals.numbered(first - 1), seals.numbered(last)]);
  if (end === null || end.last !== archived.last || (first > 0 && before?.last !== archived.after))
    throw new ArchiveDamaged(`the seals of the database are not those of the archive of ${archived.period}`);
  return { before, last: end };
}

/** Lines that are written back in one statement. */
const linesAtOnce = 1_000;

/**
 * Writes what an archive holds back into the log, once the file has been found to be what was archived; whoever does it
 * again goes on. Which period it was.
 */
export async function restorePeriod(
  ports: ArchivePorts,
  path: string,
  { progress }: DetachOptions = {},
): Promise<Period> {
  const { files, detached, store } = ports;
  const file = files.resolved(path);
  const digest = await files.digest(file);
  if (digest === null) throw new ArchiveDamaged(`${file} is not there`);
  const archived = (await booksOf(store)).archived.find((known) => known.digest === digest);
  if (archived === undefined) throw new ArchiveDamaged(`${file} is no archive of this log, or was changed`);
  const gone = await detached.all();
  if (!gone.some(({ period }) => period === archived.period)) return archived.period;
  const newest = gone.at(-1);
  if (newest !== undefined && newest.period !== archived.period)
    throw notReady(`${newest.period} is to be read back first: what is in archives is the beginning of the log`);
  await checkFile(ports, file, await stretchIn(ports, archived));
  let events = 0;
  for await (const lines of files.lines(file)) {
    const those = lines.filter((line) => line.startsWith('['));
    for (let from = 0; from < those.length; from += linesAtOnce)
      await detached.putBack(those.slice(from, from + linesAtOnce));
    events += those.length;
    progress?.(events);
  }
  const there = await detached.attach(archived.period, archived.events);
  if (there !== archived.events)
    throw new ArchiveDamaged(`the log has ${there} events of ${archived.period}, and its archive ${archived.events}`);
  return archived.period;
}
