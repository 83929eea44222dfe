import type { Position } from '../../domain/events/events.js';
import type { Instant } from '../../domain/kernel/instant.js';

/* What archives of the log need: a file that is written once and read in order, and the log as a table that has gaps. */

/** A stretch of the log in a file. */
export interface LogArchive {
  readonly period: string;
  /** It holds what lies behind this position … */
  readonly after: Position;
  /** … up to this one. */
  readonly last: Position;
  /** When the period was over. */
  readonly until: Instant;
  readonly events: number;
  /** Where the file is. */
  readonly file: string;
  /** SHA-256 of the file, in hex. */
  readonly digest: string;
}

export interface ArchiveFiles {
  /** Writes a compressed file that nobody else may read, and returns once the disk has it. It must not be there yet. */
  write(path: string, pages: AsyncIterable<readonly string[]>): Promise<void>;
  /** Its lines, decompressed, in order. Throws where it is not there or is no such file. */
  lines(path: string): AsyncIterable<readonly string[]>;
  /** SHA-256 of its bytes; null: there is no such file. */
  digest(path: string): Promise<string | null>;
  /** The same file by its whole name. */
  resolved(path: string): string;
}

/** What is in archives only, and how it leaves the log and comes back. */
export interface DetachedLog {
  /** Oldest first. */
  all(): Promise<readonly LogArchive[]>;
  /** From now on whoever reads this stretch in order reads the file. Once it is so, again is no fault. */
  detach(archive: LogArchive): Promise<void>;
  /** Takes some of its calls out of the log: how many events; null: all that are to go have gone. */
  takeAway(period: string): Promise<number | null>;
  /** Writes lines of events that are not there. */
  putBack(lines: readonly string[]): Promise<void>;
  /** A price repair, or the undo of one, has been ordered and has not ended: it is about to write to calls. */
  isRepairing(): Promise<boolean>;
  /** The stretch is in the log again, if so many events of it are there. How many are. */
  attach(period: string, events: number): Promise<number>;
}
