import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import pg from 'pg';
import type { LogArchive } from '../../application/ports/archive-ports.js';
import type { Position, StreamName } from '../../domain/events/events.js';
import { Failure } from '../../domain/kernel/failure.js';
import { logArchived } from '../../domain/ledger/closing.js';
import { digestOfFile, linesOfFile } from './archive-files.js';
import { linePosition } from './stored-line.js';

/*
 * Events that are in archives only, as lines, for whoever reads the log in order. A file is read from its start, so who
 * goes on where they were finds their place again.
 */

/** Readings of files that are kept open. */
const maxReadings = 8;
const pageLength = 4 * 1024 * 1024;

/** What is behind this position has left the log. */
export const isInArchive = (error: unknown): boolean => error instanceof pg.DatabaseError && error.code === 'TG002';

interface Reading {
  readonly file: string;
  after: number;
  readonly pieces: AsyncGenerator<readonly string[], void, undefined>;
  /** Of the piece that came last, what has not been taken. */
  rest: readonly string[];
}

export class ArchivedLines {
  private readonly readings: Reading[] = [];
  /** Files that are what was archived, as they were when they were looked at. */
  private readonly sound = new Map<string, string>();

  constructor(private readonly pool: Pick<pg.Pool, 'query'>) {}

  /**
   * Behind a position that is in an archive, up to the end of that archive; null: it is in none. Throws Failure
   * `archive-missing` where the file is not there, or is another one.
   */
  async after(after: Position, limit: number): Promise<readonly string[] | null> {
    const { rows } = await this.pool.query<LogArchive>(
      `SELECT period, last_position AS last, file, digest FROM log_archives
       WHERE last_position > $1 ORDER BY last_position LIMIT 1`,
      [after],
    );
    const [archive] = rows;
    if (archive === undefined) return null;
    await this.checkFile(archive);
    const reading = this.readingBehind(archive.file, Number(after));
    const page: string[] = [];
    try {
      for (let length = 0; page.length < limit && length < pageLength; ) {
        const line = await nextLine(reading);
        if (line === null || (line.startsWith('[') && linePosition(line) > Number(archive.last))) break;
        if (!line.startsWith('[') || linePosition(line) <= Number(after)) continue;
        page.push(line);
        length += line.length;
      }
    } catch (error) {
      await reading.pieces.return();
      throw error;
    }
    const last = page.at(-1);
    if (last === undefined) throw new Error(`the archive ${archive.file} ends before position ${archive.last}`);
    if (linePosition(last) < Number(archive.last)) this.keep({ ...reading, after: linePosition(last) });
    else await reading.pieces.return();
    return page;
  }

  /** Throws Failure `log-archived` where a call of this name may be in an archive. */
  async checkCall(stream: StreamName): Promise<void> {
    const time = /^call-(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})/.exec(stream)?.slice(1).map(Number);
    if (time === undefined) return;
    const [year = 0, month = 0, day, hour, minute, second] = time;
    const { rows } = await this.pool.query<Pick<LogArchive, 'period' | 'file'>>(
      'SELECT period, file FROM log_archives WHERE until > $1 ORDER BY last_position LIMIT 1',
      [Date.UTC(year, month - 1, day, hour, minute, second)],
    );
    const [archive] = rows;
    if (archive === undefined) return;
    throw logArchived(archive);
  }

  /** The one that is there already, or one from the start. */
  private readingBehind(file: string, after: number): Reading {
    const index = this.readings.findIndex((known) => known.file === file && known.after === after);
    const [known] = index < 0 ? [] : this.readings.splice(index, 1);
    return known ?? { file, after, pieces: linesOfFile(file), rest: [] };
  }

  private keep(reading: Reading): void {
    this.readings.push(reading);
    if (this.readings.length > maxReadings) void this.readings.shift()?.pieces.return();
  }

  async close(): Promise<void> {
    for (const { pieces } of this.readings.splice(0)) await pieces.return();
  }

  private async checkFile({ period, file, digest }: LogArchive): Promise<void> {
    const refused = (reason: string) => new Failure('archive-missing', { period, file: basename(file), reason });
    const facts = await stat(file).catch(() => null);
    if (facts === null) throw refused(`the archive ${basename(file)} is not where it was`);
    const seen = `${facts.ino} ${facts.size} ${facts.mtimeMs}`;
    if (this.sound.get(file) === seen) return;
    const found = await digestOfFile(file).catch((error: NodeJS.ErrnoException) => {
      throw refused(`the archive ${basename(file)} cannot be read: ${error.code ?? 'unknown'}`);
    });
    if (found !== digest) throw refused(`the archive ${basename(file)} is not the one that was written`);
    this.sound.set(file, seen);
  }
}

async function nextLine(reading: Reading): Promise<string | null> {
  while (reading.rest.length === 0) {
    const { value, done } = await reading.pieces.next();
    if (done === true) return null;
    reading.rest = [...value].reverse();
  }
  const rest = reading.rest as string[];
  return rest.pop() ?? null;
}
