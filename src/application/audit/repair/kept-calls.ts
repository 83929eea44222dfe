import type { Position } from '../../../domain/events/events.js';
import type { Instant } from '../../../domain/kernel/instant.js';
import { logArchived } from '../../../domain/ledger/closing.js';
import type { DetachedLog, LogArchive } from '../../ports/archive-ports.js';

/* Calls that have left the log for an archive cannot be corrected: they have to be brought back first. */

export type Archives = Pick<DetachedLog, 'all'>;

type Concerned = (archive: LogArchive) => boolean;

/** Of calls that were settled since then some are in an archive. */
export const settledSince =
  (from: Instant): Concerned =>
  ({ until }) =>
    until > from;

/** Events behind this position are in an archive. */
export const behind =
  (position: Position): Concerned =>
  ({ last }) =>
    last > position;

/** null: all of them are in the log. */
export const archiveOf = async (archives: Archives, isConcerned: Concerned): Promise<LogArchive | null> =>
  (await archives.all()).find(isConcerned) ?? null;

/** Throws Failure `log-archived`, which names the archive. */
export async function checkKept(archives: Archives, isConcerned: Concerned): Promise<void> {
  const archive = await archiveOf(archives, isConcerned);
  if (archive !== null) throw logArchived(archive);
}
