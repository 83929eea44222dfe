import { crc32 } from 'node:zlib';

/*
 * How the journal's files are written and read: a head that names the log they belong to, then records one after the
 * other. Each record has the next number; what is left behind the last one is of an earlier use of the file.
 */

const formatLine = 'tallygate journal 1';
export const headBytes = 512;
const magic = 0x4a_47_41_54;
/** magic, length of the text, number, first number still needed (two words each), and a checksum of all but magic. */
const recordHeadBytes = 28;
const twoTo32 = 2 ** 32;

/** A file of this log, without records. `log`: what distinguishes one log from another; a short plain text. */
export function headOf(log: string): Buffer {
  const head = Buffer.alloc(headBytes, 0x20);
  head.write(`${formatLine}\n${log}\n`);
  return head;
}

/** null: this is no file of a journal, or one of a release with another format. */
export function logOf(file: Buffer): string | null {
  const [line, log] = file.toString('utf8', 0, headBytes).split('\n');
  return line === formatLine && log !== undefined ? log : null;
}

function writeNumber(target: Buffer, value: number, offset: number): void {
  target.writeUInt32LE(value % twoTo32, offset);
  target.writeUInt32LE(Math.floor(value / twoTo32), offset + 4);
}

const readNumber = (source: Buffer, offset: number): number =>
  source.readUInt32LE(offset) + source.readUInt32LE(offset + 4) * twoTo32;

/**
 * Writes one record and returns how many bytes it took; null: there is no room for it in `target`. `needed`: the first
 * number that is not forgotten.
 */
export function writeRecord(target: Buffer, number: number, needed: number, text: string): number | null {
  // A character takes three bytes at most.
  if (recordHeadBytes + text.length * 3 > target.length && recordHeadBytes + Buffer.byteLength(text) > target.length)
    return null;
  const length = target.write(text, recordHeadBytes);
  target.writeUInt32LE(magic, 0);
  target.writeUInt32LE(length, 4);
  writeNumber(target, number, 8);
  writeNumber(target, needed, 16);
  target.writeUInt32LE(checksumOf(target, length), 24);
  return recordHeadBytes + length;
}

const checksumOf = (record: Buffer, length: number): number =>
  crc32(record.subarray(recordHeadBytes, recordHeadBytes + length), crc32(record.subarray(4, 24)));

interface JournalRecord {
  readonly number: number;
  readonly text: string;
}

interface Found extends JournalRecord {
  readonly needed: number;
  readonly bytes: number;
}

/** The whole record that begins there; null: none does. */
function recordAt(file: Buffer, offset: number): Found | null {
  if (offset + recordHeadBytes > file.length || file.readUInt32LE(offset) !== magic) return null;
  const length = file.readUInt32LE(offset + 4);
  const bytes = recordHeadBytes + length;
  if (offset + bytes > file.length) return null;
  const record = file.subarray(offset, offset + bytes);
  if (record.readUInt32LE(24) !== checksumOf(record, length)) return null;
  const text = record.toString('utf8', recordHeadBytes);
  return { number: readNumber(record, 8), needed: readNumber(record, 16), text, bytes };
}

const magicBytes = Buffer.alloc(4);
magicBytes.writeUInt32LE(magic);

/** The greatest number of a whole record anywhere behind `offset`; null: there is none. */
function newestBehind(file: Buffer, offset: number): number | null {
  let newest: number | null = null;
  for (let at = file.indexOf(magicBytes, offset); at >= 0; at = file.indexOf(magicBytes, at + 1)) {
    const record = recordAt(file, at);
    if (record !== null && record.number > (newest ?? -1)) newest = record.number;
  }
  return newest;
}

/** Some of what was written cannot be read any more. */
export class DamagedJournal extends Error {}

/**
 * The records of a journal's files that are still needed, oldest first. One that was never finished is left out, which
 * can only be the newest. Throws DamagedJournal when others are missing.
 */
export function readRecords(files: readonly Buffer[]): readonly JournalRecord[] {
  const runs: { readonly records: readonly Found[]; readonly behind: number | null }[] = [];
  for (const file of files) {
    const records: Found[] = [];
    let offset = headBytes;
    for (;;) {
      const record = recordAt(file, offset);
      const last = records.at(-1);
      if (record === null || (last !== undefined && record.number !== last.number + 1)) break;
      records.push(record);
      offset += record.bytes;
    }
    runs.push({ records, behind: newestBehind(file, offset) });
  }
  const whole = runs
    .flatMap(({ records }) => (records.length === 0 ? [] : [records]))
    .sort(([left], [right]) => (left?.number ?? 0) - (right?.number ?? 0))
    .flat();
  const last = whole.at(-1)?.number ?? -1;
  const broken = whole.some(({ number }, index) => number !== (whole[0]?.number ?? 0) + index);
  if (broken || runs.some(({ behind }) => behind !== null && behind > last))
    throw new DamagedJournal(`records of the journal are missing before or among those up to ${last}`);
  const needed = whole.at(-1)?.needed ?? 0;
  return whole.filter(({ number }) => number >= needed);
}
