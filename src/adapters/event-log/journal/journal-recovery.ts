import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EventStore } from '../../../application/ports/storage-ports.js';
import { isTransient } from '../../../domain/errors/transient-error.js';
import type { StreamName } from '../../../domain/events/events.js';
import type { PayloadVersions } from '../../../domain/events/upcast.js';
import { Failure } from '../../../domain/kernel/failure.js';
import type { Instant } from '../../../domain/kernel/instant.js';
import type { Log } from '../../log.js';
import { currentPrefix, journalFiles } from './journal.js';
import { appendOf } from './journaled-append.js';
import { DamagedJournal, logOf, readRecords } from './record.js';

/*
 * What processes that did not end in order have left in their journals: it is brought into the log before anybody reads
 * that. A journal is renamed first, so that a process that is still there, perhaps asleep, learns that it must not go on:
 * it answers nothing whose folder has another name by then.
 */

const left = 'left-';
const together = 500;

export interface RecoveryOptions {
  /** Where journals are. */
  readonly directory: string;
  /** See JournalOptions. */
  readonly log: string;
  readonly payloads: Pick<PayloadVersions, 'upcast'>;
  readonly logger: Log;
  /** What happened earlier may be in an archive of the log. Left out: nothing may. */
  readonly archivedBefore?: Instant;
}

type RecoveredStore = Pick<EventStore, 'append' | 'readStream'>;

const foldersIn = async (directory: string): Promise<readonly string[]> =>
  (await readdir(directory).catch(() => [])).sort();

/** null: it belongs to another log. */
async function linesIn(
  { directory, log, logger }: Omit<RecoveryOptions, 'payloads'>,
  name: string,
): Promise<readonly string[] | null> {
  const files: Buffer[] = [];
  for (const file of journalFiles) {
    const content = await readFile(join(directory, name, file)).catch((error: NodeJS.ErrnoException) => {
      // It was never finished, so nothing has been written to it.
      if (error.code === 'ENOENT') return null;
      throw error;
    });
    const belongsTo = content && logOf(content);
    if (content === null || belongsTo === null) continue;
    if (belongsTo !== log) {
      logger.warn({ journal: join(directory, name) }, 'a journal of another database is left where it is');
      return null;
    }
    files.push(content);
  }
  return readRecords(files).flatMap(({ text }) => text.split('\n'));
}

/** And no file of what was set aside. */
const isJournal = (name: string): boolean => name.startsWith(left) || name.startsWith(currentPrefix);

/** Whether there may be anything to recover: after an order to stop there is not. */
export const isAnythingUnflushed = async (directory: string): Promise<boolean> =>
  (await foldersIn(directory)).some(isJournal);

/** How many events are in journals that no process writes; they may be in the log as well. Changes nothing. */
export async function countUnflushed(options: Omit<RecoveryOptions, 'payloads'>): Promise<number> {
  let count = 0;
  for (const name of await foldersIn(options.directory))
    if (isJournal(name)) count += (await linesIn(options, name))?.length ?? 0;
  return count;
}

/**
 * Brings into the log what is left in journals, and removes them. Resolves with how many events that were. To be done by
 * whoever alone may write the log. Throws Failure `store-unavailable` for a journal that cannot be read, whose `reason`
 * says what to do.
 */
export async function recoverJournals(options: RecoveryOptions, store: RecoveredStore): Promise<number> {
  const { directory } = options;
  for (const name of await foldersIn(directory))
    if (name.startsWith(currentPrefix))
      await rename(join(directory, name), join(directory, left + name.slice(currentPrefix.length)));
  let count = 0;
  for (const name of await foldersIn(directory))
    if (name.startsWith(left)) count += await recoverOne(options, store, name);
  return count;
}

async function recoverOne(options: RecoveryOptions, store: RecoveredStore, name: string): Promise<number> {
  const { directory, logger } = options;
  const folder = join(directory, name);
  const lines = await linesIn(options, name).catch((error: unknown) => {
    if (error instanceof DamagedJournal) throw unreadable(folder, error.message);
    throw error;
  });
  if (lines === null) return 0;
  const aside: Readonly<Record<Aside, string[]>> = { refused: [], archived: [] };
  for (let from = 0; from < lines.length; from += together) {
    const group = lines.slice(from, from + together).map((line) => readLine(line, options, folder));
    for (const part of withoutRepeatedStreams(group)) {
      const results = await Promise.all(part.map((left) => recoverAppend(left, options, store, folder)));
      for (const [index, result] of results.entries())
        if (result !== 'written') aside[result].push(part[index]?.line ?? '');
    }
  }
  for (const [reason, events] of Object.entries(aside)) {
    if (events.length === 0) continue;
    const kept = join(directory, `${reason}-${name.slice(left.length)}`);
    await writeFile(kept, `${events.join('\n')}\n`, { mode: 0o600 });
    logger.error({ events: events.length, kept }, whySetAside[reason as Aside]);
  }
  await rm(folder, { recursive: true });
  return lines.length - aside.refused.length - aside.archived.length;
}

/**
 * Why an event stays out of the log. `refused`: its caller was answered that nobody knows what became of the call, and the
 * log has another outcome. `archived`: the log had the call, or the journal was put back long after.
 */
type Aside = 'refused' | 'archived';

const whySetAside: Readonly<Record<Aside, string>> = {
  refused: 'events of a journal do not fit into the log and are set aside',
  archived: 'events of a journal are older than what has left the log for archives and are set aside',
};

interface LeftAppend {
  readonly line: string;
  readonly append: ReturnType<typeof appendOf>;
}

function readLine(line: string, { payloads }: RecoveryOptions, folder: string): LeftAppend {
  try {
    return { line, append: appendOf(line, payloads) };
  } catch (error) {
    throw unreadable(folder, error instanceof Error ? error.message : String(error));
  }
}

/**
 * The same in their order, cut before each append to a stream that the part has already. Of appends that are asked for
 * together, the log takes one of each stream first: a call that has spent what another gave back would come before that.
 */
function withoutRepeatedStreams(appends: readonly LeftAppend[]): readonly (readonly LeftAppend[])[] {
  const parts: LeftAppend[][] = [];
  const streams = new Set<StreamName>();
  for (const left of appends) {
    const part = parts.at(-1);
    if (part === undefined || streams.has(left.append.stream)) {
      streams.clear();
      parts.push([left]);
    } else part.push(left);
    streams.add(left.append.stream);
  }
  return parts;
}

async function recoverAppend(
  { append: { stream, expected, event } }: LeftAppend,
  { archivedBefore }: RecoveryOptions,
  store: RecoveredStore,
  folder: string,
): Promise<'written' | Aside> {
  try {
    const mayBeArchived = archivedBefore !== undefined && event.at < archivedBefore;
    if (mayBeArchived && (await isArchived(store, stream))) return 'archived';
    return (await store.append(stream, [event], expected)).ok ? 'written' : 'refused';
  } catch (error) {
    if (isTransient(error)) throw error;
    throw unreadable(folder, error instanceof Error ? error.message : String(error));
  }
}

/** The log had it and has it no more: appended again, the call would be charged twice. */
async function isArchived(store: RecoveredStore, stream: StreamName): Promise<boolean> {
  try {
    await store.readStream(stream);
    return false;
  } catch (error) {
    if (error instanceof Failure && error.code === 'log-archived') return true;
    throw error;
  }
}

const unreadable = (folder: string, cause: string): Failure =>
  new Failure('store-unavailable', {
    reason: `The journal in ${folder} cannot be read: ${cause}. It holds what calls have cost and may not be in the log yet. Start the release that wrote it, or restore the folder; moved elsewhere, it is passed over and what is in it is not charged.`,
  });
